"""Every value of a text that can be checked, in the order of the text, none inside another."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from taoloop.observation.grounding.known_names import known_names
from taoloop.observation.grounding.model import Mention, Node, Taken
from taoloop.observation.grounding.reading import Reading, half_width
from taoloop.observation.grounding.texts.calendars import read_dates
from taoloop.observation.grounding.texts.codes import read_codes, read_phones, read_tokens
from taoloop.observation.grounding.texts.names import read_names, read_quotes
from taoloop.observation.grounding.texts.numbers import read_numbers, read_rare_numerals
from taoloop.observation.grounding.texts.word_numbers import WORDS
from taoloop.plan.answering import ClaimKind
from taoloop.values.chinese_numerals import CHARACTERS

_LIST_NUMBER: Final = re.compile(
    r"^[ \t]*(?:[-*•>][ \t]+)?(?:\*\*|__)?"
    r"(?:\(?[0-9]{1,3}[.)、](?=[ \t]|[^0-9\s])|[①-⑳]|(?:步骤|第|Step |step )[0-9]{1,3}(?:步|[:：.]))",
    re.MULTILINE,
)
"""The number of a list's item, which is no statement."""

_IDIOMS: Final = re.compile(r"(?<![0-9])(?:24/7|24 ?[x×*] ?7|7 ?[x×*] ?24(?: ?小时)?|50/50)(?![0-9])")
"""Figures of speech."""

_HAS_VALUE: Final = re.compile(f"[0-9@{CHARACTERS}]|://|www", re.IGNORECASE)
"""What every value has but a name and a number in English words: most texts of most evidence have none of it."""


def extract(text: str, reading: Reading, names: Mapping[str, Node] = MappingProxyType({})) -> list[Mention]:
    """Return the values of a text; places are code points of the text as it is given.

    Every kind of value takes its places before the next one looks, the surest first: addresses, what stands in
    marks, dates, phone numbers, codes, numbers, names.

    Args:
        text: The text.
        reading: Decides between readings.
        names: Folded names of the evidence, which need neither marks nor capital letters.
    """
    view = half_width(text)
    taken = Taken(len(view))
    for pattern in (_LIST_NUMBER, _IDIOMS):
        for found in pattern.finditer(view):
            taken.take(*found.span())
    mentions = list(read_codes(view, taken))
    mentions += (_of_quote(quote, view, reading) for quote in read_quotes(view, taken))
    mentions += read_dates(view, taken, reading)
    mentions += read_phones(view, taken)
    mentions += read_tokens(view, taken)
    mentions += read_rare_numerals(view, taken)
    mentions += read_numbers(view, taken, reading)
    mentions += known_names(view, taken, names)
    mentions += read_names(view, taken)
    return sorted(mentions, key=lambda mention: mention.start)


def extract_values(text: str, reading: Reading, most: int = sys.maxsize) -> list[Mention]:
    """Return the values of a text of the evidence, where marks and capital letters say nothing of their own.

    Raises:
        TooManyValues: There are more than `most`.
    """
    view = half_width(text)
    if not (_HAS_VALUE.search(view) or WORDS.search(view)):
        return []
    taken = Taken(len(view), most)
    mentions = list(read_codes(view, taken))
    mentions += read_dates(view, taken, reading)
    mentions += read_phones(view, taken)
    mentions += read_tokens(view, taken)
    mentions += read_numbers(view, taken, reading)
    return mentions


def _of_quote(quote: Mention, view: str, reading: Reading) -> Mention:
    """Return the value that the marks hold alone, such as an order number; else the quotation."""
    inner = view[quote.start : quote.end]
    values = extract_values(inner, reading)
    if len(values) != 1 or values[0].end - values[0].start != len(inner):
        return quote
    value = values[0]
    kind = value.kind if value.kind is not ClaimKind.NUMBER else ClaimKind.QUOTE
    return replace(value, kind=kind, start=quote.start, end=quote.end, needle=quote.needle)
