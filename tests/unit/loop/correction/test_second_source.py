"""What holds of a step after a second source was asked for the same."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.correction.machine import Reaction
from taoloop.loop.correction.second_source import second_step, verdict
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.model import Binding, PlanStep, StatePath
from taoloop.plan.observing import ConfidenceLevel, ObservationResult
from taoloop.tools.schemas import CompiledSchema

BROKEN = Fault(code=FaultCode.RULE_FAILED, stage=FaultStage.OBSERVATION, message="It cannot be.")


def record(step_id: str, tool: str, exposed: JsonValue, confidence: float, *, valid: bool = True) -> StepRecord:
    level = ConfidenceLevel.HIGH if confidence > 0.7 else ConfidenceLevel.LOW
    observation = ObservationResult(
        step_id=step_id,
        tool=tool,
        valid=valid,
        data=exposed,
        exposed=exposed,
        confidence=confidence,
        confidence_level=level,
        fault=None if valid else BROKEN,
    )
    return StepRecord(step_id, tool, observation=observation)


def judged(
    first: StepRecord, second: StepRecord | None, reaction: Reaction = Reaction.CROSS_CHECK
) -> ObservationResult:
    found = verdict(first, second, reaction)
    assert (found.step_id, found.tool) == ("1.t1", "a")
    return found


def first(exposed: JsonValue, confidence: float = 0.4, *, valid: bool = True) -> StepRecord:
    return record("1.t1", "a", exposed, confidence, valid=valid)


def second(exposed: JsonValue, confidence: float = 0.9, *, valid: bool = True) -> StepRecord:
    return record("1.t1-second", "b", exposed, confidence, valid=valid)


def test_the_other_tool_is_called_with_the_sources_that_it_takes() -> None:
    bindings = tuple(Binding(pointer=f"/{name}", source=StatePath(pointer=f"/{name}")) for name in ("x", "y"))
    step = PlanStep(
        step_id="1.t1", tool="a", bindings=bindings, depends_on=("1.t0",), timeout_seconds=2.0, projection="p"
    )
    schema: Any = {"type": "object", "properties": {"y": {"type": "string"}, "z": {"type": "string"}}}

    made = second_step(step, "b", CompiledSchema.compile(schema))

    assert (made.step_id, made.tool, made.timeout_seconds) == ("1.t1-second", "b", 2.0)
    assert [binding.pointer for binding in made.bindings] == ["/y"]
    assert (made.depends_on, made.projection, made.optional) == ((), "", False)


@pytest.mark.parametrize("other", [None, second({"n": 1}, valid=False), StepRecord("1.t1-second", "b", skipped=BROKEN)])
@pytest.mark.parametrize("reaction", [Reaction.FALLBACK, Reaction.CROSS_CHECK])
def test_a_source_that_brings_nothing_changes_nothing(other: StepRecord | None, reaction: Reaction) -> None:
    found = judged(first({"n": 1}, 0.0, valid=False), other, reaction)

    assert (found.valid, found.fault, found.exposed) == (False, BROKEN, {"n": 1})


def test_a_fallbacks_result_serves_whatever_the_first_one_said() -> None:
    found = judged(first({"n": 1}, 0.0, valid=False), second({"n": 2}), Reaction.FALLBACK)

    assert (found.valid, found.data, found.source_detail) == (True, {"n": 2}, "b stands in")


def test_of_two_that_agree_the_more_certain_serves() -> None:
    surer = judged(first({"n": 1, "x": 0}), second({"n": 1, "y": 0}))
    less_sure = judged(first({"n": 1, "x": 0}), second({"n": 1, "y": 0}, 0.2))

    assert (surer.exposed, surer.confidence) == ({"n": 1, "y": 0}, 0.9)
    assert (less_sure.exposed, less_sure.confidence) == ({"n": 1, "x": 0}, 0.4)
    assert surer.source_detail == less_sure.source_detail == "b says the same of /n"


def test_two_that_disagree_are_set_aside_with_fields_and_values() -> None:
    found = judged(first({"n": 1, "m": [1], "x": 0}), second({"n": 2, "m": [2], "x": 0}))

    assert (found.valid, found.execution_permitted, found.confidence_level) == (False, False, ConfidenceLevel.LOW)
    assert found.fault is not None
    assert found.fault.code == FaultCode.SOURCES_DISAGREE
    assert found.fault.message == "a and b disagree on /n: 1 and 2; /m: [1] and [2]."
    assert found.fault.actual == {"/n": {"a": 1, "b": 2}, "/m": {"a": [1], "b": [2]}}


def test_a_long_value_is_cut_in_the_sentence_and_whole_in_the_data() -> None:
    found = judged(first({"n": "x" * 500}), second({"n": "y" * 500}))

    assert found.fault is not None
    assert len(found.fault.message) < 300
    assert found.fault.actual == {"/n": {"a": "x" * 500, "b": "y" * 500}}


def test_two_that_have_nothing_in_common_confirm_nothing() -> None:
    doubtful = judged(first({"n": 1}), second({"m": 1}))
    broken = judged(first({"n": 1}, 0.0, valid=False), second({"m": 1}))

    assert (doubtful.exposed, doubtful.confidence_level) == ({"n": 1}, ConfidenceLevel.LOW)
    assert (broken.valid, broken.exposed, broken.source_detail) == (True, {"m": 1}, "b stands in")
