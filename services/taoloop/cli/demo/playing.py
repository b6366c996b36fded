"""Runs the tasks of a demonstration and compares what came of them with what was expected."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Final

from taoloop.cli.demo.tasks import DemoTask, Expectation
from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import JsonValue
from taoloop.plan.running import InputRequired, ProvideInputRequest, RunEvent, RunFinished, StepStarted
from taoloop.plan.task import Outcome, ProvidedInput
from taoloop.plan.thinking import Answer
from taoloop.wire.clients import LoopClient

RUN_SECONDS: Final = 30.0

Show = Callable[[RunEvent], None]


@dataclass(slots=True)
class Part:
    """What was seen of a run up to its end or its rest."""

    run_id: str = ""
    outcome: Outcome | None = None
    tools: list[str] = field(default_factory=list)
    answer: str = ""
    question: InputRequired | None = None

    def note(self, event: RunEvent) -> None:
        """Take one event in."""
        self.run_id = event.run_id
        match event.body:
            case StepStarted(tool=tool):
                self.tools.append(tool)
            case Answer(text=text):
                self.answer = text
            case InputRequired() as question:
                self.question = question
            case RunFinished(outcome=outcome):
                self.outcome = outcome
            case _:
                pass


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """What came of one task.

    Attributes:
        task_id: Its id.
        language: Of its text.
        run_id: The run.
        outcomes: How each part of it ended; a resumed run has two.
        tools: The tools called, in order.
        answer: What was answered.
        seconds: Wall time of all parts together.
        deviations: How it differs from what was expected; empty when it does not.
    """

    task_id: str
    language: str
    run_id: str = ""
    outcomes: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    answer: str = ""
    seconds: float = 0.0
    deviations: tuple[str, ...] = ()


async def play(client: LoopClient, demo_task: DemoTask, show: Show, clock: Clock) -> TaskResult:
    """Run one task to its end, giving it what the file says when it asks.

    Raises:
        TaoError: A service could not do its job.
    """
    started = clock.monotonic()
    call = CallContext(deadline=Deadline.after(RUN_SECONDS, clock), request_id=uuid.uuid4().hex)
    async with aclosing(client.run(demo_task.task, call)) as events:
        first = await _watch(events, show)
    parts = [first]
    deviations = deviations_of(first, demo_task.expect)
    if first.question is not None and demo_task.values is not None and demo_task.then is not None:
        second = await _resume(client, first, demo_task.values, show, replace(call, request_id=uuid.uuid4().hex))
        parts.append(second)
        deviations += deviations_of(second, demo_task.then)
    elif demo_task.then is not None:
        deviations += ["it asked for nothing, so it was not resumed"]
    return TaskResult(
        task_id=demo_task.task_id,
        language=demo_task.language,
        run_id=first.run_id,
        outcomes=tuple(part.outcome.value.upper() if part.outcome else "NONE" for part in parts),
        tools=tuple(tool for part in parts for tool in part.tools),
        answer=parts[-1].answer,
        seconds=clock.monotonic() - started,
        deviations=tuple(deviations),
    )


async def _resume(
    client: LoopClient, waiting: Part, values: dict[str, JsonValue], show: Show, call: CallContext
) -> Part:
    assert waiting.question is not None
    given = ProvidedInput(input_id=waiting.question.input_id, values=values)
    request = ProvideInputRequest(request_id=uuid.uuid4().hex, run_id=waiting.run_id, input=given)
    reply = await client.provide_input(request, call)
    async with aclosing(client.watch(waiting.run_id, reply.next_sequence, call)) as events:
        return await _watch(events, show)


async def _watch(events: AsyncIterator[RunEvent], show: Show) -> Part:
    part = Part()
    async for event in events:
        show(event)
        part.note(event)
    return part


def deviations_of(part: Part, expected: Expectation) -> list[str]:
    """Return how what was seen differs from what was expected, one phrase each."""
    found: list[str] = []
    if part.outcome not in expected.outcomes:
        wanted = " or ".join(outcome.value for outcome in expected.outcomes)
        found.append(f"outcome {part.outcome.value if part.outcome else 'none'}, expected {wanted}")
    if tuple(part.tools) != expected.tools:
        found.append(f"tools {', '.join(part.tools) or 'none'}, expected {', '.join(expected.tools) or 'none'}")
    found += [f"the answer lacks {text}" for text in expected.answer_contains if text not in part.answer]
    asked = {field.pointer.rsplit("/", 1)[-1] for field in part.question.fields} if part.question else set()
    if asked != set(expected.missing):
        found.append(f"asked for {', '.join(sorted(asked)) or 'nothing'}, expected {', '.join(expected.missing)}")
    return found
