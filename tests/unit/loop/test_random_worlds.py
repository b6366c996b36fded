"""Runs in worlds drawn at random: whatever plans, tools and people do, a run keeps its promises."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, MessageTooLarge, TooManyCalls
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.faults import FaultCode
from taoloop.loop.correction.classes import CODES, FaultClass
from taoloop.loop.state import RunState
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest
from taoloop.plan.effects import ApprovalDecision, DecideApprovalRequest
from taoloop.plan.model import Binding, ForEach, ItemValue, PlanStep, StepOutput
from taoloop.plan.running import ApprovalOutcome, CorrectionMade, EventBody, RunFinished, RunResumed
from taoloop.plan.task import Outcome
from taoloop.plan.thinking import ThinkResponse
from taoloop.testing.services import GatedAction, ListedTools, ScriptedObservation, ScriptedThought
from taoloop.tools.signature import Effect
from tests.unit.loop.correction.correcting import START, chat, failed, tool
from tests.unit.loop.driving import RUN_ID, Run, plan

READS, WRITES = ("look", "seek"), ("pay", "ship")
TOOLS = (
    tool("look", fallback_tool="seek"),
    tool("seek"),
    *(tool(name, effect=Effect.WRITE) for name in WRITES),
)
BEGUN = ActionResult(step_id="", tool="", status=ActionStatus.PENDING, job_handle={"job": "j1"})
# Faults of calls that changed nothing, as far as nothing else is known of them.
UNSAID = {FaultCode.OUTCOME_UNKNOWN, FaultCode.JOB_FAILED, FaultCode.JOB_CANCELLED}
SURE = [str(code) for codes in CODES.values() for code in codes if code not in UNSAID]
INTERNAL = re.compile(r"[A-Z]{3,}_[A-Z]|[0-9]\.s|[0-9a-f]{32}|-second|#")


class World:
    """One run whose plans, tools and approvals are drawn, and which writes may have taken effect."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.begun: dict[str, str] = {}
        """Steps whose write may have taken effect, with the id of the request, under which it may come once more."""
        self.is_doubled = False
        gated = frozenset(name for name in ("pay", "seek") if random.random() < 0.3)
        answers = {name: self._answer(name) for name in READS + WRITES}
        action = GatedAction(answers, gated, START + timedelta(hours=1))
        action._listing = ListedTools(TOOLS)
        doubtful = frozenset(name for name in READS if random.random() < 0.2)
        self.run = Run(
            ScriptedThought(*map(self._thought, range(1, 6))), action, ScriptedObservation(doubtful_tools=doubtful)
        )
        self.run.locale = random.choice(["en", "zh-CN"])

    def _thought(self, iteration: int) -> ThinkResponse:
        if self.random.random() < 0.1:
            return chat("no json")
        steps: list[PlanStep] = []
        for number in range(self.random.randint(1, 5)):
            after = tuple(step.step_id for step in steps if self.random.random() < 0.3)
            is_for_each = bool(after) and self.random.random() < 0.3
            steps.append(
                PlanStep(
                    step_id=f"{iteration}.s{number}",
                    tool=self.random.choice(READS + WRITES),
                    depends_on=after,
                    optional=self.random.random() < 0.2,
                    when={"var": f"steps.{after[0]}.v"} if after and self.random.random() < 0.2 else ABSENT,
                    for_each=ForEach(items=StepOutput(step_id=after[0], pointer="/ids")) if is_for_each else None,
                    bindings=(Binding(pointer="/id", source=ItemValue(pointer="")),) if is_for_each else (),
                )
            )
        return plan(*steps)

    def _answer(self, name: str) -> Callable[[ExecuteRequest], Awaitable[ActionResult | JsonValue]]:
        async def answer(request: ExecuteRequest) -> ActionResult | JsonValue:
            writes, is_new = name in WRITES, request.job_handle is ABSENT
            first = self.begun.get(request.step_id, request.request_id)
            self.is_doubled |= writes and is_new and first != request.request_id
            kind = self.random.choices(["data", "job", "lost", "unknown", "refused", "failed"], [5, 1, 1, 1, 1, 4])[0]
            if writes and is_new and request.step_id in self.begun:
                kind = "unknown"  # as the ledger of effects answers
            if writes and kind in {"data", "job", "lost", "unknown"}:
                self.begun[request.step_id] = request.request_id
            match kind:
                case "data":
                    ids: list[JsonValue] = [1, 2, 3]
                    return {"ids": ids[: self.random.randint(0, 3)], "v": self.random.randint(0, 1)}
                case "job":
                    return BEGUN
                case "lost":
                    raise self.random.choice([BackendUnavailable("away"), MessageTooLarge.of(9, 8)])
                case "unknown" if writes:
                    return failed("OUTCOME_UNKNOWN", status=ActionStatus.OUTCOME_UNKNOWN)
                case "refused":
                    raise TooManyCalls("full")
            return failed(self.random.choice(SURE), retriable=self.random.random() < 0.5)

        return answer

    async def live(self) -> RunState:
        """Drive the run, and decide some of its approvals."""
        state = await self.run.drive(deadline_seconds=20.0)
        while state.finished is not None and state.finished.outcome is Outcome.NEEDS_APPROVAL:
            asked = self.random.choice(state.open_approvals)
            decision = self.random.choice([ApprovalDecision.APPROVED, ApprovalDecision.REJECTED])
            self.run.action.decisions.append(DecideApprovalRequest(approval_id=asked.approval_id, decision=decision))
            outcome = ApprovalOutcome(approval_id=asked.approval_id, decision=decision)
            await self.run.writer.emit(RunResumed(reason="approval", approval=outcome))
            state = await self.run.go_on()
        return state


async def kept(seed: int) -> None:
    world = World(Random(seed))
    writer, emit = world.run.writer, world.run.writer.emit

    async def folded() -> RunState:
        events = await world.run.log.read("acme", RUN_ID, 1, Deadline.after(1.0, world.run.clock))
        return RunState.from_events(RUN_ID, events)

    async def emit_and_fold(*bodies: EventBody) -> None:
        await emit(*bodies)
        assert await folded() == writer.state, "another host reads another run"

    writer.emit = emit_and_fold  # type: ignore[method-assign]
    state = await world.live()

    assert not world.is_doubled, "a write that may have taken effect was made again"
    bodies = await world.run.bodies()
    ends = [number for number, body in enumerate(bodies) if isinstance(body, RunFinished)]
    assert ends[-1] == len(bodies) - 1
    assert all(isinstance(bodies[number + 1], RunResumed) for number in ends[:-1]), "something came after the end"
    assert asyncio.all_tasks() == {asyncio.current_task()}
    made = [body for body in bodies if isinstance(body, CorrectionMade)]
    for each in made:
        assert not INTERNAL.search(each.user_message)
        assert not (each.user_message.isascii() and each.user_message and world.run.locale == "zh-CN")
    if state.finished is not None and state.finished.outcome is Outcome.ANSWERED:
        acted = (state.steps[step_id] for step_id in world.begun)
        told = any(each.fault_class == FaultClass.EFFECT_UNKNOWN for each in made)
        assert told or all(record.has_succeeded for record in acted), "an unknown outcome was passed over"


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_a_run_keeps_its_promises_in_any_world(seed: int) -> None:
    asyncio.run(kept(seed))
