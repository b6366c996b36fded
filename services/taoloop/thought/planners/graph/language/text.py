"""Words of a text as the ranking compares them: English stems and pairs of Chinese characters, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from taoloop.thought.planners.graph.language.vocabulary import (
    CONTENT_PAIRS,
    FUNCTION_CHARACTERS,
    LONE_VERBS,
    STOP_WORDS,
)

_RUN = re.compile(r"[Ee]-[Mm]ails?|[A-Za-z]+|[0-9]+|[\u3400-\u4dbf\u4e00-\u9fff]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Word:
    """One comparable word.

    Attributes:
        key: What is compared: a stem, a pair of Chinese characters, or digits.
        start: First code point in the text.
        end: One past the last.
    """

    key: str
    start: int
    end: int


def words(text: str, offset: int = 0) -> tuple[Word, ...]:
    """Return the words of `text` that say something about its subject; places count from `offset`."""
    return tuple(_words(text, offset))


def keys(text: str) -> tuple[str, ...]:
    """Return the keys of the words of `text`, in order, repeats kept."""
    return tuple(word.key for word in _words(text, 0))


def name_keys(name: str) -> tuple[str, ...]:
    """Return the keys of an identifier such as `checkInDate` or `order_id`; prepositions in it are kept.

    >>> name_keys("from_currency")
    ('from', 'currency')
    """
    parts = _CAMEL.sub(" ", name.replace("_", " ").replace("-", " ").replace(".", " "))
    found = (piece for match in _RUN.finditer(parts) for piece in _JOINED.get(match[0].lower(), (match[0],)))
    return tuple(stem(part) if part.isascii() else part for part in found)


_JOINED: Final = {
    "username": ("user", "name"), "filename": ("file", "name"), "hostname": ("host", "name"),
    "firstname": ("first", "name"), "lastname": ("last", "name"), "fullname": ("full", "name"),
    "zipcode": ("zip", "code"), "postcode": ("post", "code"), "startdate": ("start", "date"),
    "enddate": ("end", "date"), "checkin": ("check", "in"), "checkout": ("check", "out"), "userid": ("user", "id"),
    "timezone": ("time", "zone"), "birthdate": ("birth", "date"), "datetime": ("date", "time"),
}  # fmt: skip
"""Words that names of parameters write together."""


def stem(word: str) -> str:
    """Return a lower-case English word without its most common endings; two forms of one word mostly agree.

    >>> stem("Deliveries"), stem("booked"), stem("status")
    ('delivery', 'book', 'status')
    """
    word = word.lower().replace("-", "")  # e-mail is email
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if len(word) > 5 and word.endswith("ing"):
        return _undoubled(word[:-3])
    if len(word) > 4 and word.endswith("ed") and not word.endswith("eed"):
        return _undoubled(word[:-2])
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def is_chinese(text: str) -> bool:
    """Tell whether the text has a Chinese character."""
    return _CHINESE.search(text) is not None


def _undoubled(word: str) -> str:
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word


def _words(text: str, offset: int) -> Iterator[Word]:
    for run in _RUN.finditer(text):
        start = offset + run.start()
        if not run[0].isascii():
            yield from _pairs(run[0], start)
        elif run[0].isdigit():
            if len(run[0]) <= 4:  # a longer number names one thing, never a subject
                yield Word(run[0], start, start + len(run[0]))
        elif run[0].lower() not in STOP_WORDS:
            yield Word(stem(run[0]), start, start + len(run[0]))


def _pairs(run: str, start: int) -> Iterator[Word]:
    """Yield the pairs of a run, and a character that stands alone between grammar, as 书 in 哪些书."""
    is_covered = False
    for place, character in enumerate(run):
        pair = run[place : place + 2]
        is_pair = len(pair) == 2 and (pair in CONTENT_PAIRS or not FUNCTION_CHARACTERS & set(pair))
        if is_pair:
            yield Word(pair, start + place, start + place + 2)
        elif not is_covered and character not in FUNCTION_CHARACTERS and character not in LONE_VERBS:
            yield Word(character, start + place, start + place + 1)
        is_covered = is_pair
