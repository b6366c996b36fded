"""Rules of executing one call."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from prometheus_client import REGISTRY

from taoloop.action.executor import Executor
from taoloop.action.ledger.effects import EffectQuery, Resolution
from taoloop.action.ports import Reply, ToolCall, TransportFault
from taoloop.core.errors import BackendUnavailable, CatalogueInvalid, RequestIdReused
from taoloop.core.exact_json import ABSENT, digest
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionResult, ActionStatus, ServedBy
from taoloop.plan.effects import EffectState
from taoloop.plan.task import Permissions
from taoloop.testing.clock import FakeClock
from taoloop.testing.effect_ledger import InMemoryEffectLedger, StoredEffects
from taoloop.testing.transport import Answer, ScriptedTransport, json_reply
from taoloop.tools.contract import Approval, HttpTransport, ToolContract
from taoloop.tools.signature import Trust
from tests.unit.action.contracts import CHANGE, LOOK_UP, SEND_OUT, catalogue, context, request, telemetry

OK = json_reply({"id": 1})


class Bench:
    """An executor on doubles."""

    def __init__(self, *answers: Answer, store: StoredEffects | None = None) -> None:
        self.clock = FakeClock(is_impatient=True)
        self.store = StoredEffects() if store is None else store
        self.transport = ScriptedTransport(answers)
        self.ledger = InMemoryEffectLedger(self.clock, self.store)
        self.telemetry = telemetry()
        self.executor = Executor(catalogue(), self.transport, self.ledger, self.telemetry, self.clock)

    async def run(self, tool: str = "look_up", *, seconds: float = 10.0, **changes: Any) -> ActionResult:
        return await self.executor.execute(request(tool, **changes), context(self.clock, seconds))

    async def states(self) -> list[EffectState]:
        return [effect.state for effect in await self.ledger.list("acme", EffectQuery())]


class Hanging:
    """An answer that never comes."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()

    async def __call__(self, _call: ToolCall) -> Reply:
        self.entered.set()
        await asyncio.Event().wait()
        raise AssertionError


def outcome(result: ActionResult) -> tuple[ActionStatus, str]:
    return result.status, result.fault.code if result.fault is not None else ""


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
        ({"tool": "change", "tainted_context": True}, FaultCode.TAINTED_SOURCE),
    ],
)
async def test_a_refused_call_never_reaches_the_tool(changes: dict[str, Any], code: str) -> None:
    bench = Bench()
    assert outcome(await bench.run(**changes)) == (ActionStatus.REJECTED, code)
    assert bench.transport.calls == []
    assert await bench.states() == []


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


async def test_a_write_is_recorded_before_it_leaves_and_after_it_came_back() -> None:
    seen: list[list[EffectState]] = []
    bench = Bench()

    async def look(_call: ToolCall) -> Reply:
        seen.append(await bench.states())
        return OK

    bench.transport.then(look)
    result = await bench.run("change")
    assert seen == [[EffectState.STARTED]]
    assert await bench.states() == [EffectState.SUCCEEDED]
    assert result.effect_id == (await bench.ledger.list("acme", EffectQuery()))[0].effect_id


async def test_a_read_leaves_no_trace_in_the_ledger() -> None:
    bench = Bench(OK)
    await bench.run()
    assert await bench.states() == []


async def test_the_same_step_gets_the_recorded_result() -> None:
    bench = Bench(OK)
    first = await bench.run("change")
    second = await bench.run("change")
    assert second.served_by is ServedBy.DUPLICATE
    assert (second.status, second.parsed, second.effect_id) == (first.status, first.parsed, first.effect_id)
    assert len(bench.transport.calls) == 1


@pytest.mark.parametrize("changes", [{"iteration": 2, "step_id": "2.t1"}, {"step_id": "1.t2"}])
async def test_another_step_does_not_write_again(changes: dict[str, Any]) -> None:
    bench = Bench(OK)
    await bench.run("change")
    repeated = await bench.run("change", **changes)
    assert outcome(repeated) == (ActionStatus.REJECTED, FaultCode.REPEATED_WRITE)
    assert len(bench.transport.calls) == 1


