"""Rules of executing one call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from prometheus_client import REGISTRY

from taoloop.action.executor import Executor
from taoloop.action.ledger.approvals import Decision
from taoloop.action.ports import Reply, TransportFault
from taoloop.core.errors import CatalogueInvalid, RequestIdReused
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionStatus, ServedBy
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.task import Permissions, TaintedEffects
from taoloop.testing.transport import json_reply
from taoloop.tools.contract import Approval, Cache
from taoloop.tools.signature import Effect, Trust
from tests.unit.action.contracts import LOOK_UP, catalogue, telemetry
from tests.unit.action.executing import OK, Bench, outcome

REFUSING = Permissions(max_effect=Effect.WRITE, tainted_effects=TaintedEffects.REFUSE)


async def test_a_good_answer_is_one_envelope() -> None:
    bench = Bench(OK)
    result = await bench.run()
    assert outcome(result) == (ActionStatus.SUCCEEDED, "")
    assert (result.parsed, result.status_code, result.served_by) == ({"id": 1}, 200, ServedBy.PRIMARY)
    assert (result.tool, result.step_id, result.trust) == ("look_up", "1.t1", Trust.TRUSTED)
    assert [(attempt.outcome, attempt.code) for attempt in result.attempts] == [("answered", 200)]
    assert len(result.arguments_hash) == len(result.contract_digest) == 64


async def test_the_trust_of_the_contract_travels_with_the_result() -> None:
    assert (await Bench(OK).run("hearsay")).trust is Trust.UNTRUSTED


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"tool": "nothing"}, FaultCode.UNKNOWN_TOOL),
        ({"arguments": {"key": "ab"}}, FaultCode.INVALID_PARAMETER),
        ({"arguments": ABSENT}, FaultCode.INVALID_PARAMETER),
        ({"tool": "change", "permissions": None}, FaultCode.EFFECT_NOT_ALLOWED),
        ({"permissions": Permissions(allowed_tools=("change",))}, FaultCode.TOOL_NOT_ALLOWED),
        ({"tool": "change", "tainted_context": True, "permissions": REFUSING}, FaultCode.TAINTED_SOURCE),
        ({"tool": "send_out", "tainted_context": True, "permissions": REFUSING}, FaultCode.TAINTED_SOURCE),
    ],
)
async def test_a_refused_call_never_reaches_the_tool(changes: dict[str, Any], code: str) -> None:
    bench = Bench()
    assert outcome(await bench.run(**changes)) == (ActionStatus.REJECTED, code)
    assert bench.transport.calls == []
    assert await bench.states() == []


@pytest.mark.parametrize("tool", ["change", "send_out"])
async def test_a_tainted_call_waits_for_leave_and_is_made_once_with_it(tool: str) -> None:
    bench = Bench(OK, OK)
    asked = await bench.run(tool, tainted_context=True, tainted_by=("1.t1",))
    assert outcome(asked) == (ActionStatus.APPROVAL_REQUIRED, FaultCode.APPROVAL_REQUIRED)
    assert asked.approval_reason == "Untrusted text (1.t1) may have shaped this call."
    assert bench.transport.calls == []
    yes = Decision(approval_id=asked.approval_id, decision=ApprovalDecision.APPROVED, decided_by="ana")
    await bench.ledger.approvals.decide("acme", yes)
    made = await bench.run(tool, tainted_context=True, tainted_by=("1.t1",), request_id="again")
    assert made.status is ActionStatus.SUCCEEDED
    other = await bench.run(tool, tainted_context=True, arguments={"key": "other"}, request_id="other")
    assert other.status is ActionStatus.APPROVAL_REQUIRED
    assert len(bench.transport.calls) == 1


@pytest.mark.parametrize("tool", ["change", "send_out"])
async def test_a_tainted_call_is_made_where_that_is_allowed(tool: str) -> None:
    allowing = Permissions(max_effect=Effect.WRITE, tainted_effects=TaintedEffects.ALLOW)
    result = await Bench(OK).run(tool, tainted_context=True, permissions=allowing)
    assert outcome(result) == (ActionStatus.SUCCEEDED, "")


async def test_a_tainted_read_that_stays_inside_asks_nobody() -> None:
    assert outcome(await Bench(OK).run(tainted_context=True)) == (ActionStatus.SUCCEEDED, "")


async def test_another_catalogue_is_an_error_of_the_call() -> None:
    with pytest.raises(CatalogueInvalid) as raised:
        await Bench().run(catalogue_digest="0" * 64)
    assert raised.value.reason == "CATALOGUE_MISMATCH"


@pytest.mark.parametrize(
    ("reply", "code", "is_retriable"),
    [
        (json_reply({}, 404), FaultCode.NOT_FOUND, False),
        (json_reply({}, 400), FaultCode.UPSTREAM_REFUSED, False),
        (json_reply({}, 429), FaultCode.RATE_LIMITED, True),
        (json_reply({}, 500), FaultCode.UPSTREAM_UNAVAILABLE, True),
        (json_reply({}, 504), FaultCode.UPSTREAM_UNAVAILABLE, True),
        (json_reply({}, 302), FaultCode.TOOL_PROTOCOL_FAULT, False),
        (json_reply({"error": "gone"}, 410), "THING_GONE", False),
        (json_reply({"error": "gone"}, 200), "THING_GONE", False),
        (json_reply({}, 409), "THING_LOCKED", True),
        (Reply(status_code=404), FaultCode.NOT_FOUND, False),
        (Reply(status_code=200, content_type="text/html", body=b"<p>"), FaultCode.RESPONSE_MALFORMED, False),
    ],
)
async def test_a_bad_answer_to_a_read_is_a_failure_with_its_code(reply: Reply, code: str, is_retriable: bool) -> None:
    result = await Bench(reply).run()
    assert outcome(result) == (ActionStatus.FAILED, code)
    assert result.fault is not None
    assert result.fault.retriable is is_retriable
    assert result.status_code == reply.status_code


async def test_a_suggestion_of_the_contract_is_kept() -> None:
    result = await Bench(json_reply({"error": "gone"}, 410)).run()
    assert result.fault is not None
    assert result.fault.suggestion == "Look for another."


async def test_the_wait_that_a_tool_asks_for_is_told() -> None:
    limited = json_reply({}, 429, retry_after="1.5")
    result = await Bench(limited).run()
    assert result.fault is not None
    assert result.fault.retry_after_seconds == 2.0


async def test_an_accepted_job_is_pending() -> None:
    assert (await Bench(Reply(status_code=202)).run()).status is ActionStatus.PENDING


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (
            TransportFault(FaultCode.TOOL_TIMEOUT, "slow", may_have_left=True, is_retriable=True),
            (ActionStatus.TIMED_OUT, FaultCode.TOOL_TIMEOUT),
        ),
        (
            TransportFault(FaultCode.TOOL_UNREACHABLE, "down", may_have_left=False, is_retriable=True),
            (ActionStatus.FAILED, FaultCode.TOOL_UNREACHABLE),
        ),
        (RuntimeError("a defect"), (ActionStatus.FAILED, FaultCode.TOOL_PROTOCOL_FAULT)),
    ],
)
async def test_no_whole_answer_to_a_read_is_one_envelope(failure: Exception, expected: tuple[str, str]) -> None:
    result = await Bench(failure).run()
    assert outcome(result) == expected
    assert result.attempts[0].outcome == expected[1]
    assert result.fault is not None
    assert "a defect" not in result.fault.message


async def test_the_smallest_time_limit_counts() -> None:
    bench = Bench(OK, OK, OK)
    await bench.run()
    await bench.run(timeout_seconds=1.0)
    await bench.run(seconds=0.5)
    assert [call.timeout_seconds for call in bench.transport.calls] == [2.0, 1.0, 0.5]


async def test_a_call_without_time_is_not_made() -> None:
    bench = Bench()
    assert outcome(await bench.run(seconds=0.0)) == (ActionStatus.TIMED_OUT, FaultCode.DEADLINE_EXCEEDED)
    assert bench.transport.calls == []


async def test_a_read_with_the_same_request_id_returns_the_first_result() -> None:
    bench = Bench(OK, json_reply({"id": 2}))
    first = await bench.run(request_id="q1")
    again = await bench.run(request_id="q1")
    other = await bench.run(request_id="q2")
    assert (first.parsed, again.parsed, other.parsed) == ({"id": 1}, {"id": 1}, {"id": 2})
    assert again.served_by is ServedBy.DUPLICATE


@pytest.mark.parametrize("tool", ["look_up", "change"])
async def test_a_request_id_with_another_body_is_refused(tool: str) -> None:
    bench = Bench(OK)
    await bench.run(tool, request_id="q1")
    with pytest.raises(RequestIdReused):
        await bench.run(tool, request_id="q1", arguments={"key": "other"})
    assert len(bench.transport.calls) == 1


async def test_a_read_without_an_id_is_made_each_time() -> None:
    bench = Bench(OK, OK)
    await bench.run()
    await bench.run()
    assert len(bench.transport.calls) == 2


async def test_calls_are_counted_by_tool_and_status_and_unknown_names_make_no_label() -> None:
    bench = Bench(OK)
    await bench.run()
    await bench.run("invented")
    shown = bench.telemetry.metrics.exposition()
    assert 'taoloop_action_calls_total{status="succeeded",tool="look_up"} 1.0' in shown
    assert 'taoloop_action_calls_total{status="rejected",tool="unknown"} 1.0' in shown
    assert "invented" not in shown
    assert "taoloop_action_calls" not in {metric.name for metric in REGISTRY.collect()}


async def test_the_thought_or_else_the_request_is_what_the_tool_sees() -> None:
    bench = Bench(OK, OK)
    await bench.run()
    await bench.run(thought_id="", request_id="q1")
    assert [call.thought_id for call in bench.transport.calls] == ["2" * 32, "q1"]


async def test_a_read_that_waits_for_leave_is_asked_about_anew_by_its_repeat() -> None:
    bench = Bench()
    asked = replace(LOOK_UP, name="ask", approval=Approval(), document={"name": "ask"})
    bench.executor = Executor(catalogue(None, asked), bench.transport, bench.ledger, bench.telemetry, bench.clock)
    first = await bench.run("ask", request_id="q1")
    again = await bench.run("ask", request_id="q1")
    assert (first.status, again.status) == (ActionStatus.APPROVAL_REQUIRED, ActionStatus.APPROVAL_REQUIRED)
    assert again.served_by is not ServedBy.DUPLICATE
    assert again.approval_id == first.approval_id


async def test_a_read_from_the_cache_that_is_asked_for_twice_by_one_id_is_a_duplicate() -> None:
    bench = Bench(OK)
    kept = replace(LOOK_UP, name="kept", cache=Cache(ttl_seconds=60.0), document={"name": "kept"})
    bench.executor = Executor(catalogue(None, kept), bench.transport, bench.ledger, bench.telemetry, bench.clock)
    first = await bench.run("kept", request_id="q1")
    again = await bench.run("kept", request_id="q1")
    other = await bench.run("kept", request_id="q2")
    assert [result.served_by for result in (first, again, other)] == [
        ServedBy.PRIMARY,
        ServedBy.DUPLICATE,
        ServedBy.CACHE,
    ]
    assert first.parsed == again.parsed == other.parsed == {"id": 1}
    assert len(bench.transport.calls) == 1


async def test_a_call_that_is_not_traced_is_counted_all_the_same() -> None:
    bench = Bench(OK)
    bench.telemetry = telemetry(sample_ratio=0.0)
    bench.executor = Executor(catalogue(), bench.transport, bench.ledger, bench.telemetry, bench.clock)
    assert outcome(await bench.run()) == (ActionStatus.SUCCEEDED, "")
    assert 'taoloop_action_calls_total{status="succeeded",tool="look_up"} 1.0' in bench.telemetry.metrics.exposition()
