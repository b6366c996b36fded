"""Records survive the way to the wire and back; what does not fit is named field by field."""

import types
import typing
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Any

import pytest
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taoloop.api.v1 import action_pb2, loop_pb2, observation_pb2, thought_pb2, types_pb2
from taoloop.core.errors import InvalidRequest
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest
from taoloop.plan.effects import ListEffectsRequest
from taoloop.plan.model import Binding, QuerySpan, RequestClock, StatePath
from taoloop.plan.observing import ObservationResult, ObserveBatchRequest, ObserveResponse
from taoloop.plan.running import RunEvent, RunRequest
from taoloop.plan.task import Permissions, Role, Task, Turn
from taoloop.plan.thinking import CheckPlanRequest, ThinkRequest, ThinkResponse
from taoloop.tools.signature import Effect, Trust
from taoloop.wire.records.codec import RecordNotEncodable, decode, encode, encode_in

_MOMENT = datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=UTC)

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_numbers = st.integers() | st.decimals(min_value=-(10**6), max_value=10**6, places=2)
_json = st.recursive(
    st.none() | st.booleans() | _numbers | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=4,
)
_LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: _text,
    bool: st.booleans(),
    int: st.integers(min_value=-(2**31), max_value=2**31 - 1),
    float: st.floats(allow_nan=False),
    bytes: st.binary(max_size=8),
    Json: _json | st.just(ABSENT),
    datetime: st.datetimes(timezones=st.just(UTC)),
    types.NoneType: st.none(),
}


