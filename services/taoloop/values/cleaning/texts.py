"""Clean text: one Unicode form, nothing unseen, single spaces."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
# Arabic, Indic and South-East Asian letters join or part by the two joiners; so do emoji.
_JOINED = "[\u0600-\u1cff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]"
_STRAY_JOINER: Final = re.compile(f"(?<!{_JOINED})[\u200c\u200d]+|[\u200c\u200d]+(?!{_JOINED}|[\u200c\u200d])")
_MAX_MARKS = 30
_END_OF_MARKS = 0x1F000  # no mark that is put in order stands above


def clean_text(text: str) -> str:
    r"""Return the text in NFC, without control, zero-width and bidi marks, with single spaces and none at the ends.

    Every kind of white space, line ends among them, is a space. The zero-width joiner and non-joiner stay where they
    shape letters or emoji, and go everywhere else. Half a surrogate pair goes, so that the result can be encoded. Of
    more than 30 marks on one letter the first 30 stay. Width and letter case are kept.

    Source: UAX #15 for NFC and, for the 30 marks, its Stream-Safe Text Format.

    >>> clean_text("  caf\u0065\u0301\u200b\n menu\u202e ")
    'café menu'
    """
    if not text.isascii():
        text = _STRAY_JOINER.sub("", _UNSEEN.sub("", text))
        text = unicodedata.normalize("NFC", _many_marks().sub(lambda run: run[0][:_MAX_MARKS], text))
        return " ".join(text.split())
    return " ".join(_UNSEEN.sub("", text).split())


@cache
def _many_marks() -> re.Pattern[str]:
    """Match runs of marks that no writing has: their canonical order takes time in the square of their number."""
    marks = (chr(code) for code in range(0x300, _END_OF_MARKS) if unicodedata.combining(chr(code)))
    return re.compile(f"[{''.join(marks)}]{{{_MAX_MARKS + 1},}}")