async def test_numbers_that_are_equal_make_the_same_write() -> None:
    bench = Bench(OK)
    await bench.run("change", arguments={"key": "abc", "size": 1})
    repeated = await bench.run("change", arguments={"size": 1.0, "key": "abc"}, step_id="1.t2")
    assert outcome(repeated) == (ActionStatus.REJECTED, FaultCode.REPEATED_WRITE)


@pytest.mark.parametrize(
    "answer",
    [
        TransportFault(FaultCode.TOOL_TIMEOUT, "slow", may_have_left=True, is_retriable=True),
        TransportFault(FaultCode.RESPONSE_INCOMPLETE, "cut", may_have_left=True, received=Reply(status_code=200)),
        RuntimeError("a defect"),
        json_reply({}, 500),
        json_reply({}, 504),
        json_reply({}, 302),
        json_reply({}, 408),
        Reply(status_code=200, content_type="application/json", body=b'{"id"'),
    ],
)
async def test_a_write_that_may_have_taken_effect_is_unknown_and_never_sent_again(answer: Answer) -> None:
    bench = Bench(answer)
    result = await bench.run("change")
    assert outcome(result) == (ActionStatus.OUTCOME_UNKNOWN, FaultCode.OUTCOME_UNKNOWN)
    assert result.fault is not None
    assert not result.fault.retriable
    assert await bench.states() == [EffectState.UNKNOWN]
    again = await bench.run("change")
    assert (again.status, again.served_by) == (ActionStatus.OUTCOME_UNKNOWN, ServedBy.DUPLICATE)
    assert len(bench.transport.calls) == 1


@pytest.mark.parametrize(
    "answer",
    [
        TransportFault(FaultCode.TOOL_UNREACHABLE, "down", may_have_left=False, is_retriable=True),
        TransportFault(FaultCode.CREDENTIAL_MISSING, "no token", may_have_left=False),
        TransportFault(FaultCode.RESPONSE_TOO_LARGE, "big", may_have_left=True, received=Reply(status_code=400)),
        json_reply({}, 400),
        json_reply({}, 429),
        json_reply({}, 409),
    ],
)
async def test_a_write_that_surely_took_no_effect_may_be_sent_again(answer: Answer) -> None:
    bench = Bench(answer, OK)
    assert (await bench.run("change")).status is ActionStatus.FAILED
    bench.clock.advance(1)
    assert (await bench.run("change", iteration=2, step_id="2.t1")).status is ActionStatus.SUCCEEDED
    assert await bench.states() == [EffectState.SUCCEEDED, EffectState.FAILED]


async def test_a_write_begun_by_a_process_that_died_is_unknown() -> None:
    store = StoredEffects()
    died = Bench(store=store)

    hang = Hanging()
    died.transport.then(hang)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(died.run("change"))
        await hang.entered.wait()
        await died.ledger.leave()
        survivor = Bench(store=store)
        result = await survivor.run("change")
        assert await survivor.states() == [EffectState.UNKNOWN]
        task.cancel()
    assert outcome(result) == (ActionStatus.OUTCOME_UNKNOWN, FaultCode.OUTCOME_UNKNOWN)
    assert survivor.transport.calls == []


async def test_a_write_that_was_cancelled_is_unknown() -> None:
    bench = Bench()

    hang = Hanging()
    bench.transport.then(hang)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(bench.run("change"))
        await hang.entered.wait()
        task.cancel()
    assert task.cancelled()
    assert await bench.states() == [EffectState.UNKNOWN]


async def test_two_callers_of_one_write_share_one_attempt() -> None:
    bench = Bench(OK)
    results = await asyncio.gather(*(bench.run("change") for _ in range(5)))
    assert [result.status for result in results] == [ActionStatus.SUCCEEDED] * 5
    assert sum(result.served_by is ServedBy.PRIMARY for result in results) == 1
    assert len(bench.transport.calls) == 1


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


async def test_a_settled_write_is_not_made_again_by_its_step() -> None:
    bench = Bench(json_reply({}, 500))
    result = await bench.run("change")
    await bench.ledger.resolve("acme", Resolution(effect_id=result.effect_id, took_place=True, resolved_by="ana"))
    again = await bench.run("change")
    assert outcome(again) == (ActionStatus.REJECTED, FaultCode.REPEATED_WRITE)


async def test_a_write_does_not_leave_while_the_ledger_is_down() -> None:
    bench = Bench()
    bench.ledger.is_down = True
    with pytest.raises(BackendUnavailable):
        await bench.run("change")
    assert bench.transport.calls == []


