"""The words of case files for the product's own codes; what counts is that classes can be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CASE_WORDS: Final[Mapping[str, str]] = {
    "INVALID_PARAMETER": "invalid_arguments",
    "SUCCESS_RULE_FAILED": "business_error",
    "UPSTREAM_UNAVAILABLE": "http_5xx",
    "UPSTREAM_REFUSED": "http_4xx",
    "RESPONSE_MALFORMED": "unexpected_content_type",
    "TOOL_TIMEOUT": "timeout",
}
"""Codes of the product whose word in case files is another one than the code in lower case; one word per code."""

_PRODUCT_WORDS: Final = {code.lower(): word for code, word in CASE_WORDS.items()}


def case_word(code: str) -> str:
    """Return the word of case files for a code; a word that is one already stays as it is.

    >>> [case_word(code) for code in ("UNKNOWN_TOOL", "TOOL_TIMEOUT", "timeout")]
    ['unknown_tool', 'timeout', 'timeout']
    """
    word = code.lower()
    return _PRODUCT_WORDS.get(word, word)
