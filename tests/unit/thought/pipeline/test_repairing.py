"""Asking again: with the faults, as often as is allowed, and only while a whole reply would come in time."""

from __future__ import annotations

import logging

import pytest

from taoloop.core.faults import FaultCode
from taoloop.models.ports import ModelFailed, ModelFailureKind, Role, TokenUsage
from taoloop.thought.pipeline.repairing import MAX_SAID_CHARACTERS, RETRY_SKIPPED, RepairRules, Tried
from tests.unit.thought.pipeline.rig import AWAY, BAD, EMPTY, GOOD, TIMEOUT_SECONDS, Rig, Said, reply
from tests.unit.thought.pipeline.test_asking import question


async def tried(rig: Rig, *replies: Said, seconds: float = 60.0) -> Tried:
    parts = rig.parts(list(replies))
    return await parts.repairing.plan(parts.models[0], question(), rig.deadline(seconds))


async def test_a_good_plan_is_asked_for_once() -> None:
    rig = Rig()

    result = await tried(rig, GOOD)

    assert result.last.expansion is not None
    assert len(rig.chats[0].requests) == 1
    assert "taoloop_thought_repairs_total{" not in rig.shown()


async def test_the_model_sees_its_reply_and_every_fault_and_nothing_before_it_changes() -> None:
    rig = Rig()

    result = await tried(rig, BAD, GOOD)

    first, second = rig.chats[0].requests
    assert second.messages[:2] == first.messages
    said, told = second.messages[2:]
    assert (said.role, said.content) == (Role.ASSISTANT, BAD)
    assert told.role is Role.USER
    assert "There is no tool '99'." in told.content
    assert (first.attempt, second.attempt) == (1, 2)
    assert result.last.expansion is not None
    assert 'taoloop_thought_repairs_total{outcome="repaired"} 1.0' in rig.shown()
    assert rig.span("thought repair")["taoloop.fault.code"] == "UNKNOWN_TOOL"


async def test_after_more_than_two_failures_in_a_row_the_next_planner_takes_over() -> None:
    rig = Rig()

    result = await tried(rig, BAD)

    assert len(rig.chats[0].requests) == 3
    assert [fault.code for fault in result.last.faults] == [FaultCode.UNKNOWN_TOOL]
    assert len(rig.chats[0].requests[2].messages) == 6
    assert 'taoloop_thought_retry_skipped_total{reason="attempts"} 1.0' in rig.shown()
    assert 'taoloop_thought_repairs_total{outcome="refused"} 2.0' in rig.shown()


@pytest.mark.parametrize(("seconds", "calls"), [(TIMEOUT_SECONDS + 0.5, 2), (TIMEOUT_SECONDS + 0.49, 1)])
async def test_a_model_is_asked_again_only_when_its_own_timeout_and_half_a_second_remain(
    seconds: float, calls: int
) -> None:
    rig = Rig()

    await tried(rig, BAD, GOOD, seconds=seconds)

    assert len(rig.chats[0].requests) == calls


async def test_time_that_the_first_reply_took_counts() -> None:
    rig = Rig(reply_seconds=9.6)

    await tried(rig, BAD, GOOD, seconds=20.0)

    assert len(rig.chats[0].requests) == 1


async def test_a_retry_without_time_is_an_event_and_a_counter(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig()
    parts = rig.parts([BAD])
    with (
        caplog.at_level(logging.INFO),
        rig.telemetry.tracing.span("plan model"),
    ):
        await parts.repairing.plan(parts.models[0], question(), rig.deadline(3.0))

    (span,) = [one for one in rig.exporter.get_finished_spans() if one.name == "plan model"]
    assert [event.name for event in span.events] == [RETRY_SKIPPED] == ["retry_skipped_insufficient_deadline"]
    assert 'taoloop_thought_retry_skipped_total{reason="insufficient_deadline"} 1.0' in rig.shown()
    assert RETRY_SKIPPED in caplog.text


async def test_repair_that_is_switched_off_asks_once() -> None:
    rig = Rig(repair=RepairRules(is_on=False))

    await tried(rig, BAD, GOOD)

    assert len(rig.chats[0].requests) == 1
    assert 'taoloop_thought_retry_skipped_total{reason="switched_off"} 1.0' in rig.shown()


@pytest.mark.parametrize("kind", list(ModelFailureKind))
async def test_a_failed_call_is_not_repeated(kind: ModelFailureKind) -> None:
    rig = Rig()

    result = await tried(rig, ModelFailed(kind, "It failed."), GOOD)

    assert result.last.failure is kind
    assert len(rig.chats[0].requests) == 1


async def test_a_call_that_fails_in_a_repair_ends_it() -> None:
    rig = Rig()

    result = await tried(rig, BAD, ModelFailed(ModelFailureKind.TIMEOUT, "Late."), GOOD)

    assert result.last.failure is ModelFailureKind.TIMEOUT
    assert len(rig.chats[0].requests) == 2
    assert 'taoloop_thought_repairs_total{outcome="timeout"} 1.0' in rig.shown()


async def test_a_fault_that_is_final_is_not_told() -> None:
    rig = Rig(repair=RepairRules(final=frozenset({FaultCode.EMPTY_PLAN})))

    result = await tried(rig, EMPTY, GOOD)

    assert [fault.code for fault in result.last.faults] == [FaultCode.EMPTY_PLAN]
    assert len(rig.chats[0].requests) == 1


async def test_what_all_attempts_took_is_added_up() -> None:
    rig = Rig(reply_seconds=0.25)

    result = await tried(rig, reply(BAD, usage=TokenUsage(100, 10)), reply(GOOD, usage=TokenUsage(150, 12, 100)))

    assert (result.usage.input_tokens, result.usage.output_tokens) == (250, 22)
    assert (result.usage.cached_input_tokens, result.usage.model_calls) == (100, 2)
    assert result.usage.model_time_seconds == 0.5


async def test_of_a_long_reply_a_model_is_shown_the_beginning() -> None:
    rig = Rig()

    await tried(rig, "x" * 100_000, GOOD)

    shown = rig.chats[0].requests[1].messages[2].content
    assert shown == "x" * MAX_SAID_CHARACTERS + "…"


async def test_faults_of_a_plan_are_kept_when_its_repair_gets_no_reply() -> None:
    result = await tried(Rig(), BAD, AWAY)

    assert result.last.faults == ()
    assert [fault.code for fault in result.faults] == [FaultCode.UNKNOWN_TOOL]
