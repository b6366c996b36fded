"""Rules of what stands in for a call that failed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from taoloop.action.executor import Executor
from taoloop.action.ports import Reply, TransportFault
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionResult, ActionStatus, ServedBy
from taoloop.plan.task import Permissions
from taoloop.testing.clock import FakeClock
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from taoloop.testing.transport import Answer, ScriptedTransport, json_reply
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import Cache, ConsecutiveBreaker, Fallback, ToolContract
from taoloop.tools.signature import Trust
from tests.unit.action.calls import contract
from tests.unit.action.contracts import CHANGE, HEARSAY, LOOK_UP, context, request, telemetry

OK = json_reply({"id": 2})
BUSY = json_reply({}, 503)
DOWN = TransportFault(FaultCode.TOOL_UNREACHABLE, "Nobody listens.", may_have_left=False, is_retriable=True)


def named(base: ToolContract, name: str, **changes: Any) -> ToolContract:
    return contract(base, name=name, **changes)


class Bench:
    """An executor over these tools."""

    def __init__(self, tools: Iterable[ToolContract], answers: Iterable[Answer]) -> None:
        self.clock = FakeClock(is_impatient=True)
        self.transport = ScriptedTransport(answers)
        self.telemetry = telemetry()
        ledger = InMemoryEffectLedger(self.clock)
        self.executor = Executor(Catalogue.of(tools), self.transport, ledger, self.telemetry, self.clock)

    async def run(self, tool: str = "first", **changes: Any) -> ActionResult:
        return await self.executor.execute(request(tool, **changes), context(self.clock))

    def called(self) -> list[str]:
        return [call.contract.name for call in self.transport.calls]

    def counted(self, outcome: str) -> bool:
        line = f'taoloop_fallbacks_total{{outcome="{outcome}",tool="first"}} 1.0'
        return line in self.telemetry.metrics.exposition()


def chain(length: int, base: ToolContract = LOOK_UP) -> list[ToolContract]:
    names = ["first", *(f"other{number}" for number in range(1, length))]
    following = [*(Fallback(tool=name) for name in names[1:]), None]
    return [named(base, name, fallback=fallback) for name, fallback in zip(names, following, strict=True)]


def ended(result: ActionResult) -> tuple[ActionStatus, str]:
    return result.status, result.fault.code if result.fault is not None else ""


async def test_a_good_answer_needs_no_stand_in() -> None:
    bench = Bench(chain(2), [OK])
    assert (await bench.run()).served_by is ServedBy.PRIMARY
    assert bench.called() == ["first"]


async def test_the_fallback_s_answer_is_the_result_and_says_so() -> None:
    tools = [chain(2)[0], named(HEARSAY, "other1")]
    bench = Bench(tools, [BUSY, OK])
    result = await bench.run()
    assert ended(result) == (ActionStatus.SUCCEEDED, "")
    assert (result.served_by, result.tool, result.served_by_tool) == (ServedBy.FALLBACK, "first", "other1")
    assert (result.parsed, result.trust) == ({"id": 2}, Trust.UNTRUSTED)
    assert result.contract_digest == tools[1].digest
    assert [made.code for made in result.attempts] == [503, 200]
    assert bench.counted("answered")


@pytest.mark.parametrize(
    "reply",
    [json_reply({}, 400), json_reply({}, 422), json_reply({}, 404), json_reply({"error": "gone"}, 503)],
)
async def test_a_refusal_goes_back_to_whoever_asked(reply: Reply) -> None:
    bench = Bench(chain(2), [reply])
    assert (await bench.run()).status is ActionStatus.FAILED
    assert bench.called() == ["first"]


async def test_an_open_breaker_leads_to_the_fallback_at_once() -> None:
    first, other = chain(2)
    bench = Bench([replace(first, breaker=ConsecutiveBreaker(failures=1)), other], [BUSY, OK, OK])
    assert (await bench.run()).served_by is ServedBy.FALLBACK
    result = await bench.run()
    assert (result.served_by, len(result.attempts)) == (ServedBy.FALLBACK, 1)
    assert bench.called() == ["first", "other1", "other1"]


async def test_a_chain_is_followed_to_its_end() -> None:
    bench = Bench(chain(4), [BUSY, BUSY, BUSY, OK])
    result = await bench.run()
    assert (result.served_by, result.served_by_tool, len(result.attempts)) == (ServedBy.FALLBACK, "other3", 4)


async def test_a_chain_has_at_most_three_stand_ins() -> None:
    bench = Bench(chain(6), [BUSY] * 4)
    result = await bench.run()
    assert ended(result) == (ActionStatus.FAILED, FaultCode.FALLBACK_FAILED)
    assert bench.called() == ["first", "other1", "other2", "other3"]


async def test_a_circle_ends_where_it_began() -> None:
    first, other = chain(2)
    bench = Bench([first, replace(other, fallback=Fallback(tool="first"))], [BUSY, BUSY])
    assert ended(await bench.run()) == (ActionStatus.FAILED, FaultCode.FALLBACK_FAILED)


async def test_when_both_fail_a_person_is_to_decide() -> None:
    bench = Bench(chain(2), [BUSY, DOWN])
    result = await bench.run()
    assert ended(result) == (ActionStatus.FAILED, FaultCode.FALLBACK_FAILED)
    assert result.fault is not None
    assert "UPSTREAM_UNAVAILABLE" in result.fault.message
    assert "TOOL_UNREACHABLE" in result.fault.message
    assert "person" in result.fault.suggestion
    assert not result.fault.retriable
    assert result.status_code == 503
    assert bench.counted("failed")


async def test_arguments_are_made_by_the_template_and_checked_by_the_fallback_s_own_contract() -> None:
    other = named(LOOK_UP, "other")
    template = {"key": "k-{key}", "colour": "red", "size": "{size}"}
    first = named(LOOK_UP, "first", fallback=Fallback(tool="other", arguments=template))
    bench = Bench([first, other], [BUSY, OK])
    assert (await bench.run()).served_by is ServedBy.FALLBACK
    assert bench.transport.calls[1].arguments == {"key": "k-abc", "colour": "red"}
    wrong = replace(first, fallback=Fallback(tool="other", arguments={"key": "x"}))
    refused = Bench([wrong, other], [BUSY])
    result = await refused.run()
    assert ended(result) == (ActionStatus.FAILED, FaultCode.FALLBACK_FAILED)
    assert result.fault is not None
    assert FaultCode.INVALID_PARAMETER in result.fault.message


async def test_permissions_hold_for_the_fallback_too() -> None:
    bench = Bench(chain(2), [BUSY])
    result = await bench.run(permissions=Permissions(allowed_tools=("first",)))
    assert result.fault is not None
    assert FaultCode.TOOL_NOT_ALLOWED in result.fault.message


async def test_a_fallback_that_writes_is_recorded_and_its_step_gets_the_same_result_again() -> None:
    bench = Bench(chain(2, CHANGE), [DOWN, OK])
    first = await bench.run()
    assert (first.status, first.served_by) == (ActionStatus.SUCCEEDED, ServedBy.FALLBACK)
    again = await bench.run()
    assert (again.status, again.served_by, again.parsed) == (ActionStatus.SUCCEEDED, ServedBy.DUPLICATE, {"id": 2})
    assert ended(await bench.run(iteration=2, step_id="2.t1")) == (ActionStatus.REJECTED, FaultCode.REPEATED_WRITE)
    assert bench.called() == ["first", "other1"]


async def test_a_write_that_may_have_happened_has_no_stand_in() -> None:
    bench = Bench(chain(2, CHANGE), [BUSY])
    assert (await bench.run()).status is ActionStatus.OUTCOME_UNKNOWN
    assert bench.called() == ["first"]


@pytest.mark.parametrize("answer", [BUSY, Reply(status_code=202)])
async def test_a_fallback_that_may_have_written_leaves_the_outcome_unknown(answer: Reply) -> None:
    result = await Bench(chain(2, CHANGE), [DOWN, answer]).run()
    assert ended(result) == (ActionStatus.OUTCOME_UNKNOWN, FaultCode.OUTCOME_UNKNOWN)
    assert (result.served_by_tool, result.job_handle) == ("other1", ABSENT)


async def test_a_read_that_is_only_accepted_is_no_answer() -> None:
    result = await Bench(chain(2), [BUSY, Reply(status_code=202)]).run()
    assert ended(result) == (ActionStatus.FAILED, FaultCode.FALLBACK_FAILED)
    assert result.fault is not None
    assert "pending" in result.fault.message


async def test_the_last_good_answer_stands_in_when_nothing_else_does() -> None:
    first, other = chain(2)
    bench = Bench([replace(first, cache=Cache(last_good_seconds=3600.0)), other], [OK, BUSY, BUSY, BUSY, BUSY])
    await bench.run()
    bench.clock.advance(3000.0)
    result = await bench.run(step_id="1.t2")
    assert ended(result) == (ActionStatus.SUCCEEDED, "")
    assert (result.served_by, result.served_by_tool, result.age_seconds) == (ServedBy.CACHE, "", 3000.0)
    assert [made.code for made in result.attempts] == [503]
    assert bench.counted("last_good")
    bench.clock.advance(700.0)
    assert ended(await bench.run(step_id="1.t3")) == (ActionStatus.FAILED, FaultCode.FALLBACK_FAILED)


async def test_the_last_good_answer_serves_without_a_fallback_too() -> None:
    bench = Bench([named(LOOK_UP, "first", cache=Cache(last_good_seconds=60.0))], [OK, DOWN])
    await bench.run()
    assert (await bench.run()).served_by is ServedBy.CACHE


async def test_a_fallback_s_own_cached_answer_says_that_it_is_one() -> None:
    first, other = chain(2)
    bench = Bench([first, replace(other, cache=Cache(ttl_seconds=60.0))], [OK, BUSY])
    await bench.run("other1")
    bench.clock.advance(10.0)
    result = await bench.run()
    assert (result.served_by, result.served_by_tool, result.age_seconds) == (ServedBy.CACHE, "other1", 10.0)


async def test_a_fresh_answer_spares_the_call() -> None:
    bench = Bench([named(LOOK_UP, "first", cache=Cache(ttl_seconds=60.0))], [OK])
    assert (await bench.run()).served_by is ServedBy.PRIMARY
    result = await bench.run(step_id="1.t2")
    assert (result.served_by, result.parsed, result.step_id) == (ServedBy.CACHE, {"id": 2}, "1.t2")


async def test_a_cancelled_stand_in_is_cancelled() -> None:
    bench = Bench(chain(2), [BUSY])
    entered = asyncio.Event()

    async def hang(_call: object) -> Reply:
        entered.set()
        await asyncio.Event().wait()
        raise AssertionError

    bench.transport.then(hang)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(bench.run())
        await entered.wait()
        task.cancel()
    assert task.cancelled()
    assert "Fallbacks(CachedReads" in repr(bench.executor._fallbacks)
    assert repr(bench.executor).startswith("Executor(tools=2, guard=")
