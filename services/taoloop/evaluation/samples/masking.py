"""What must not stand in a sample, taken out: secrets, personal data, and the arguments, which become placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue, equal
from taoloop.core.redaction import MASK, is_secret_name, redact_text

Redactor = Callable[[JsonValue], JsonValue]
"""Returns a body or arguments with what the contract keeps from people masked; the shape stays."""

_MIN_SHARED_CHARACTERS: Final = 3
"""Shortest text of an argument that is looked for in other members than its own: shorter ones are chance."""

_MIN_INNER_CHARACTERS: Final = 6
"""Shortest text of an argument that is looked for inside longer texts."""

_MIN_SHARED_NUMBER: Final = 1000
_KEPT_DIGITS: Final = 3
_LONG_NUMBER: Final = re.compile(r"[0-9]{8,}")


@dataclass(slots=True)
class Masked:
    """A value without what must not be recorded, and where it was changed.

    Attributes:
        value: What may be written.
        masked: Pointer of each masked value → what stood there.
        placeholders: Pointer → name of the argument that stands there.
    """

    value: JsonValue
    masked: dict[str, JsonValue] = field(default_factory=dict)
    placeholders: dict[str, str] = field(default_factory=dict)


def made_up(value: JsonValue) -> JsonValue:
    """Return a value of the same form that says nothing: patterns and lengths of a schema hold for most of them.

    >>> [made_up(value) for value in ("13800138000", "li.na@example.com", "李娜", 42)]
    ['13800000000', 'xx.xx@xxxxxxx.xxx', '某某', 0]
    """
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return 0
    if isinstance(value, Decimal):
        return Decimal(0)
    if isinstance(value, str):
        kept = _KEPT_DIGITS if _LONG_NUMBER.fullmatch(value) else 0
        return value[:kept] + "".join(map(_blank, value[kept:]))
    if isinstance(value, list):
        return [made_up(item) for item in value]
    return {name: made_up(item) for name, item in value.items()} if isinstance(value, dict) else value


def masked_arguments(arguments: Mapping[str, JsonValue], redact: Redactor) -> Masked:
    """Return arguments that may be recorded: personal data becomes made-up values, which keep their form.

    Args:
        arguments: As they were sent.
        redact: Masks what the contract says.
    """
    walk = _Walk(redact, arguments={}, makes_up=True)
    return Masked(walk.value(dict(arguments), redact(dict(arguments)), ""), walk.masked)


def masked_body(body: JsonValue, arguments: Mapping[str, JsonValue], redact: Redactor) -> Masked:
    """Return a body that may be recorded: values of arguments become placeholders, personal data is masked.

    Args:
        body: As it was answered.
        arguments: As they were sent.
        redact: Masks what the contract says.
    """
    walk = _Walk(redact, arguments=arguments, makes_up=False)
    return Masked(walk.value(body, redact(body), ""), walk.masked, walk.placeholders)


class _Walk:
    """Goes through a value beside its redacted form."""

    def __init__(self, redact: Redactor, arguments: Mapping[str, JsonValue], *, makes_up: bool) -> None:
        self._redact = redact
        self._arguments = arguments
        self._makes_up = makes_up
        self.masked: dict[str, JsonValue] = {}
        self.placeholders: dict[str, str] = {}

    def value(self, value: JsonValue, redacted: JsonValue, pointer: str, name: str = "") -> JsonValue:
        if isinstance(value, dict):
            inner = redacted if isinstance(redacted, dict) else {}
            return {
                key: self.value(item, inner.get(key, MASK), pointer + pointers.join(key), key)
                for key, item in value.items()
            }
        if isinstance(value, list):
            items: Sequence[JsonValue] = redacted if isinstance(redacted, list) else ()
            others = [*items, *[MASK] * (len(value) - len(items))]
            return [
                self.value(item, others[index], pointer + pointers.join(index), name)
                for index, item in enumerate(value)
            ]
        return self._leaf(value, redacted, pointer, name)

    def _leaf(self, value: JsonValue, redacted: JsonValue, pointer: str, name: str) -> JsonValue:
        argument = _same_argument(value, name, self._arguments)
        if argument is not None:
            self.placeholders[pointer] = argument
            return _placeholder(argument)
        text = self._with_inner_arguments(redacted, pointer) if isinstance(redacted, str) else redacted
        if isinstance(value, str) and is_secret_name(name):
            text = MASK
        elif isinstance(text, str):
            text = redact_text(text)
        is_masked = not equal(redacted, value) or (isinstance(value, str) and text == MASK)
        if isinstance(text, str) and isinstance(value, str) and not is_masked:
            is_masked = pointer not in self.placeholders and text != value
        if not is_masked:
            return text
        self.masked[pointer] = value
        return made_up(value) if self._makes_up or not isinstance(value, str) else text

    def _with_inner_arguments(self, text: str, pointer: str) -> str:
        for argument, value in self._arguments.items():
            if isinstance(value, str) and len(value) >= _MIN_INNER_CHARACTERS and value in text:
                text = text.replace(value, _placeholder(argument))
                self.placeholders[pointer] = argument
        return text


def _same_argument(value: JsonValue, name: str, arguments: Mapping[str, JsonValue]) -> str | None:
    """Return the argument that a value repeats: the one of the same name first; None where it may be chance."""
    if value is None or isinstance(value, bool | dict | list):
        return None
    if name in arguments and _is_same(value, arguments[name]):
        return name
    if not _is_telling(value):
        return None
    return next((argument for argument, known in arguments.items() if _is_same(value, known)), None)


def _is_same(value: JsonValue, known: JsonValue) -> bool:
    return isinstance(value, str) is isinstance(known, str) and not isinstance(known, bool) and equal(value, known)


def _is_telling(value: JsonValue) -> bool:
    if isinstance(value, str):
        return len(value) >= _MIN_SHARED_CHARACTERS
    return isinstance(value, int | Decimal) and not -_MIN_SHARED_NUMBER < value < _MIN_SHARED_NUMBER


def _placeholder(argument: str) -> str:
    return "{{arguments." + argument + "}}"


def _blank(character: str) -> str:
    if character.isdecimal():
        return "0"
    if character.isascii():
        return character if not character.isalpha() else ("X" if character.isupper() else "x")
    return "某" if character.isalpha() else character
