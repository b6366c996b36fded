"""A host that takes a run over in the middle of a correction goes on where it stood, wherever that was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.plan.acting import ExecuteRequest
from taoloop.plan.model import Binding, StepOutput
from taoloop.plan.running import ActionReturned, CorrectionMade, RunEvent, ThoughtMade
from taoloop.plan.thinking import ThinkResponse
from taoloop.testing.services import ScriptedAction, ScriptedObservation, ScriptedThought
from tests.unit.loop.correction.correcting import (
    LATE,
    TWO_SOURCES,
    chat,
    failed,
    listed,
    tool,
    weather,
)
from tests.unit.loop.driving import RUN_ID, Run, ended, plan, step

Made = Callable[[list[RunEvent]], Run]
"""Makes the world as it is after some events: what was thought is not thought again, a tool knows how often it was
called."""


def world(thoughts: list[ThinkResponse], answers: dict[str, list[Any]], listing: Any = None, **observing: Any) -> Made:
    def made(before: list[RunEvent]) -> Run:
        thought_of = sum(isinstance(event.body, ThoughtMade) for event in before)
        called = [event.body.result for event in before if isinstance(event.body, ActionReturned)]
        left = {
            name: list(
                given[min(sum(result is not None and result.tool == name for result in called), len(given) - 1) :]
            )
            for name, given in answers.items()
        }

        async def answer(request: ExecuteRequest) -> Any:
            given = left[request.tool]
            return given.pop(0) if len(given) > 1 else given[0]

        action = ScriptedAction(dict.fromkeys(answers, answer), listing or listed(*map(tool, answers)))
        return Run(ScriptedThought(*thoughts[thought_of:]), action, ScriptedObservation(**observing))

    return made


SAME = Binding(pointer="/n", source=StepOutput(step_id="1.t1", pointer="/n"))
TWO_STEPS = plan(step("1.t1", "find"), step("1.t2", "tell", ("1.t1",), SAME))
DOWN = failed("UPSTREAM_UNAVAILABLE", retriable=True)

WORLDS: dict[str, Made] = {
    "retry": world([TWO_STEPS], {"find": [LATE, {"n": 1}], "tell": [{}]}),
    "two retries": world(
        [plan(step("1.t1", "find"), step("1.t2", "seek"))], {"find": [LATE, {"n": 1}], "seek": [LATE, {"n": 2}]}
    ),
    "fallback": world(
        [TWO_STEPS], {"find": [{}], "table": [{"n": 1}], "tell": [{}]}, TWO_SOURCES, invalid_tools=frozenset({"find"})
    ),
    "cross-check": world(
        [plan(step("1.t1", "find"))],
        {"find": [{"n": 1}], "table": [{"n": 1}], "tell": [{}]},
        TWO_SOURCES,
        doubtful_tools=frozenset({"find"}),
    ),
    "prefer": world(
        [plan(step("1.t1", "find"))],
        {"find": [{"n": 1}], "table": [{"n": 2}], "tell": [{}]},
        TWO_SOURCES,
        doubtful_tools=frozenset({"find"}),
    ),
    "replan": world([plan(step("1.t1", "find")), plan(step("2.t1", "seek"))], {"find": [DOWN], "seek": [{"n": 1}]}),
    "fail": world([plan(step("1.t1", "find"))], {"find": [LATE]}),
    "hand over": world([plan(step("1.t1", "find"))], {"find": [failed("CREDENTIAL_MISSING")]}),
    "leave out": world(
        [plan(step("1.a", "find", optional=True), step("1.b", "seek"))], {"find": [DOWN], "seek": [{"n": 1}]}
    ),
    "reprompt": world([chat("no json"), plan(step("2.t1", "find"))], {"find": [{"n": 1}]}),
}


def told(events: list[RunEvent]) -> set[tuple[str, str, str]]:
    """Return the corrections without their order, which is that of steps that run side by side."""
    made = [event.body for event in events if isinstance(event.body, CorrectionMade)]
    assert len({(each.step_id, each.attempt) for each in made}) == len(made), "no correction is made twice"
    return {(each.step_id, each.reaction, each.state) for each in made}


def writes_of(run: Run) -> list[int]:
    """Return how many events the log has after each write, which is where a host can fall silent."""
    written, append = [], run.log.append

    async def noting(tenant: str, events: Sequence[RunEvent], deadline: Deadline) -> None:
        await append(tenant, events, deadline)
        written.append(events[-1].sequence)

    run.log.append = noting  # type: ignore[method-assign]
    return written


async def events_of(run: Run) -> list[RunEvent]:
    return list(await run.log.read("acme", RUN_ID, 1, Deadline.after(1.0, run.clock)))


@pytest.mark.parametrize("name", WORLDS)
async def test_a_run_ends_alike_wherever_it_is_taken_over(name: str) -> None:
    whole = WORLDS[name]([])
    cuts = writes_of(whole)
    end = ended(await whole.drive(deadline_seconds=20.0))
    events = await events_of(whole)
    assert told(events)

    for cut in cuts[:-1]:
        run = WORLDS[name](events[:cut])
        state = await run.take_over(events[:cut], deadline_seconds=20.0)

        assert ended(state) == end, f"after {events[cut - 1].body}"
        assert told(await events_of(run)) == told(events), f"after {events[cut - 1].body}"


async def test_a_word_that_was_fixed_stays_fixed_on_another_host() -> None:
    first = weather(failed("UPSTREAM_REFUSED"), "shanghai")
    await first.drive()
    events = await events_of(first)
    at = next(number for number, event in enumerate(events) if isinstance(event.body, CorrectionMade))

    second = weather({"sky": "clear"}, "shanghai")
    await second.take_over(events[: at + 1])

    assert [request.arguments for request in second.action.requests] == [{"city": "CN-Shanghai"}]
