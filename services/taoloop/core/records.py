"""Frozen records that are made as fast as others."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any, Final, TypeVar

RecordT = TypeVar("RecordT")

_set: Final = object.__setattr__


def quickly_made(record: type[RecordT]) -> type[RecordT]:
    """Return a frozen dataclass with slots whose constructor costs less than half.

    A frozen dataclass sets each field by a call, `object.__setattr__`. Here a new record is for a moment of a class
    with the same slots that is not frozen, so that its fields are set by plain assignments. Signature, defaults and
    everything else stay. For records of many fields that are made for every call.

    >>> from dataclasses import dataclass
    >>> @quickly_made
    ... @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1)
    Point(x=1, y=0)
    """
    known = fields(record)  # type: ignore[arg-type]  # it is a dataclass, which no type of today says of a class
    if any(field.default_factory is not MISSING or not field.init for field in known):
        raise TypeError(f"{record.__name__} has a field that is not plain")
    draft = draft_of(record)
    if draft is None:
        raise TypeError(f"{record.__name__} is not a frozen dataclass with slots of its own alone")
    constants = {f"_{field.name}": field.default for field in known}
    body = "\n".join(f"    self.{field.name} = {field.name}" for field in known)
    text = (
        f"def __init__({_signature(known)}):\n    set_(self, '__class__', draft)\n{body}\n    self.__class__ = record\n"
    )
    made: dict[str, Any] = {}
    exec(text, {"set_": _set, "draft": draft, "record": record, **constants}, made)  # noqa: S102 - as dataclasses do
    made["__init__"].__qualname__ = f"{record.__qualname__}.__init__"
    made["__init__"].__annotations__ = record.__init__.__annotations__
    record.__init__ = made["__init__"]  # type: ignore[method-assign]
    return record


def draft_of(record: type) -> type | None:
    """Return a class whose objects have the slots of a record and are not frozen: set the fields, then the class.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: int
    >>> point = draft_of(Point)()
    >>> point.x = 1
    >>> point.__class__ = Point
    >>> point
    Point(x=1)

    Returns:
        None for a class of which no objects can be made in this way: one without slots, that inherits some, or that
        does more at the end of its constructor.
    """
    names = tuple(field.name for field in fields(record))
    if hasattr(record, "__post_init__"):
        return None
    draft = type(f"{record.__name__}Draft", (), {"__slots__": names})
    try:
        draft().__class__ = record
    except TypeError:
        return None
    return draft


def _signature(known: tuple[Field[Any], ...]) -> str:
    """Return the parameters of the constructor, those with names alone at the end."""
    plain = [_parameter(field) for field in known if not field.kw_only]
    named = [_parameter(field) for field in known if field.kw_only]
    return ", ".join(["self", *plain, *(["*", *named] if named else [])])


def _parameter(field: Field[Any]) -> str:
    return field.name if field.default is MISSING else f"{field.name}=_{field.name}"
