"""One pass over a request that finds its typed mentions with their places in code points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from taoloop.thought.planners.graph.language.date_words import DATE_OR_RANGE
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.numerals import SPOKEN
from taoloop.thought.planners.graph.language.places import CHINESE_PLACE, ENGLISH_PLACES, ENGLISH_REGIONS, SURNAMES
from taoloop.thought.planners.graph.language.stated import stated_values
from taoloop.thought.planners.graph.language.vocabulary import (
    CHINESE_PLACE_TAILS,
    ORDERS,
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

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_MASK = "\ufffc"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_QUOTED = re.compile(
    r"“(?P<a>[^“”\n]{1,1000})”|「(?P<b>[^「」\n]{1,1000})」|『(?P<c>[^『』\n]{1,1000})』|《(?P<d>[^《》\n]{1,200})》"
    r"|\"(?P<e>[^\"\n]{1,1000})\"|(?<![A-Za-z0-9])'(?P<f>[^'\n]{1,1000})'(?![A-Za-z0-9])|‘(?P<g>[^‘’\n]{1,1000})’"
)
_EMAIL = re.compile(r"(?<![A-Za-z0-9._%+@-])[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?![A-Za-z0-9@])")
_DOMAIN = re.compile(
    r"(?<![A-Za-z0-9@._/-])[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.(?:com|org|net|io|gov|edu|co|ai|dev|app|info|example|cn|uk|de)"
    r"(?:/[^\s，。]*)?(?![A-Za-z0-9@.-]*@)(?![A-Za-z0-9])"
)
_MALFORMED = re.compile(r"(?<![A-Za-z0-9._%+@-])[A-Za-z0-9._%+-]*@[A-Za-z0-9._%+@-]*")
_URL = re.compile(
    r"https?://[^\s\u3000-\u9fff，。；、）)\"'<>\ufffc]+|www\.[^\s\u3000-\u9fff，。；、）)\"'<>\ufffc]+", re.ASCII
)
_TIME = re.compile(
    r"(?<![0-9:])(?:[01]?[0-9]|2[0-3])[:：][0-5][0-9](?::[0-5][0-9])?(?![0-9:])(?:\s?[ap]\.?m\b)?"
    r"|(?<![A-Za-z0-9])(?:1[0-2]|[1-9])\s?[ap]\.?m\b\.?"
    r"|\b(?:half|(?:a\s)?quarter)\s(?:past|to)\s(?:[0-9]{1,2}|[a-z]{3,6})(?:\sin\sthe\s(?:morning|afternoon|evening))?"
    r"|(?<![A-Za-z0-9])(?:1[0-2]|[1-9])\s(?:o'clock|in\sthe\s(?:morning|afternoon|evening))(?:\sin\sthe\s(?:morning|afternoon|evening))?"
    r"|\b(?:noon|midnight)\b"
    r"|(?:上午|下午|晚上|早上|中午)?(?:[0-9]{1,2}|[一二两三四五六七八九十]{1,2})点(?:半|[0-9]{1,2}分)?(?!击)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9]+(?:[-_/#.:!$~]+[A-Za-z0-9]+)*")
_PATH = re.compile(
    r"(?<![A-Za-z0-9_.~/])(?:~|\.{1,2})?/[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*/?(?<![.,])|\*\.[A-Za-z0-9]{1,5}(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9_.-])[A-Za-z0-9_-]+\.(?:pdf|csv|txt|json|xml|docx?|xlsx?|pptx?|png|jpe?g|gif|py|js|md|html|zip|log|mp[34]"
    r"|wav)(?![A-Za-z0-9])"
)
_ISBN = re.compile(
    r"(?<![0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9])(?!\.[0-9])|(?<![A-Za-z0-9_.-])[0-9]{1,5}(?:-[0-9]+){3,}(?:-?[0-9Xx])?(?![A-Za-z0-9-])"
)
_MIXED_CASE = re.compile(
    r"(?<![A-Za-z0-9_])(?:[A-Z][a-z]?){2,}[0-9]*(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])[a-z]+_[a-z_]+(?![A-Za-z0-9_])"
)
_POWER: Final = r"(?:(?:\^|\*\*)\(?-?[0-9]+\)?)?"
_TERM: Final = (
    rf"(?:[0-9]+(?:\.[0-9]+)?\*?)?(?:(?:sin|cos|tan|exp|log|ln|sqrt)\([^()\n]{{1,24}}\)|e\^\(?-?[0-9]*[xyt]\)?|[xyztn]){_POWER}"
    r"|[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9.:/])"
)
_EXPRESSION = re.compile(rf"(?<![A-Za-z0-9_.^*/+-])-?(?:{_TERM})(?:\s?[-+*/]\s?(?:{_TERM}))*(?![A-Za-z0-9_(^])")
_IS_EXPRESSION = re.compile(
    r"[xyztn)](?:\^|\*\*)|[xyztn)] ?[-+*/]|[-+*/] ?[0-9.]*\*?[xyzt](?![a-z])|(?:sin|cos|tan|exp|log|ln|sqrt)\(|e\^"
)
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.-])(?<![0-9][.,])[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?"
    r"(?:[eE][+-]?[0-9]{1,3}(?![0-9A-Za-z]))?(?![A-Za-z0-9_]*[A-Za-z_][0-9]|(?<=[0-9])[xX][0-9])(?!\.?[0-9])"
    r"|(?<![A-Za-z0-9_.-])[0-9]{2,5}(?=[xX][0-9]{2,5}(?![A-Za-z0-9]))|(?<=[0-9][xX])[0-9]{2,5}(?![A-Za-z0-9])"
    r"|(?<=[0-9],)[+-]?[0-9]+(?:\.[0-9]+)?(?![A-Za-z_0-9.]*[0-9])"
)
_PHONE = re.compile(
    r"(?<![A-Za-z0-9_+.-])(?:\+[0-9]{1,3}[ -]?)?(?:\([0-9]{2,4}\)[ -]?)?"
    r"[0-9]{3,4}[ -][0-9]{3,4}(?:[ -][0-9]{3,4})?(?![A-Za-z0-9-])"
)
_COUNTED = re.compile(r"[0-9]+(?:\.[0-9]+)?-[a-z]{2,}(?:-[a-z]+)*")
_UNIT_OF: Final = {word: unit for unit, words in UNIT_WORDS.items() for word in words}
_UNIT = re.compile(
    r"\s?-?(?P<unit>"
    + "|".join(re.escape(word) for word in sorted(_UNIT_OF, key=lambda w: (-len(w), w)))
    + r")(?![A-Za-z])",
    re.IGNORECASE,
)
_CHINESE_NUMBER = re.compile(
    r"(?<![0-9])[0-9]+(?:\.[0-9]+)?[十百千万亿]{1,2}(?![A-Za-z0-9])|(?<![第每])(?!一[个些下点样直])[一二两三四五六七八九十百千万]{1,8}"
    r"(?=个?(?:分钟|小时|天|晚|人|位|名|元|块|件|台|份|本|张|间|座|字|岁|年(?!级)|%|公里|公斤|千克|千瓦|平方米|摄氏度|度|米|升|吨|次))"
)
_MONEY_SIGNS = "$€£¥￥"
_CODE = re.compile(r"(?<![A-Za-z0-9_])[A-Z]{2,6}(?![A-Za-z0-9_])")
_CAPITAL: Final = r"(?:(?:St|Mt|Dr|Mr|Mrs|Ms)\.(?= [A-Z])|(?:O'|Mc|Mac|D')?[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+)"
_CAPITALISED = re.compile(
    rf"(?<![A-Za-z0-9_'’]){_CAPITAL}(?:(?:[ -]|'s )(?:(?:of|de|da|do|del|van|von|the|la|and the) )?{_CAPITAL}){{0,5}}"
    r"(?:,? D\.C\.|, [A-Z]{2}(?![A-Za-z]))?(?:, (?:USA|UK)(?![A-Za-z]))?(?![A-Za-z0-9_à-ÿ])"
)
_CHINESE_NAME_END = (
    r"(?=[的在，。,；;！？!?（）()、\s]|$|\ufffc|[今明昨][天日]|上个|本|这|发|去|查|要|把|预|申|提|有|到|和|与|是"
    r"|挂|订|买|办|安|登|创|添|设|做|报|注|寄|转|打|写|制|生)"
)
_CHINESE_CUES = "|".join(cue for cue in sorted(PERSON_CUES, key=len, reverse=True) if not cue.isascii())
_CHINESE_PERSON = re.compile(
    rf"(?<!预)(?:{_CHINESE_CUES})(?P<stated>是|为|叫|：|:)?\s?"
    rf"(?P<name>(?![是为叫的])[\u4e00-\u9fff]{{2,4}}?){_CHINESE_NAME_END}"
)
_PLACE_TAILS = "|".join(CHINESE_PLACE_TAILS)
_CHINESE_PLACE = re.compile(
    rf"(?:(?<=[在去到从及查下看道询问])|(?<=[，。,；;\s\ufffc])|^)(?P<name>(?![天日周月年的个我你请想帮一看查找问以和与])(?:(?!在)[\u4e00-\u9fff]){{2,4}}?)(?={_PLACE_TAILS})"
    rf"|(?:位于|前往|飞往|抵达|(?<![正现存实])在(?!线)|去|到|从)(?P<other>[\u4e00-\u9fff]{{2,6}}?)"
    rf"(?=[的，。,；;！？!?\s]|出发|到|至|去|飞|附近|坐|乘|怎么|开车|打车|骑|要多|$|\ufffc)"
)
_BEFORE = re.compile(r"(?P<cue>[A-Za-z]+(?: is)?)\s+$")


def find_mentions(text: str) -> tuple[Mention, ...]:
    """Return the mentions of `text` in the order of their places; none but a stated value overlaps another.

    Stronger forms are found first and hide what they cover: quoted text, addresses, dates, times, then numbers and
    identifiers, then names.
    """
    found: list[Mention] = []
    masked = opaque = text
    for finder in (
        _quoted,
        _addresses,
        _street_addresses,
        _paths,
        _expressions,
        _dates,
        _times,
        _tokens,
        _names,
        _counted,
    ):
        for mention in finder(masked):
            if len(found) >= MAX_MENTIONS:
                break
            if _LONE_SURROGATE.search(mention.text) is None:  # it has no JSON form, so it is no value
                found.append(mention)
        masked = _masked(text, found)
        if finder is _addresses:
            opaque = masked
    is_chinese = _CHINESE.search(text) is not None
    for mention in stated_values(opaque, is_chinese=is_chinese):
        if len(found) < MAX_MENTIONS and _MASK not in mention.text and _LONE_SURROGATE.search(mention.text) is None:
            found.append(mention)
    return tuple(sorted(found, key=lambda mention: (mention.start, mention.end)))


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
    for kind, pattern in (
        (MentionKind.URL, _URL), (MentionKind.EMAIL, _EMAIL), (MentionKind.URL, _DOMAIN),
        (MentionKind.MALFORMED, _MALFORMED),
    ):  # fmt: skip
        for match in pattern.finditer(text):
            whole = match[0].rstrip(".,;:!?") if kind is MentionKind.URL else match[0]
            start, end = match.start(), match.start() + len(whole)
            if len(whole) > 1 and not any(start < b and a < end for a, b in taken):
                taken.append((start, end))
                yield Mention(kind, start, end, whole)


def _paths(text: str) -> Iterator[Mention]:
    for pattern in (_PATH, _ISBN):
        for match in pattern.finditer(text):
            yield Mention(MentionKind.ID, match.start(), match.end(), match[0])


def _expressions(text: str) -> Iterator[Mention]:
    for match in _EXPRESSION.finditer(text):
        if _IS_EXPRESSION.search(match[0]):
            yield Mention(MentionKind.EXPRESSION, match.start(), match.end(), match[0])


def _dates(text: str) -> Iterator[Mention]:
    for match in DATE_OR_RANGE.finditer(text):
        yield Mention(MentionKind.DATE, match.start(), match.end(), match[0])


def _times(text: str) -> Iterator[Mention]:
    for match in _TIME.finditer(text):
        yield Mention(MentionKind.TIME, match.start(), match.end(), match[0])


def _tokens(text: str) -> Iterator[Mention]:
    taken: list[tuple[int, int]] = []
    for match in _PHONE.finditer(text):
        taken.append(match.span())
        yield Mention(MentionKind.ID, match.start(), match.end(), match[0])
    for match in _TOKEN.finditer(text):
        if _is_identifier(match[0]) and not any(match.start() < end and start < match.end() for start, end in taken):
            taken.append(match.span())
            yield Mention(MentionKind.ID, match.start(), match.end(), match[0])
    starts = sorted(taken)
    for match in (*SPOKEN.finditer(text), *_CHINESE_NUMBER.finditer(text), *_NUMBER.finditer(text)):
        is_name = match[0][0].isupper() and match.start() > 0 and text[: match.start()].rstrip()[-1:] not in ".!?:"
        if is_name or (
            match[0].lower() in _LONELY_NUMBERS and not _unit(text, match) and not _is_counting(text, match.end())
        ):
            continue
        if not any(match.start() < end and start < match.end() for start, end in starts):
            starts.append(match.span())
            yield Mention(MentionKind.NUMBER, match.start(), match.end(), match[0], _unit(text, match))


_LONELY_NUMBERS: Final = frozenset({"one"})
"""Number words that are mostly something else; they count only before a unit or another word that can be counted."""
_COUNTABLE = re.compile(r"\s[a-z]{3,}")
_UNCOUNTABLE: Final = STOP_WORDS | frozenset({"way", "day", "more"})


_MEASURED = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[A-Za-z]{1,4}|ohms?|volts?|watts?)")
_MEASURED_UPPER = re.compile(
    r"[0-9]+(?:\.[0-9]+)?(?:[VAWJNKFCTM]|kW|kJ|Hz|kHz|MHz|GHz|GB|MB|TB|KB|mA|kV|kWh|Pa|kPa|mL|ML)"
)
_TWO_PARTS = re.compile(r"(?!and/|he/|she/|his/|her/)[a-z]{3,}/[a-z]{3,}")
_POWER_OF_TEN = re.compile(r"[0-9]+(?:\.[0-9]+)?[eE]-?[0-9]{1,3}")
_SIZE = re.compile(r"[0-9]{2,5}[xX][0-9]{2,5}")


def _is_identifier(token: str) -> bool:
    """Tell whether a token names one thing: digits and letters mixed, or more digits than a quantity has."""
    digits = sum(character.isdigit() for character in token)
    if not digits and token.count("/") == 1 and ("-" in token or _TWO_PARTS.fullmatch(token)):
        return True  # such as owner/some-project
    if not digits:
        return False
    if token.isdigit():
        return digits >= 7
    if (_MEASURED.fullmatch(token) and not token[-1:].isupper()) or _SIZE.fullmatch(token):
        return False
    if _MEASURED_UPPER.fullmatch(token) or _POWER_OF_TEN.fullmatch(token):
        return False
    if _COUNTED.fullmatch(token):  # such as 3-bedroom
        return False
    unit = token.lstrip("0123456789.")
    if unit.lower() in _UNIT_OF or re.fullmatch(r"[0-9]+(?:st|nd|rd|th)", token.lower()):
        return False
    return any(character.isalpha() for character in token) or bool(re.fullmatch(r"[0-9]+(?:[-_/#][0-9]+)+", token))


def _is_counting(text: str, end: int) -> bool:
    noun = _COUNTABLE.match(text, end)
    return noun is not None and noun[0].strip() not in _UNCOUNTABLE


def _unit(text: str, match: re.Match[str]) -> str:
    after = _UNIT.match(text, match.end())
    if after is not None:
        return _UNIT_OF.get(after["unit"].lower(), "")
    return "money" if match.start() and text[match.start() - 1] in _MONEY_SIGNS else ""


def _street_addresses(text: str) -> Iterator[Mention]:
    for match in _ADDRESS.finditer(text):
        yield Mention(MentionKind.PLACE, match.start(), match.end(), match[0])


_COUNTED_NOUN = re.compile(
    r"(?<=[0-9一二两三四五六七八九十百\ufffc])[个瓶本件张台份盒袋杯只条双套部支斤箱包罐块](?P<noun>(?![工月小人])[\u4e00-\u9fff]{1,8}?)"
    r"(?=和|、|，|,|。|加|到|放|以及|与|还|送|寄|给|的|$)"
)


_NOUN_FIRST = re.compile(
    r"(?<=[：:，,、和及])(?P<noun>[\u4e00-\u9fff]{1,6}?)(?=\ufffc+[个瓶本件张台份盒袋杯只条双套部支斤箱包罐块](?:[，,、。和；;]|$))"
)


def _counted(text: str) -> Iterator[Mention]:
    for match in _NOUN_FIRST.finditer(text):
        yield Mention(MentionKind.COUNTED, *match.span("noun"), match["noun"])
    for match in _COUNTED_NOUN.finditer(text):
        yield Mention(MentionKind.COUNTED, *match.span("noun"), match["noun"])


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
        is_first = _SENTENCE_START.search(text, max(0, start - 3), start) is not None or start == 0
        if (first.lower() in _NO_NAME_STARTS and not (first == "The" and rest and not is_first)) or (
            is_first and first.lower() in ORDERS
        ):
            if not rest:
                continue
            start, name = match.end() - len(rest), rest
        elif is_first and not rest and name.lower() not in ENGLISH_PLACES:
            continue
        if name.lower() in TOO_COMMON_NAMES or name.lower() in _UNIT_OF or name.lower() in _NO_NAME_STARTS:
            continue
        country = _COUNTRY.match(text, start + len(name))
        if country is not None and _is_region_of(name, country["country"]):
            name = text[start : country.end()]
        yield Mention(_class_of_name(text, start, name), start, start + len(name), name)


def _is_region_of(name: str, region: str) -> bool:
    """Tell whether a place lies in the region named after it; a list of countries is no such pair."""
    region = region.lower()
    return region in ENGLISH_REGIONS and (name.lower() not in ENGLISH_REGIONS or region in _UNIONS)


_UNIONS: Final = frozenset({"usa", "us", "united states", "uk"})
_COUNTRY = re.compile(r", (?P<country>[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+){0,2})(?![A-Za-z])")


_ADDRESS = re.compile(
    r"(?<![A-Za-z0-9])[0-9]{1,5} (?:[A-Z][A-Za-z]+ ){1,3}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Way|Square|Court|Place)\b"
    r"(?:, [A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)?(?:, [A-Z]{2}\b)?"
)
_SENTENCE_START = re.compile(r"[.!?:\n]\s{0,2}$")
_NO_NAME_STARTS: Final = STOP_WORDS | QUESTION_WORDS | READING_WORDS | WRITING_WORDS


def _class_of_name(text: str, start: int, name: str) -> MentionKind:
    """Say what a name is by itself or by the word before it; a name without a cue stays a name."""
    if name.lower() in ENGLISH_PLACES or ", " in name:
        return MentionKind.PLACE
    before = _BEFORE.search(text, max(0, start - 24), start)
    cue = before["cue"].lower() if before else ""
    if cue in PLACE_CUES and cue not in PERSON_CUES:
        return MentionKind.PLACE
    if cue in PERSON_CUES and cue not in PLACE_CUES:
        return MentionKind.PERSON
    return MentionKind.NAME


def _chinese_names(text: str) -> Iterator[Mention]:
    for match in CHINESE_PLACE.finditer(text):
        yield Mention(MentionKind.PLACE, match.start(), match.end(), match[0])
        district = _DISTRICT.match(text, match.end())
        if district is not None:
            yield Mention(MentionKind.PLACE, district.start(), district.end(), district[0])
    for kind, pattern in ((MentionKind.PERSON, _CHINESE_PERSON), (MentionKind.PLACE, _CHINESE_PLACE)):
        for match in pattern.finditer(text):
            group = "name" if match["name"] else "other"
            is_person = kind is MentionKind.PERSON
            if is_person and not match["stated"] and match[group][0] not in SURNAMES:
                continue  # after a mere cue only what begins as a name does is one
            yield Mention(kind, match.start(group), match.end(group), match[group])


_DISTRICT = re.compile(r"(?![的到和在])[\u4e00-\u9fff]{1,4}?[区县镇](?!域)")


def _codes(text: str) -> Iterator[Mention]:
    for match in (*_CODE.finditer(text), *_MIXED_CASE.finditer(text)):
        yield Mention(MentionKind.CODE, match.start(), match.end(), match[0])
