"""A reader takes what the message has, and the record's default for all else."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pytest

from taoloop.api.v1 import action_pb2, thought_pb2, types_pb2
from taoloop.core.errors import InvalidRequest
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.model import QuerySpan
from taoloop.plan.task import TaintedEffects
from taoloop.wire.records.codec import decode, encode


class _Effect(StrEnum):
    READ = "read"
    IDEMPOTENT_WRITE = "idempotent_write"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class _Permissions:
    max_effect: _Effect = _Effect.WRITE
    allowed_tools: tuple[str, ...] = ("all",)
    tainted_effects: TaintedEffects | None = None


@dataclass(frozen=True)
class _QuerySpanWithoutSlots:
    turn: int
    start: int
    end: int
    text: str = "nothing"


@dataclass(frozen=True, slots=True)
class _MadeAnew:
    max_effect: _Effect = _Effect.READ
    allowed_tools: tuple[str, ...] = field(default_factory=tuple)
    tainted_effects: TaintedEffects | None = None


def test_what_the_message_lacks_is_the_records_default() -> None:
    assert decode(_Permissions, types_pb2.Permissions()) == _Permissions(_Effect.WRITE, ("all",))
    message = types_pb2.Permissions(max_effect=types_pb2.EFFECT_READ, allowed_tools=["a"])
    assert decode(_Permissions, message) == _Permissions(_Effect.READ, ("a",))


def test_a_default_that_is_made_anew_each_time_is_refused() -> None:
    with pytest.raises(TypeError, match="allowed_tools becomes a field whose default is made anew"):
        decode(_MadeAnew, types_pb2.Permissions())


def test_a_record_without_slots_is_read_too() -> None:
    message = thought_pb2.QuerySpan(start=2)
    assert decode(_QuerySpanWithoutSlots, message) == _QuerySpanWithoutSlots(0, 2, 0, "nothing")


def test_a_record_that_was_read_is_as_frozen_as_others() -> None:
    read = decode(QuerySpan, thought_pb2.QuerySpan(start=2))
    assert type(read) is QuerySpan
    with pytest.raises(AttributeError):
        read.start = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("payload", "parsed", "raw"),
    [
        ({}, "ABSENT", None),
        ({"parsed_json": ""}, "ABSENT", None),
        ({"parsed_json": "0"}, "0", None),
        ({"raw": b""}, "ABSENT", b""),
    ],
)
def test_of_a_oneof_of_scalars_the_one_that_is_set_is_read(payload: Any, parsed: str, raw: bytes | None) -> None:
    message = action_pb2.ActionResult(status=action_pb2.ACTION_STATUS_FAILED, **payload)
    read = decode(ActionResult, message)
    assert (repr(read.parsed), read.raw) == (parsed, raw)


def test_an_enum_that_must_be_set_and_is_not_is_named() -> None:
    with pytest.raises(InvalidRequest) as caught:
        decode(ActionResult, action_pb2.ActionResult())
    assert [(found.field, found.description) for found in caught.value.violations] == [("status", "must be set")]


def test_reading_leaves_the_message_as_it_is() -> None:
    message = encode(ActionResult(step_id="1.a", tool="t", status=ActionStatus.SUCCEEDED), action_pb2.ActionResult)
    before = message.SerializeToString()
    decode(ActionResult, message)
    assert message.SerializeToString() == before