async def test_a_result_is_given_though_its_record_was_lost_and_its_repeat_is_unknown() -> None:
    bench = Bench()

    async def answer_as_the_store_fails(_call: ToolCall) -> Reply:
        bench.ledger.is_down = True
        return OK

    bench.transport.then(answer_as_the_store_fails)
    assert (await bench.run("change")).status is ActionStatus.SUCCEEDED
    bench.ledger.is_down = False
    assert (await bench.run("change")).status is ActionStatus.OUTCOME_UNKNOWN
    assert await bench.states() == [EffectState.UNKNOWN]
    assert len(bench.transport.calls) == 1


PAYLOAD = "<b>Hello</b><script>steal()</script>"


def showing(base: ToolContract) -> ToolContract:
    """Return the contract with a parameter whose text the tool shows as HTML."""
    text = {"type": "string", "minLength": 3, "x-taoloop-content": "html"}
    parameters = {"type": "object", "required": ["body"], "properties": {"body": text}}
    way = HttpTransport(method="POST", url="{{base.things}}/shown")
    return replace(base, name="show", parameters=parameters, transport=way, document={"name": "show"})


class ShowBench(Bench):
    """An executor with the tool `show`."""

    def __init__(self, base: ToolContract, *answers: Answer) -> None:
        super().__init__(*answers)
        tools = catalogue(None, showing(base))
        self.executor = Executor(tools, self.transport, self.ledger, self.telemetry, self.clock)

    async def show(self, text: str, **changes: Any) -> ActionResult:
        return await self.run("show", arguments={"body": text}, **changes)


@pytest.mark.parametrize("base", [CHANGE, SEND_OUT], ids=["writes", "outward"])
async def test_a_text_that_others_see_is_sent_harmless_and_the_result_says_so(base: ToolContract) -> None:
    bench = ShowBench(base, OK)
    result = await bench.show(PAYLOAD)
    assert outcome(result) == (ActionStatus.SUCCEEDED, "")
    assert [call.arguments for call in bench.transport.calls] == [{"body": "<b>Hello</b>"}]
    assert result.sanitised == ("/body",)
    assert result.arguments_hash == digest({"body": PAYLOAD})


async def test_the_same_unsafe_write_is_still_the_same_write() -> None:
    bench = ShowBench(CHANGE, OK)
    first = await bench.show(PAYLOAD)
    again = await bench.show(PAYLOAD)
    assert again == replace(first, served_by=ServedBy.DUPLICATE, total_time_seconds=again.total_time_seconds)
    assert len(bench.transport.calls) == 1


async def test_a_text_that_is_safe_is_sent_as_it_is() -> None:
    bench = ShowBench(CHANGE, OK)
    assert (await bench.show("Hello")).sanitised == ()


async def test_a_read_inside_sends_what_it_was_given() -> None:
    bench = ShowBench(LOOK_UP, OK)
    assert (await bench.show(PAYLOAD)).sanitised == ()
    assert [call.arguments for call in bench.transport.calls] == [{"body": PAYLOAD}]


async def test_a_text_of_which_nothing_safe_is_left_is_refused_before_the_ledger() -> None:
    bench = ShowBench(CHANGE)
    result = await bench.show("<script>steal()</script>")
    assert outcome(result) == (ActionStatus.REJECTED, FaultCode.INVALID_PARAMETER)
    assert result.fault is not None
    assert result.fault.field == "/body"
    assert bench.transport.calls == []
    assert await bench.states() == []


async def test_a_read_that_waits_for_leave_is_asked_about_anew_by_its_repeat() -> None:
    bench = Bench()
    asked = replace(LOOK_UP, name="ask", approval=Approval(), document={"name": "ask"})
    bench.executor = Executor(catalogue(None, asked), bench.transport, bench.ledger, bench.telemetry, bench.clock)
    first = await bench.run("ask", request_id="q1")
    again = await bench.run("ask", request_id="q1")
    assert (first.status, again.status) == (ActionStatus.APPROVAL_REQUIRED, ActionStatus.APPROVAL_REQUIRED)
    assert again.served_by is not ServedBy.DUPLICATE
    assert again.approval_id == first.approval_id
