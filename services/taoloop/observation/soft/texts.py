"""The texts of a body that may say that something failed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import Json

MAX_TEXTS: Final = 4
"""Most texts of one body that are looked at."""

MAX_CHARACTERS: Final = 300
"""More of one text is not read."""

# Names as tools write them, in lower case without underscores and hyphens.
_SAYING: Final = frozenset(
    {
        *("error", "errors", "err", "errormessage", "errormsg", "errmsg", "errordescription", "errordetail"),
        *("errorinfo", "exception", "failure", "failurereason", "failreason", "fault", "faultstring"),
        *("message", "msg", "detail", "reason", "retmsg", "submsg"),
        *("错误", "错误信息", "失败原因", "异常", "消息"),
    }
)
_LONGEST: Final = 24

_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class FoundText:
    """A text and where it stands.

    Attributes:
        pointer: Into the body.
        text: Its first characters.
    """

    pointer: str
    text: str


def failure_texts(body: Json) -> list[FoundText]:
    """Return the texts at the top of the body, and in the objects and lists under such names, in their order."""
    if not isinstance(body, dict):
        return []
    said = [name for name in body if len(name) <= _LONGEST and is_saying(name)]
    if not said:
        return []
    texts = chain.from_iterable(_texts(body[name], (name,)) for name in said)
    return [FoundText(pointers.join(*path), text[:MAX_CHARACTERS]) for path, text in islice(texts, MAX_TEXTS)]


@lru_cache(maxsize=4096)
def is_saying(name: str) -> bool:
    """Tell whether a field of this name is where tools write what went wrong; most names come again and again.

    >>> [is_saying(name) for name in ("error_message", "errMsg", "snippet")]
    [True, True, False]
    """
    return name.replace("_", "").replace("-", "").lower() in _SAYING


def _texts(value: Json, path: _Path) -> Iterator[tuple[_Path, str]]:
    """Yield what stands under such a name: a text, or the texts of an object, or of the first items of a list."""
    if isinstance(value, list):
        for index, item in enumerate(value[:MAX_TEXTS]):
            yield from _own_texts(item, (*path, index))
    else:
        yield from _own_texts(value, path)


def _own_texts(value: Json, path: _Path) -> Iterator[tuple[_Path, str]]:
    if isinstance(value, str) and value:
        yield path, value
    elif isinstance(value, dict):
        for name, member in value.items():
            if (
                isinstance(member, str)
                and member
                and (name == "description" or (len(name) <= _LONGEST and is_saying(name)))
            ):
                yield (*path, name), member
