"""What a JSON value is in Python, how deep and long it may be, and how it is refused."""

from __future__ import annotations

from decimal import Decimal
from enum import Enum
from typing import Final

from typing_extensions import TypeAliasType

MAX_DEPTH: Final = 64
"""Deepest nesting that is read or written; a scalar has depth 0, `[]` has 1."""

MAX_INTEGER_DIGITS: Final = 4300
"""Longest integer that is read or written: CPython's own bound for conversions between int and text."""


class Absent(Enum):
    """The type of `ABSENT`: no JSON value at all, the empty string on the wire; `None` is JSON null."""

    ABSENT = frozenset[None]()  # what no JSON writer takes: an enum is written as its value

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT

# Alias objects and not plain unions: `typing.get_type_hints` leaves them whole, whichever module asks.
JsonValue = TypeAliasType(
    "JsonValue", "bool | int | float | Decimal | str | list[JsonValue] | dict[str, JsonValue] | None"
)
Json = TypeAliasType("Json", "JsonValue | Absent")


class JsonSyntaxError(ValueError):
    """The text is not JSON, or JSON that is refused because two readers could take it differently.

    Attributes:
        message: What is wrong, without the place and without the text.
        line: Line of the fault, from 1.
        column: Column of the fault in characters, from 1.
        excerpt: At most 40 characters around the fault; it may hold payload, so it is not part of `str()`.
    """

    def __init__(self, message: str, line: int, column: int, excerpt: str) -> None:
        super().__init__(f"{message} at line {line}, column {column}")
        self.message = message
        self.line = line
        self.column = column
        self.excerpt = excerpt


class JsonEncodeError(ValueError):
    """The Python value has no exact JSON form."""
