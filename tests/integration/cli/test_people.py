"""`taoloop approvals` and `taoloop handovers` against running services: asked, warned, lapsed, handed over, settled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.faults import FaultCode
from taoloop.core.settings import GrpcSettings
from taoloop.core.telemetry import names
from taoloop.plan.running import ApprovalExpiring, RunEvent, RunSummary
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.testing.stack import DevStack, StackOptions, dev_stack
from taoloop.wire.clients import LoopClient, loop_client
from tests.e2e.processes import CATALOGUE
from tests.integration.cli.commands import command

TASK = Task(turns=(Turn(role=Role.USER, text="订单 20260308000012345 的快递到哪里了？"),))
GUARDED = '{"===": [{"var": "tool"}, "get_shipment"]}'
CLOCK = SystemClock()


class Stack:
    """A running stack and a client of its loop."""

    def __init__(self, running: DevStack, loop: LoopClient) -> None:
        self.running = running
        self.loop = loop
        self.call = CallContext(deadline=Deadline.after(60.0, CLOCK))

    async def begin(self) -> RunSummary:
        """Start the run, and return it once it rests."""
        run_id = (await self.loop.submit(TASK, self.call)).run_id
        return await self.at_rest(run_id, 1)

    async def at_rest(self, run_id: str, sequence: int) -> RunSummary:
        """Return a run once it rests."""
        _ = [event async for event in self.loop.watch(run_id, sequence, self.call)]
        return await self.loop.get_run(run_id, self.call)

    async def until(self, run_id: str, outcome: Outcome) -> list[RunEvent]:
        """Follow a run through its waits until it stands so."""
        seen: list[RunEvent] = []
        async for event in self.loop.watch(run_id, 1, self.call, through_waits=True):
            seen.append(event)
            if getattr(event.body, "outcome", None) is outcome:
                return seen
        return seen

    async def run(self, *arguments: str, code: int = 0) -> str:
        """Run a command and return what it prints."""
        where = ["--address", self.running.loop_address]
        if arguments[0] == "approvals":
            where = ["--address", self.running.action_address]
            where += ["--loop-address", self.running.loop_address] if arguments[1] != "list" else []
        ended, out, err = await command(*arguments, *where)
        assert ended == code, out + err
        return out + err

    async def show_without_loop(self, approval_id: str, loop_address: str) -> str:
        """Return what is shown of an approval while nobody serves at the loop's address."""
        where = ("--address", self.running.action_address, "--loop-address", loop_address, "--deadline", "2")
        ended, out, err = await command("approvals", "show", approval_id, *where)
        assert ended == 0, out + err
        return out

    def counted(self, **labels: str) -> float:
        """Return how many handovers came to something."""
        value: float = self.running.telemetry.metrics.counter(names.HANDOVERS).labels(**labels)._value.get()
        return value


@pytest.fixture
async def stack(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stack]:
    """Give a stack whose operator is asked about one tool, with settings of the loop and of approvals."""
    approval: Mapping[str, Any] = {"when": GUARDED, **request.param.get("approval", {})}
    settings = {"action": {"approval": approval}, "loop": {"people": request.param.get("people", {})}}
    options = StackOptions(catalogue=CATALOGUE, data_directory=tmp_path, settings=settings)
    async with (
        dev_stack(options) as running,
        loop_client(running.loop_address, GrpcSettings(), running.telemetry) as loop,
    ):
        yield Stack(running, loop)


@pytest.fixture
async def mute() -> AsyncIterator[str]:
    """Give an address that takes connections and never says a word."""
    gone = asyncio.Event()

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await gone.wait()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        yield f"{host}:{port}"
        gone.set()


@pytest.mark.parametrize("stack", [{}], indirect=True)
async def test_an_approval_is_listed_shown_and_decided(stack: Stack, mute: str) -> None:
    waiting = await stack.begin()
    (asked,) = waiting.approvals_required
    listed = await stack.run("approvals", "list")
    shown = await stack.run("approvals", "show", asked.approval_id)
    told = json.loads(await stack.run("approvals", "show", asked.approval_id, "--json"))
    without = [await stack.show_without_loop(asked.approval_id, address) for address in ("127.0.0.1:1", mute)]
    rejected = await stack.run("approvals", "reject", asked.approval_id, "--by", "ana")
    late = await stack.run("approvals", "approve", asked.approval_id, "--by", "ben", code=1)
    missing = await stack.run("approvals", "show", "0" * 32, code=1)
    ended = await stack.at_rest(waiting.run_id, waiting.last_sequence + 1)

    assert asked.approval_id in listed
    assert "23 h 59 min" in listed
    assert asked.reason
    assert asked.reason in shown
    assert (told["reason"], told["tool"]) == (asked.reason, "get_shipment")
    assert all("get_shipment" in each and asked.reason not in each for each in without)
    assert "goes on" in rejected
    assert "is rejected; that stands" in late
    assert "There is no approval" in missing
    assert ended.outcome is Outcome.FAILED


