"""Rules of frozen records that are made quickly."""

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import get_type_hints

import pytest

from taoloop.core.records import draft_of, quickly_made


@quickly_made
@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0
    name: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class Slow:
    x: int
    y: int = 0
    name: str = field(default="", kw_only=True)


def test_a_record_is_made_as_before() -> None:
    assert Point(1, 2, name="a") == Point(x=1, y=2, name="a")
    assert repr(Point(1)) == "Point(x=1, y=0, name='')"
    assert hash(Point(1)) == hash(Point(1))
    assert type(Point(1)) is Point
    assert str(inspect.signature(Point)) == str(inspect.signature(Slow)).replace("Slow", "Point")
    assert get_type_hints(Point.__init__) == get_type_hints(Slow.__init__)
    assert [each.name for each in fields(Point)] == ["x", "y", "name"]


def test_it_is_frozen_and_has_no_other_attributes() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    assert not hasattr(point, "__dict__")


def test_it_is_copied_replaced_and_pickled() -> None:
    point = Point(1, 2, name="a")
    assert replace(point, y=3) == Point(1, 3, name="a")
    assert copy.deepcopy(point) == point
    assert pickle.loads(pickle.dumps(point)) == point


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, 2, "a")  # type: ignore[call-arg]


def test_a_field_that_is_not_plain_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Listed:
        items: list[int] = field(default_factory=list)

    with pytest.raises(TypeError, match="Listed"):
        quickly_made(Listed)


@dataclass(frozen=True, slots=True)
class _Inheriting(Slow):
    z: int = 0


@dataclass(frozen=True)
class _WithoutSlots:
    x: int


@dataclass(frozen=True, slots=True)
class _Checked:
    x: int

    def __post_init__(self) -> None:
        assert self.x


@pytest.mark.parametrize("record", [Point, Slow])
def test_a_draft_becomes_a_record(record: type) -> None:
    draft_class = draft_of(record)
    assert draft_class is not None
    draft = draft_class()
    draft.x, draft.y, draft.name = 1, 2, "a"
    draft.__class__ = record
    assert draft == record(1, 2, name="a")
    with pytest.raises(FrozenInstanceError):
        draft.x = 2


@pytest.mark.parametrize("record", [_Inheriting, _WithoutSlots, _Checked])
def test_a_record_that_no_draft_can_become_has_none(record: type) -> None:
    assert draft_of(record) is None
