"""Reading of one JSON object field by field, with every fault collected instead of the first one raised."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeVar

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")

_KINDS: Final = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null", int: "integer"}
_MAX_INTEGER: Final = 2**31 - 1


class FaultList:
    """Faults of a form in the making."""

    def __init__(self) -> None:
        self.found: list[Fault] = []

    def add(
        self, place: str, message: str, *, code: FaultCode = FaultCode.INVALID_PLAN, expected: Json = ABSENT,
        actual: Json = ABSENT, candidates: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """Record a fault at a place of the JSON form."""
        self.found.append(
            Fault(
                code=code,
                stage=FaultStage.PLAN,
                message=message,
                field=place,
                expected=expected,
                actual=actual,
                suggestion=code.remedy,
                candidates=candidates,
            )
        )


class Fields:
    """The members of one object.

    Each reader takes a member's canonical name, also finds it under an alias, and returns the default beside a
    fault when the member has another type.
    """

    def __init__(
        self, value: JsonValue, place: str, faults: FaultList, aliases: Mapping[str, str] | None = None
    ) -> None:
        self.place = place
        self.faults = faults
        self._members: dict[str, JsonValue] = {}
        self._spelling: dict[str, str] = {}
        self._asked: set[str] = set()
        if isinstance(value, dict):
            self._take(value, aliases or {})
        else:
            self._wrong(place, "object", value, None)

    def place_of(self, name: str) -> str:
        """Return the pointer of a member under the canonical name."""
        return self.place + pointers.join(name)

    def raw(self, name: str) -> Json:
        """Return the member as it is, ABSENT when there is none."""
        self._asked.add(name)
        return self._members.get(name, ABSENT)

    def text(self, name: str, *, is_required: bool = False) -> str:
        """Return a string; the empty one when the member is missing."""
        value = self._present(name, is_required=is_required)
        if value is ABSENT:
            return ""
        return value if isinstance(value, str) else self._wrong(self.place_of(name), "string", value, "")

    def boolean(self, name: str) -> bool:
        """Return a boolean; False when the member is missing."""
        value = self.raw(name)
        if value is ABSENT:
            return False
        return value if isinstance(value, bool) else self._wrong(self.place_of(name), "boolean", value, False)

    def count(self, name: str, *, is_required: bool = False) -> int:
        """Return an integer from 0; 0 when the member is missing."""
        value = self._present(name, is_required=is_required)
        if value is ABSENT:
            return 0
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_INTEGER:
            return value
        return self._wrong(self.place_of(name), "integer from 0", value, 0)

    def number(self, name: str) -> float | None:
        """Return a number as a float; None when the member is missing."""
        value = self.raw(name)
        if value is ABSENT:
            return None
        if value is None or isinstance(value, bool | str | list | dict):
            return self._wrong(self.place_of(name), "number", value, None)
        return float(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return an array of strings; the empty tuple when the member is missing."""
        result: list[str] = []
        for index, item in enumerate(self.items(name)):
            if isinstance(item, str):
                result.append(item)
            else:
                self._wrong(self.place_of(name) + pointers.join(index), "string", item, "")
        return tuple(result)

    def items(self, name: str, *, is_required: bool = False) -> list[JsonValue]:
        """Return an array; the empty list when the member is missing."""
        value = self._present(name, is_required=is_required)
        if value is ABSENT:
            return []
        return value if isinstance(value, list) else self._wrong(self.place_of(name), "array", value, [])

    def member(self, name: str, aliases: Mapping[str, str] | None = None) -> Fields | None:
        """Return the members of an object; None when the member is missing."""
        value = self.raw(name)
        if isinstance(value, Absent):
            return None
        return Fields(value, self.place_of(name), self.faults, aliases)

    def choice(self, name: str, kind: type[E], default: E) -> E:
        """Return a member of an enumeration by its value."""
        text = self.text(name, is_required=True)
        try:
            return kind(text)
        except ValueError:
            if text:
                names = tuple(member.value for member in kind)
                self.faults.add(self.place_of(name), "The word is not one of those that are known.",
                                actual=text, candidates=names)  # fmt: skip
            return default

    def finish(self) -> None:
        """Record a fault for every member that no reader asked for."""
        known = tuple(sorted(self._asked))
        for name in self._members:
            if name not in self._asked:
                near = tuple(difflib.get_close_matches(name, known, n=3))
                place = self.place + pointers.join(self._spelling[name])
                self.faults.add(place, f"There is no field {name!r} here.", candidates=near)

    def _take(self, value: dict[str, JsonValue], aliases: Mapping[str, str]) -> None:
        for spelling, member in value.items():
            name = aliases.get(spelling, spelling)
            if name in self._members:
                message = f"The field {name!r} is given twice, under two names."
                self.faults.add(self.place + pointers.join(spelling), message)
                continue
            self._members[name] = member
            self._spelling[name] = spelling

    def _present(self, name: str, *, is_required: bool) -> Json:
        value = self.raw(name)
        if value is ABSENT and is_required:
            self.faults.add(self.place_of(name), f"The field {name!r} is missing.")
        return value

    def _wrong(self, place: str, expected: str, actual: Json, default: T) -> T:
        kind = _KINDS.get(type(actual), "number")
        self.faults.add(place, f"The value is not of the kind {expected}.", expected=expected, actual=kind)
        return default