LAPSING = {
    "approval": {"expires_in_seconds": 1.0},
    "people": {"on_expire": "hand_over", "look_every_seconds": 0.05, "warn_before_seconds": 60.0},
}


@pytest.mark.parametrize("stack", [LAPSING], indirect=True)
async def test_what_nobody_decides_is_warned_of_handed_over_and_answered_by_a_person(stack: Stack) -> None:
    run_id = (await stack.loop.submit(TASK, stack.call)).run_id
    events = await stack.until(run_id, Outcome.NEEDS_HUMAN)
    listed = json.loads(await stack.run("handovers", "list", "--json"))
    table = await stack.run("handovers", "list")
    handover_id = listed["required"]["handover_id"]
    page = await stack.run("handovers", "show", run_id)
    whole = json.loads(await stack.run("handovers", "show", handover_id, "--json"))
    unknown = await stack.run("handovers", "show", "0" * 32, code=1)
    answered = await stack.run("handovers", "answer", handover_id, "--text", "已签收。", "--by", "ana")
    late = await stack.run("handovers", "close", handover_id, "--run", run_id, code=1)
    ended = await stack.loop.get_run(run_id, stack.call)

    assert [event for event in events if isinstance(event.body, ApprovalExpiring)]
    assert listed["run_id"] == run_id
    assert handover_id in table
    for expected in (handover_id, TASK.turns[0].text, "get_shipment", "APPROVAL_EXPIRED", "taoloop handovers answer"):
        assert expected in page
    assert [step["tool"] for step in whole["steps"]][-1] == "get_shipment"
    assert "UNKNOWN_HANDOVER" in unknown
    assert f"handover {handover_id} is answered by ana" in answered
    assert "is answered by ana; that stands" in late
    assert ended.outcome is Outcome.ANSWERED
    assert ended.answer is not None
    assert ended.answer.text == "已签收。"
    assert (stack.counted(event="opened"), stack.counted(event="answered")) == (1, 1)

    run_id = (await stack.loop.submit(TASK, stack.call)).run_id
    await stack.until(run_id, Outcome.NEEDS_HUMAN)
    reply = json.loads(await stack.run("handovers", "resume", run_id, "--comment", "somebody is there", "--json"))
    again = await stack.at_rest(run_id, reply["next_sequence"])

    assert reply["outcome"]["decision"] == "resumed"
    assert again.usage is not None
    assert again.usage.iterations == 2
    assert again.outcome in {Outcome.NEEDS_APPROVAL, Outcome.NEEDS_HUMAN}  # it asks again, and that may have lapsed


async def test_what_lapses_while_no_host_runs_takes_effect_after_the_restart(tmp_path: Path) -> None:
    settings: dict[str, dict[str, Any]] = {
        "action": {"approval": {"when": GUARDED, "expires_in_seconds": 1.0}},
        "loop": {"people": {"look_every_seconds": 0.05}},
    }
    slow = {**settings, "loop": {"people": {"look_every_seconds": 600.0}}}
    options = StackOptions(catalogue=CATALOGUE, data_directory=tmp_path, settings=slow)
    async with (
        dev_stack(options) as running,
        loop_client(running.loop_address, GrpcSettings(), running.telemetry) as loop,
    ):
        waiting = await Stack(running, loop).begin()
    assert waiting.outcome is Outcome.NEEDS_APPROVAL
    async with (
        dev_stack(replace(options, settings=settings)) as running,
        loop_client(running.loop_address, GrpcSettings(), running.telemetry) as loop,
    ):
        stack = Stack(running, loop)
        await stack.until(waiting.run_id, Outcome.FAILED)
        ended = await loop.get_run(waiting.run_id, stack.call)

    assert ended.fault is not None
    assert ended.fault.code == FaultCode.APPROVAL_EXPIRED
