"""The naming rule holds for every message of the five protos."""

from types import ModuleType
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor

from taoloop.api.v1 import action_pb2, loop_pb2, observation_pb2, thought_pb2, types_pb2
from taoloop.core import faults
from taoloop.plan import acting, answering, effects, model, observing, running, task, thinking
from taoloop.plan.running import handovers
from taoloop.wire.records.record_plan import record_plan

_RECORDS = (task, model, thinking, acting, effects, observing, answering, running, handovers, faults)
_PROTOS: tuple[ModuleType, ...] = (types_pb2, thought_pb2, action_pb2, observation_pb2, loop_pb2)
_MESSAGES: tuple[Descriptor, ...] = tuple(
    message for proto in _PROTOS for message in proto.DESCRIPTOR.message_types_by_name.values()
)


def _record_class(name: str) -> Any:
    return next(getattr(module, name) for module in _RECORDS if hasattr(module, name))


@pytest.mark.parametrize("message", _MESSAGES, ids=lambda message: str(message.name))
def test_message_and_record_cover_each_other(message: Descriptor) -> None:
    plan = record_plan(_record_class(message.name), message)
    assert {field.wire_name for field in plan.fields} == set(message.fields_by_name)


def test_there_is_something_to_cover() -> None:
    assert len(_MESSAGES) > 80


def test_message_field_without_record_field_is_refused() -> None:
    with pytest.raises(TypeError, match="no record field role"):
        record_plan(model.Literal, types_pb2.Turn.DESCRIPTOR)


def test_record_field_without_message_field_is_refused() -> None:
    with pytest.raises(TypeError, match=r"nothing for Turn\.\['role'\]"):
        record_plan(task.Turn, thought_pb2.Literal.DESCRIPTOR)


def test_plan_is_compiled_once() -> None:
    first = record_plan(task.Turn, types_pb2.Turn.DESCRIPTOR)
    assert record_plan(task.Turn, types_pb2.Turn.DESCRIPTOR) is first