@cache
def _values(hint: Any, name: str) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of one record field."""
    if name.endswith("_seconds") and hint != types.NoneType:
        return st.none() | st.integers(min_value=-(10**9), max_value=10**9).map(lambda value: value / 1000)
    if hint in _LEAVES:
        return _LEAVES[hint]
    if typing.get_origin(hint) is tuple:
        return st.lists(_values(typing.get_args(hint)[0], ""), max_size=2).map(tuple)
    if isinstance(hint, types.UnionType):
        return st.one_of(*[_values(part, "") for part in typing.get_args(hint)])
    if issubclass(hint, StrEnum):
        return st.sampled_from(list(hint))
    return st.deferred(lambda: _records(hint))


@cache
def _records(record_class: Any) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(record_class)
    if record_class is ActionResult:  # a oneof of scalars: at most one of the two
        return _plain_records(record_class, hints).map(_with_one_payload)
    if record_class is CheckPlanRequest:
        return _plain_records(record_class, hints | {"plan_text": types.NoneType})
    return _plain_records(record_class, hints)


def _plain_records(record_class: Any, hints: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.builds(record_class, **{f.name: _values(hints[f.name], f.name) for f in fields(record_class)})


def _with_one_payload(result: ActionResult) -> ActionResult:
    values = {f.name: getattr(result, f.name) for f in fields(result)}
    return ActionResult(**(values | {"raw": None if result.parsed is not ABSENT else result.raw}))


_PAIRS: tuple[tuple[type, type[Message]], ...] = (
    (ThinkRequest, thought_pb2.ThinkRequest),
    (ThinkResponse, thought_pb2.ThinkResponse),
    (CheckPlanRequest, thought_pb2.CheckPlanRequest),
    (ExecuteRequest, action_pb2.ExecuteRequest),
    (ObserveBatchRequest, observation_pb2.ObserveBatchRequest),
    (ObservationResult, observation_pb2.ObservationResult),
    (RunRequest, loop_pb2.RunRequest),
    (RunEvent, loop_pb2.RunEvent),
)


@pytest.mark.parametrize(("record_class", "message_class"), _PAIRS, ids=lambda pair: pair.__name__)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_every_record_survives_the_wire(record_class: type, message_class: type[Message], data: st.DataObject) -> None:
    record = data.draw(_records(record_class))
    raw = encode(record, message_class).SerializeToString()
    assert decode(record_class, message_class.FromString(raw)) == record


def test_exact_values_survive() -> None:
    state: JsonValue = {"order_id": 12345678901234567, "price": Decimal("0.10"), "none": None}
    message = encode(Task(state=state), loop_pb2.Task)
    assert message.state_json == '{"order_id":12345678901234567,"price":0.10,"none":null}'
    read = decode(Task, message)
    assert str(read.state["price"]) == "0.10"  # type: ignore[index,call-overload]


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}])
def test_empty_json_values_are_not_absent(value: Any) -> None:
    message = encode(Task(state=value), loop_pb2.Task)
    assert message.state_json
    assert decode(Task, message).state == value


def test_absent_json_is_the_empty_text() -> None:
    assert encode(Task(), loop_pb2.Task).state_json == ""
    assert decode(Task, loop_pb2.Task()).state is ABSENT


def test_message_without_fields_in_a_oneof_is_set() -> None:
    message = encode(Binding(pointer="/at", source=RequestClock()), thought_pb2.Binding)
    assert message.WhichOneof("source") == "request_clock"
    assert decode(Binding, message).source == RequestClock()


def test_empty_bytes_of_a_oneof_are_set() -> None:
    result = ActionResult(step_id="1.a", tool="t", status=ActionStatus.FAILED, raw=b"")
    message = encode(result, action_pb2.ActionResult)
    assert message.WhichOneof("payload") == "raw"
    assert decode(ActionResult, message) == result


def test_duration_of_zero_is_not_unset() -> None:
    message = encode(
        ExecuteRequest(run_id="r", step_id="1.a", tool="t", timeout_seconds=0.0), action_pb2.ExecuteRequest
    )
    assert message.HasField("timeout")
    assert decode(ExecuteRequest, message).timeout_seconds == 0.0


def test_unspecified_enum_reads_as_the_default() -> None:
    assert decode(Permissions, types_pb2.Permissions()).max_effect is Effect.READ
    assert decode(ListEffectsRequest, action_pb2.ListEffectsRequest()).state is None
    assert decode(ObservationResult, observation_pb2.ObservationResult()).trust is Trust.UNTRUSTED


def test_codes_and_stages_of_a_fault_are_plain_text() -> None:
    fault = Fault(FaultCode.NO_TOOL, FaultStage.PLAN, "no tool", retry_after_seconds=0.25)
    assert decode(Fault, encode(fault, types_pb2.Fault)) == fault
    foreign = types_pb2.Fault(code="SOLD_OUT", stage="elsewhere", message="m")
    assert decode(Fault, foreign).stage == "elsewhere"


def test_malformed_json_is_refused_with_its_path() -> None:
    message = loop_pb2.RunRequest(task=loop_pb2.Task(state_json='{"a":1,"a":2}'))
    with pytest.raises(InvalidRequest) as caught:
        decode(RunRequest, message)
    assert caught.value.metadata["field"] == "task.state_json"
    assert caught.value.reason == "INVALID_REQUEST"
    assert [found.field for found in caught.value.violations] == ["task.state_json"]


def test_every_field_at_fault_is_named_at_once() -> None:
    turns = [
        types_pb2.Turn(role=types_pb2.ROLE_USER, text="a"),
        types_pb2.Turn(text="b"),
        types_pb2.Turn(role=9, text="c"),  # type: ignore[arg-type]
    ]
    message = loop_pb2.Task(turns=turns, output_schema_json="{", reference_time=Timestamp(nanos=-1))
    with pytest.raises(InvalidRequest) as caught:
        decode(Task, message)
    assert [(found.field, found.description.split(" at ")[0]) for found in caught.value.violations] == [
        ("turns[1].role", "must be set"),
        ("turns[2].role", "has the unknown value 9"),
        ("reference_time", "is not a valid timestamp"),
        ("output_schema_json", "EOF while parsing an object"),
    ]


def test_refusal_does_not_quote_the_payload() -> None:
    with pytest.raises(InvalidRequest) as caught:
        decode(Task, loop_pb2.Task(state_json='{"password": "hunter2", }'))
    assert "hunter2" not in str(caught.value)


def test_missing_moment_is_named() -> None:
    with pytest.raises(InvalidRequest, match="time must be set"):
        decode(RunEvent, loop_pb2.RunEvent(run_id="r", sequence=1))


def test_a_record_in_a_field_is_what_the_record_of_the_whole_is() -> None:
    verdict = ObservationResult(step_id="1.a", tool="t", valid=True, data={"price": Decimal("0.10")})
    whole = encode(ObserveResponse(result=verdict), observation_pb2.ObserveResponse)
    assert encode_in(observation_pb2.ObserveResponse, "result", verdict, observation_pb2.ObservationResult) == whole
    broken = ObservationResult(step_id="1.a", valid=True, data=float("nan"))
    with pytest.raises(RecordNotEncodable, match="data_json"):
        encode_in(observation_pb2.ObserveResponse, "result", broken, observation_pb2.ObservationResult)


@pytest.mark.parametrize(
    ("record", "message_class", "field"),
    [
        (Task(state=float("nan")), loop_pb2.Task, "state_json"),
        (RunRequest(task=Task(seed=1 << 70)), loop_pb2.RunRequest, "task.seed"),
        (Task(turns=(Turn(role=Role.USER, text="\ud800"),)), loop_pb2.Task, "turns[0].text"),
        (Task(reference_time=datetime(2026, 1, 1)), loop_pb2.Task, "reference_time"),  # noqa: DTZ001
        (Binding(pointer="/a", source=Turn(role=Role.USER, text="")), thought_pb2.Binding, "query_span"),  # type: ignore[arg-type]
        (Task(turns=(StatePath(pointer=""),)), loop_pb2.Task, "turns[0]"),  # type: ignore[arg-type]
    ],
)
def test_value_that_the_message_cannot_carry_is_named(record: Any, message_class: type[Message], field: str) -> None:
    with pytest.raises(RecordNotEncodable) as caught:
        encode(record, message_class)
    assert [found.field for found in caught.value.violations] == [field]


def test_zero_of_a_required_number_is_read() -> None:
    span = QuerySpan(start=0, end=0, text="")
    assert decode(QuerySpan, encode(span, thought_pb2.QuerySpan)) == span
