"""Names in a text: what stands in quotation or book-title marks, and words in capital letters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from taoloop.observation.grounding.model import Mention, Taken
from taoloop.plan.answering import ClaimKind

MAX_NAME_CHARACTERS: Final = 200
"""Longest quotation that is a name; a longer one is prose, and the values in it are checked one by one."""

_QUOTED: Final = re.compile(
    "《(?P<title>[^《》\n]{1,200})》|“(?P<curly>[^“”\n]{1,200})”|「(?P<corner>[^「」\n]{1,200})」|『(?P<double>[^『』\n]{1,200})』"
    '|‘(?P<single>[^‘’\n]{1,200})’(?![A-Za-z])|(?<![A-Za-z0-9"])"(?P<straight>[^"\n]{1,200})"(?![A-Za-z0-9"])'
    "|(?<!`)`(?P<code>[^`\n]{1,200})`(?!`)"
)
_WORD: Final = r"[A-ZÀ-ÖØ-ÞĀ-Ž](?:\.(?= ?[A-Z])|[A-Za-zÀ-ÖØ-öø-ÿĀ-ž’'&-]{0,40})"
_NAME: Final = re.compile(
    rf"(?<![A-Za-zÀ-ÿ0-9_@.’'-])(?:[a-z](?=[A-Z]))?{_WORD}"
    rf"(?: (?:(?:of|de|la|von|van|der|du|the|and|&) )?{_WORD}){{0,6}}"
)
_PIECE: Final = re.compile(r"[^ ]+")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?;。！？；\n•*#>-]|(?P<label>[:：|])|\)|\d[.)])[ \t\"'“‘(*_#>-]*$")
_VALUE_END: Final = re.compile(r"[ \t*_]*(?:[.,;。，；|)\n]|$)")
_LOOK_BACK: Final = 12
_END: Final = ".’'&-"

_NO_NAMES: Final = """
    a an the this that these those i i'm i've i'll i'd you your yours we we've we're our ours it it's its they their
    there here he she his her hi hello hey dear thanks thank please sorry sure yes no not ok okay great good
    and or but if so as at by for from in into of on to with within without until after before since about
    is are was were be been has have had do does did can could will would should may might must shall
    what when where which who why how all any both each either every few many more most much other some such
    then than however also additionally note once while although because currently unfortunately fortunately
    according based today tomorrow yesterday now just only overall finally next first second third last
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    january february march april june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec utc gmt am pm id number api url pdf csv json faq eta ai sms pin otp vat hr
    order item product customer user account status total subtotal amount price
    date time delivery shipping shipment shipped tracking invoice payment refund
    address phone email name detail summary result quantity code reference booking ticket
    reservation flight hotel room seat gate weather temperature city country report estimated expected
    arrival departure balance discount tax fee cost subject message contact support service team
    http https usb wifi gps step vip app sku
    let let's feel see check don't doesn't isn't aren't wasn't can't couldn't mr mrs ms dr sir madam kind regards best
"""
_PLAIN_WORDS: Final = frozenset(_NO_NAMES.split())
"""Words that carry no name, however they are written: function words, days, months, and headings of an answer."""


def read_quotes(text: str, taken: Taken) -> Iterator[Mention]:
    """Yield what stands in marks, as one value each; what the marks hold may be a value of another kind."""
    for found in _QUOTED.finditer(text):
        start, end = found.span(found.lastgroup or 0)
        inner = text[start:end]
        if taken.is_free(start, end) and any(map(str.isalnum, inner)):
            taken.take(start, end)
            yield Mention(
                kind=ClaimKind.QUOTE,
                start=start,
                end=end,
                normalised=fold_name(inner),
                needle=inner.strip(" ,.;!?，。；！？、"),
            )


def read_names(text: str, taken: Taken) -> Iterator[Mention]:
    """Yield the runs of capitalised words, without the plain words at their ends.

    One capitalised word that begins a sentence is no claim, since every sentence begins so.
    """
    for found in _NAME.finditer(text):
        words = [(piece.start() + found.start(), piece[0]) for piece in _PIECE.finditer(found[0])]
        is_first_dropped = is_plain(words[0][1])
        while words and is_plain(words[0][1]):
            del words[0]
        while words and is_plain(words[-1][1]):
            del words[-1]
        if not words:
            continue
        start, end = words[0][0], words[-1][0] + len(_bare(words[-1][1]))
        if len(words) == 1 and not is_first_dropped and _is_sentence_start(text, start, end):
            continue
        if taken.is_free(start, end) and end - start > 1:
            taken.take(start, end)
            name = text[start:end]
            yield Mention(kind=ClaimKind.NAME, start=start, end=end, normalised=fold_name(name), needle=name)


def _is_sentence_start(text: str, start: int, end: int) -> bool:
    """Whether the capital of a word may be due to its place; not so in `Carrier: Maersk`, where it is all there is."""
    before = _SENTENCE_START.search(text[max(0, start - _LOOK_BACK) : start])
    if before is None or _is_certain(text[start:end]):
        return False
    return before["label"] is None or _VALUE_END.match(text, end) is None


def fold_name(text: str) -> str:
    """Return a name as it is compared: letter case, `_`, `-` and runs of white space do not count."""
    return " ".join(text.replace("_", " ").replace("-", " ").replace("’", "'").split()).lower()


def _bare(word: str) -> str:
    bare = word.rstrip(_END)
    for suffix in ("'s", "’s"):
        bare = bare.removesuffix(suffix)
    return bare


def is_plain(word: str) -> bool:
    """Whether a word carries no name, however it is written."""
    bare = _bare(word).lower().replace("’", "'")
    return len(bare) < 2 or bare in _PLAIN_WORDS or (bare.endswith("s") and bare[:-1] in _PLAIN_WORDS)


def _is_certain(word: str) -> bool:
    """Whether a word is a name even at the start of a sentence: a capital within it, as in `FedEx` or `DHL`."""
    bare = _bare(word)
    return any(map(str.isupper, bare[1:]))
