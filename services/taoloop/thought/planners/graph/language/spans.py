"""One pass over a request that finds its typed mentions with their places in code points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from taoloop.thought.planners.graph.language.date_words import DATE_OR_RANGE
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.vocabulary import (
    CHINESE_PLACE_TAILS,
    PERSON_CUES,
    PLACE_CUES,
    QUESTION_WORDS,
    READING_WORDS,
    STOP_WORDS,
    TOO_COMMON_NAMES,
    UNIT_WORDS,
    WRITING_WORDS,
)

MAX_MENTIONS: Final = 128
"""Mentions beyond this are not looked at: a plan has at most seven steps, and time must stay bounded for any text."""

_MASK = "\ufffc"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_QUOTED = re.compile(
    r"“(?P<a>[^“”\n]{1,1000})”|「(?P<b>[^「」\n]{1,1000})」|『(?P<c>[^『』\n]{1,1000})』|《(?P<d>[^《》\n]{1,200})》"
    r"|\"(?P<e>[^\"\n]{1,1000})\"|(?<![A-Za-z0-9])'(?P<f>[^'\n]{1,1000})'(?![A-Za-z0-9])|‘(?P<g>[^‘’\n]{1,1000})’"
)
_EMAIL = re.compile(r"(?<![A-Za-z0-9._%+@-])[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?![A-Za-z0-9@])")
_MALFORMED = re.compile(r"(?<![A-Za-z0-9._%+@-])[A-Za-z0-9._%+-]*@[A-Za-z0-9._%+@-]*")
_URL = re.compile(
    r"https?://[^\s\u3000-\u9fff，。；、）)\"'<>\ufffc]+|www\.[^\s\u3000-\u9fff，。；、）)\"'<>\ufffc]+", re.ASCII
)
_TIME = re.compile(
    r"(?<![0-9:])(?:[01]?[0-9]|2[0-3])[:：][0-5][0-9](?::[0-5][0-9])?(?![0-9:])(?:\s?[ap]\.?m\b)?"
    r"|(?<![A-Za-z0-9])(?:1[0-2]|[1-9])\s?[ap]m\b"
    r"|(?:上午|下午|晚上|早上|中午)?(?:[0-9]{1,2}|[一二两三四五六七八九十]{1,2})点(?:半|[0-9]{1,2}分)?(?!击)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9]+(?:[-_/#.:][A-Za-z0-9]+)*")
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.,-])[+-]?[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?![A-Za-z0-9_]*[A-Za-z_][0-9])(?![.,]?[0-9])"
)
_UNIT_OF: Final = {word: unit for unit, words in UNIT_WORDS.items() for word in words}
_UNIT = re.compile(
    r"\s?-?(?P<unit>"
    + "|".join(re.escape(word) for word in sorted(_UNIT_OF, key=lambda w: (-len(w), w)))
    + r")(?![A-Za-z])",
    re.IGNORECASE,
)
_CHINESE_NUMBER = re.compile(
    r"(?<![第每])(?!一[个些下点样直])[一二两三四五六七八九十百千万]{1,8}(?=个?(?:分钟|小时|天|人|位|元|块|件|台|份|%|公里|公斤))"
)
_MONEY_SIGNS = "$€£¥￥"
_CODE = re.compile(r"(?<![A-Za-z0-9_])[A-Z]{2,6}(?![A-Za-z0-9_])")
_CAPITALISED = re.compile(
    r"(?<![A-Za-z0-9_'’])[A-Z][a-z]+(?:[ -](?:(?:of|de|van|von|the|la) )?[A-Z][a-z]+){0,5}(?![A-Za-z0-9_])"
)
_CHINESE_NAME_END = r"(?=[的在，。,；;！？!?\s]|$|\ufffc|今|明|昨|上个|本|这|发|去|查|要|把|预|申|提|有|到|和|与|是)"
_CHINESE_CUES = "|".join(cue for cue in sorted(PERSON_CUES, key=len, reverse=True) if not cue.isascii())
_CHINESE_PERSON = re.compile(rf"(?:{_CHINESE_CUES})\s?(?P<name>[\u4e00-\u9fff]{{2,4}}?){_CHINESE_NAME_END}")
_PLACE_TAILS = "|".join(CHINESE_PLACE_TAILS)
_CHINESE_PLACE = re.compile(
    rf"(?:(?<=[在去到从])|(?<=[，。,；;\s\ufffc])|^)(?P<name>[\u4e00-\u9fff]{{2,4}}?)(?={_PLACE_TAILS})"
)
_BEFORE = re.compile(r"(?P<cue>[A-Za-z]+(?: is)?)\s+$")


def find_mentions(text: str) -> tuple[Mention, ...]:
    """Return the mentions of `text` in the order of their places; no two overlap.

    Stronger forms are found first and hide what they cover: quoted text, addresses, dates, times, then numbers and
    identifiers, then names.
    """
    found: list[Mention] = []
    masked = text
    for finder in (_quoted, _addresses, _dates, _times, _tokens, _names):
        for mention in finder(masked):
            if len(found) >= MAX_MENTIONS:
                break
            if _LONE_SURROGATE.search(mention.text) is None:  # it has no JSON form, so it is no value
                found.append(mention)
        masked = _masked(text, found)
    return tuple(sorted(found, key=lambda mention: mention.start))


def _masked(text: str, mentions: list[Mention]) -> str:
    pieces: list[str] = []
    place = 0
    for mention in sorted(mentions, key=lambda item: item.start):
        pieces.append(text[place : mention.start])
        pieces.append(_MASK * (mention.end - mention.start))
        place = mention.end
    pieces.append(text[place:])
    return "".join(pieces)


def _quoted(text: str) -> Iterator[Mention]:
    for match in _QUOTED.finditer(text):
        group = str(match.lastgroup)
        start, end = match.span(group)
        if text[start:end].strip() and not _is_whole_request(text, match.start(), match.end()):
            yield Mention(MentionKind.QUOTED, start, end, text[start:end])


def _is_whole_request(text: str, start: int, end: int) -> bool:
    return not text[:start].strip() and not text[end:].strip(" \t\n.。!！?？")


def _addresses(text: str) -> Iterator[Mention]:
    taken: list[tuple[int, int]] = []
    for kind, pattern in ((MentionKind.URL, _URL), (MentionKind.EMAIL, _EMAIL), (MentionKind.MALFORMED, _MALFORMED)):
        for match in pattern.finditer(text):
            whole = match[0].rstrip(".,;:!?") if kind is MentionKind.URL else match[0]
            start, end = match.start(), match.start() + len(whole)
            if len(whole) > 1 and not any(start < b and a < end for a, b in taken):
                taken.append((start, end))
                yield Mention(kind, start, end, whole)


def _dates(text: str) -> Iterator[Mention]:
    for match in DATE_OR_RANGE.finditer(text):
        yield Mention(MentionKind.DATE, match.start(), match.end(), match[0])


def _times(text: str) -> Iterator[Mention]:
    for match in _TIME.finditer(text):
        yield Mention(MentionKind.TIME, match.start(), match.end(), match[0])


def _tokens(text: str) -> Iterator[Mention]:
    taken: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(text):
        if _is_identifier(match[0]):
            taken.append(match.span())
            yield Mention(MentionKind.ID, match.start(), match.end(), match[0])
    starts = sorted(taken)
    for match in (*_NUMBER.finditer(text), *_CHINESE_NUMBER.finditer(text)):
        if not any(match.start() < end and start < match.end() for start, end in starts):
            yield Mention(MentionKind.NUMBER, match.start(), match.end(), match[0], _unit(text, match))


def _is_identifier(token: str) -> bool:
    """Tell whether a token names one thing: digits and letters mixed, or more digits than a quantity has."""
    digits = sum(character.isdigit() for character in token)
    if not digits:
        return False
    if token.isdigit():
        return digits >= 7
    unit = token.lstrip("0123456789.")
    if unit.lower() in _UNIT_OF or re.fullmatch(r"[0-9]+(?:st|nd|rd|th)", token.lower()):
        return False
    return any(character.isalpha() for character in token) or bool(re.fullmatch(r"[0-9]+(?:[-_/#][0-9]+)+", token))


def _unit(text: str, match: re.Match[str]) -> str:
    after = _UNIT.match(text, match.end())
    if after is not None:
        return _UNIT_OF.get(after["unit"].lower(), "")
    return "money" if match.start() and text[match.start() - 1] in _MONEY_SIGNS else ""


def _names(text: str) -> Iterator[Mention]:
    taken: list[tuple[int, int]] = []
    for mention in (*_capitalised(text), *_chinese_names(text), *_codes(text)):
        if not any(mention.start < end and start < mention.end for start, end in taken):
            taken.append((mention.start, mention.end))
            yield mention


def _capitalised(text: str) -> Iterator[Mention]:
    for match in _CAPITALISED.finditer(text):
        name, start = match[0], match.start()
        first, _, rest = name.partition(" ")
        if first.lower() in _NO_NAME_STARTS:
            if not rest:
                continue
            start, name = match.end() - len(rest), rest
        if name.lower() in TOO_COMMON_NAMES or name.lower() in _NO_NAME_STARTS:
            continue
        yield Mention(_class_by_cue(text, start), start, start + len(name), name)


_NO_NAME_STARTS: Final = STOP_WORDS | QUESTION_WORDS | READING_WORDS | WRITING_WORDS


def _class_by_cue(text: str, start: int) -> MentionKind:
    """Say what a name is by the word before it; a name without a cue stays a name."""
    before = _BEFORE.search(text, max(0, start - 24), start)
    cue = before["cue"].lower() if before else ""
    if cue in PLACE_CUES and cue not in PERSON_CUES:
        return MentionKind.PLACE
    if cue in PERSON_CUES and cue not in PLACE_CUES:
        return MentionKind.PERSON
    return MentionKind.NAME


def _chinese_names(text: str) -> Iterator[Mention]:
    for kind, pattern in ((MentionKind.PERSON, _CHINESE_PERSON), (MentionKind.PLACE, _CHINESE_PLACE)):
        for match in pattern.finditer(text):
            yield Mention(kind, match.start("name"), match.end("name"), match["name"])


def _codes(text: str) -> Iterator[Mention]:
    for match in _CODE.finditer(text):
        yield Mention(MentionKind.CODE, match.start(), match.end(), match[0])
