"""Rules of what answers, their absence and limits mean."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from taoloop.action import faulting
from taoloop.action.policies.limiter import ShedReason
from taoloop.action.ports import Reply, TransportFault
from taoloop.core.faults import FaultCode
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import RETRY_CONDITIONS
from tests.unit.action.contracts import LOOK_UP

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TOOL = CompiledTool.compile(LOOK_UP)
PLAIN = CompiledTool.compile(replace(LOOK_UP, errors=()))


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(status_code=200), None),
        (Reply(status_code=100), FaultCode.TOOL_PROTOCOL_FAULT),
        (Reply(status_code=301), FaultCode.TOOL_PROTOCOL_FAULT),
        (Reply(status_code=200, failure="It says that it failed."), FaultCode.TOOL_ERROR),
        (Reply(status_code=503, failure="The method failed."), FaultCode.TOOL_ERROR),
    ],
)
def test_an_answer_is_judged_by_its_status_and_by_what_its_protocol_says(reply: Reply, code: str | None) -> None:
    verdict = faulting.judge_reply(PLAIN, reply, None, NOW)
    assert (verdict.fault.code if verdict is not None else None) == code


@pytest.mark.parametrize("text", [None, b'{"error": "gone"}'])
def test_a_rule_judges_the_body_whether_its_text_is_at_hand_or_not(text: bytes | None) -> None:
    fault = faulting.known_error(TOOL, 200, {"error": "gone"}, text)
    assert fault is not None
    assert fault.code == "THING_GONE"
    assert faulting.known_error(TOOL, 200, {"error": "none"}, text and b'{"error":"none"}') is None
    locked = faulting.known_error(TOOL, 409, None, None)
    assert locked is not None
    assert (locked.code, locked.retriable) == ("THING_LOCKED", True)


def test_the_contract_s_errors_come_first() -> None:
    verdict = faulting.judge_reply(TOOL, Reply(status_code=500), {"error": "gone"}, NOW)
    assert verdict is not None
    assert (verdict.fault.code, verdict.failure.is_declared, verdict.is_certain) == ("THING_GONE", True, True)


def test_every_condition_of_a_contract_s_retry_has_a_fault_behind_it() -> None:
    assert set(faulting._KINDS.values()) == RETRY_CONDITIONS


@pytest.mark.parametrize("code", list(FaultCode))
def test_only_transport_errors_count_against_a_tool(code: FaultCode) -> None:
    counts = faulting.has_failed(TransportFault(code, "It broke.", may_have_left=True))
    broken = {"TOOL_TIMEOUT", "TOOL_UNREACHABLE", "RESPONSE_INCOMPLETE", "TOOL_PROTOCOL_FAULT"}
    assert counts is (True if code in broken else None)


@pytest.mark.parametrize(
    ("status", "verdict"), [(200, False), (299, False), (302, None), (404, None), (429, None), (500, True), (599, True)]
)
def test_a_status_says_whether_the_tool_works(status: int, verdict: bool | None) -> None:
    assert faulting.has_failed(Reply(status_code=status)) is verdict


@pytest.mark.parametrize("reason", list(ShedReason))
def test_the_limit_that_shed_a_call_is_named(reason: ShedReason) -> None:
    fault = faulting.limiter_shed("look_up", reason)
    assert fault.field == ("" if reason is ShedReason.DEADLINE else f"/spec/limiter/{reason}")


def test_a_limit_passes_the_longest_wait_on() -> None:
    cause = replace(faulting.action_fault(FaultCode.RATE_LIMITED, "Later."), retry_after_seconds=60.0)
    assert faulting.stopped_by(faulting.breaker_open("look_up", 30.0), cause).retry_after_seconds == 60.0
    assert (
        faulting.stopped_by(faulting.retry_budget_exhausted("look_up"), faulting.no_time()).retry_after_seconds is None
    )
