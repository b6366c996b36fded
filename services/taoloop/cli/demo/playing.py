"""Runs the tasks of a demonstration and compares what came of them with what was expected."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, Protocol

from taoloop.cli.demo.tasks import DemoTask, Expectation, Resume, Upstream
from taoloop.cli.demo.telling import breakers_opened, was_done, went_wrong
from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.running import (
    ActionReturned,
    ApprovalRequired,
    CorrectionMade,
    InputRequired,
    LoopServiceDecideApprovalRequest,
    ProvideInputRequest,
    ResultObserved,
    RunEvent,
    RunFinished,
    StepSkipped,
    StepStarted,
)
from taoloop.plan.task import Outcome, ProvidedInput
from taoloop.plan.thinking import Answer
from taoloop.wire.clients import LoopClient

RUN_SECONDS: Final = 30.0

Show = Callable[[RunEvent], None]


class Stage(Protocol):
    """What a demonstration plays on: tools that fail as told, and a worker that can die."""

    def requests(self) -> Mapping[str, int]:
        """Return how many requests each tool has had."""
        ...

    def fail(self, upstream: Sequence[Upstream]) -> None:
        """Have these tools fail, and all others answer well."""
        ...

    def freeze_worker(self) -> None:
        """Stop the worker in the middle of whatever it does next."""
        ...

    async def kill_worker(self) -> str:
        """Kill the frozen worker once it holds a thought, start another one, and return in words what was done."""
        ...


@dataclass(slots=True)
class Part:
    """What was seen of a run up to its end or its rest."""

    run_id: str = ""
    outcome: Outcome | None = None
    tools: list[str] = field(default_factory=list)
    faults: set[str] = field(default_factory=set)
    answer: str = ""
    question: InputRequired | None = None
    approvals: list[str] = field(default_factory=list)
    requests: Mapping[str, int] = field(default_factory=dict)
    events: list[RunEvent] = field(default_factory=list)

    def note(self, event: RunEvent) -> None:
        """Take one event in."""
        self.run_id = event.run_id
        self.events.append(event)
        match event.body:
            case StepStarted(tool=tool):
                self.tools.append(tool)
            case Answer(text=text):
                self.answer = text
            case InputRequired() as question:
                self.question = question
            case ApprovalRequired(approval_id=approval_id):
                self.approvals.append(approval_id)
            case RunFinished(outcome=outcome):
                self.outcome = outcome
            case _:
                pass
        self.faults |= _codes(event)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """What came of one task.

    Attributes:
        task_id: Its id.
        language: Of its text.
        run_id: The run.
        outcomes: How each part of it ended; a resumed run has two.
        tools: The tools whose steps began, in order.
        answer: What was answered.
        went_wrong: What the tools' servers, or the worker, did wrong.
        was_done: What the loop did about it.
        seconds: Wall time of all parts together.
        deviations: How it differs from what was expected; empty when it does not.
    """

    task_id: str
    language: str
    run_id: str = ""
    outcomes: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    answer: str = ""
    went_wrong: tuple[str, ...] = ()
    was_done: tuple[str, ...] = ()
    seconds: float = 0.0
    deviations: tuple[str, ...] = ()


class Player:
    """Plays tasks one after the other.

    Args:
        client: Reaches the loop.
        stage: What the tasks are played on.
        clock: Measures how long each takes.
    """

    def __init__(self, client: LoopClient, stage: Stage, clock: Clock) -> None:
        self._client = client
        self._stage = stage
        self._clock = clock
        self._broken: frozenset[str] = frozenset()

    async def play(self, demo_task: DemoTask, show: Show) -> TaskResult:
        """Run one task to its end, giving it what the file says when it asks.

        Raises:
            TaoError: A service could not do its job.
        """
        started = self._clock.monotonic()
        self._stage.fail(demo_task.upstream)
        first, killed = await self._first(demo_task, show)
        parts, deviations = [first], deviations_of(first, demo_task.expect)
        if demo_task.then is not None:
            parts.append(await self._resumed(first, demo_task.then, show))
            deviations += deviations_of(parts[-1], demo_task.then.expect)
        events, broken = [event for part in parts for event in part.events], self._broken
        self._broken |= breakers_opened(events)
        return TaskResult(
            task_id=demo_task.task_id,
            language=demo_task.language,
            run_id=first.run_id,
            outcomes=tuple(part.outcome.value.upper() if part.outcome else "NONE" for part in parts),
            tools=tuple(tool for part in parts for tool in part.tools),
            answer=parts[-1].answer,
            went_wrong=(*killed, *went_wrong(events, broken)),
            was_done=(*(("another worker makes the thought",) if killed else ()), *was_done(events, broken)),
            seconds=self._clock.monotonic() - started,
            deviations=tuple(deviations),
        )

    async def _first(self, demo_task: DemoTask, show: Show) -> tuple[Part, tuple[str, ...]]:
        """Run a task to its end or its rest; return what was seen, and what befell the worker meanwhile."""
        if not demo_task.kills_worker:
            return await self._begun(demo_task, show), ()
        self._stage.freeze_worker()
        async with asyncio.TaskGroup() as group:
            killing = group.create_task(self._stage.kill_worker(), name="kill the worker")
            part = await self._begun(demo_task, show)
        return part, (killing.result(),)

    async def _begun(self, demo_task: DemoTask, show: Show) -> Part:
        return await self._watched(self._client.run(demo_task.task, self._call()), show)

    async def _resumed(self, waiting: Part, resume: Resume, show: Show) -> Part:
        """Give a waiting run what it waits for, once for each thing, and watch it to its end."""
        part = Part()
        if resume.values is not None:
            sequence = await self._given(waiting, resume)
            part = await self._watched(self._client.watch(waiting.run_id, sequence, self._call()), show)
        for approval_id in waiting.approvals if resume.decision is not None else []:
            sequence = await self._decided(waiting.run_id, approval_id, resume.decision)
            part = await self._watched(self._client.watch(waiting.run_id, sequence, self._call()), show)
        return part

    async def _given(self, waiting: Part, resume: Resume) -> int:
        input_id = waiting.question.input_id if waiting.question is not None else ""
        given = ProvidedInput(input_id=input_id, values=resume.values)
        request = ProvideInputRequest(request_id=uuid.uuid4().hex, run_id=waiting.run_id, input=given)
        return (await self._client.provide_input(request, self._call())).next_sequence

    async def _decided(self, run_id: str, approval_id: str, decision: ApprovalDecision | None) -> int:
        assert decision is not None
        request = LoopServiceDecideApprovalRequest(
            request_id=uuid.uuid4().hex,
            run_id=run_id,
            approval_id=approval_id,
            decision=decision,
            decided_by="the demonstration",
        )
        return (await self._client.decide_approval(request, self._call())).next_sequence

    async def _watched(self, stream: AsyncGenerator[RunEvent], show: Show) -> Part:
        part, before = Part(), Counter(self._stage.requests())
        async with aclosing(stream) as events:
            async for event in events:
                show(event)
                part.note(event)
        part.requests = Counter(self._stage.requests()) - before
        return part

    def _call(self) -> CallContext:
        return CallContext(deadline=Deadline.after(RUN_SECONDS, self._clock), request_id=uuid.uuid4().hex)


def deviations_of(part: Part, expected: Expectation) -> list[str]:
    """Return how what was seen differs from what was expected, one phrase each."""
    found: list[str] = []
    if part.outcome not in expected.outcomes:
        wanted = " or ".join(outcome.value for outcome in expected.outcomes)
        found.append(f"outcome {part.outcome.value if part.outcome else 'none'}, expected {wanted}")
    if tuple(part.tools) != expected.tools:
        found.append(f"tools {', '.join(part.tools) or 'none'}, expected {', '.join(expected.tools) or 'none'}")
    found += [
        f"{part.requests.get(tool, 0)} requests to {tool}, expected {count}"
        for tool, count in expected.requests.items()
        if part.requests.get(tool, 0) != count
    ]
    found += [f"the answer lacks {text}" for text in expected.answer_contains if text not in part.answer]
    found += [f"no event tells {code}" for code in expected.faults if code not in part.faults]
    asked = {field.pointer.rsplit("/", 1)[-1] for field in part.question.fields} if part.question else set()
    if asked != set(expected.missing):
        found.append(f"asked for {', '.join(sorted(asked)) or 'nothing'}, expected {', '.join(expected.missing)}")
    return found


def _codes(event: RunEvent) -> set[str]:
    """Return the codes of the faults that an event tells."""
    match event.body:
        case ActionReturned(result=result) | ResultObserved(result=result) if result is not None:
            fault = result.fault
        case StepSkipped(fault=fault) | RunFinished(fault=fault) | CorrectionMade(fault=fault):
            pass
        case _:
            fault = None
    return set() if fault is None else {str(fault.code)}
