"""The callers: each starts its run, follows it over every accident, answers what it asks, and notes what it is told."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeVar

from taoloop.client import AsyncClient, NotWaiting, Outcome, RunEvent, RunResult, TaoError
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.tasks import first_error
from taoloop.wire.clients import LoopClient
from tests.chaos.loop.wishes import Manner, Wish

T = TypeVar("T")

TENANT: Final = "chaos"
CLOCK: Final = SystemClock()
PATIENCE_SECONDS: Final = 150.0
"""A caller that is told nothing for so long is lost."""
ATTEMPT_SECONDS: Final = 30.0
RESTS: Final = frozenset({Outcome.NEEDS_INPUT, Outcome.NEEDS_APPROVAL})
PASSING: Final = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "ABORTED", "RESOURCE_EXHAUSTED"})
"""gRPC codes of failures that say nothing about the run: the caller asks again."""


@dataclass(slots=True)
class Told:
    """What one caller was told.

    Attributes:
        run_id: Its run.
        seen: Number of the last event that it saw.
        events: By sequence number, each event that was seen by it or by the second watcher.
        result: What became of the run.
        decided: What the person said who was asked for leave.
    """

    run_id: str = ""
    seen: int = 0
    events: dict[int, RunEvent] = field(default_factory=dict)
    result: RunResult | None = None
    decided: str = ""


@dataclass
class Notes:
    """What all callers were told.

    Attributes:
        told: By number of the wish.
        surprises: What no caller should see.
        failures: Code and reason → how often a caller had to ask again although the client library had done so.
    """

    told: dict[int, Told] = field(default_factory=dict)
    surprises: list[str] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)

    @property
    def done(self) -> int:
        """How many callers know what became of their run."""
        return sum(told.result is not None for told in self.told.values())


@dataclass
class Callers:
    """All callers of one service.

    Args:
        client: The library, which most use.
        raw: The bare client, for `Run`.
        random: Of their manners.
    """

    client: AsyncClient
    raw: LoopClient
    random: Random
    notes: Notes = field(default_factory=Notes)

    async def fulfil(self, wanted: Sequence[Wish], parallel: int, seconds: float) -> None:
        """See to the wishes, so many at a time; when so many seconds are over, no further one is begun."""
        waiting = iter(wanted)
        last = CLOCK.monotonic() + seconds

        async def caller() -> None:
            while CLOCK.monotonic() < last:
                wish = next(waiting, None)
                if wish is None:
                    return
                await self._until_told(wish)

        async with asyncio.TaskGroup() as group:
            for number in range(parallel):
                group.create_task(caller(), name=f"caller {number}")

    async def _until_told(self, wish: Wish) -> None:
        told = self.notes.told[wish.number] = Told()
        last = CLOCK.monotonic() + PATIENCE_SECONDS
        while told.result is None:
            try:
                told.result = await self._fulfilled(wish, told)
            except TaoError as error:
                if error.code not in PASSING or CLOCK.monotonic() > last:
                    words = f"{error.code} {error.reason}: {error.message}"
                    self.notes.surprises.append(f"{wish.task.request_id} ({wish.manner}, run {told.run_id}): {words}")
                    return
                self.notes.failures[f"{error.code} {error.reason}"] += 1
                await asyncio.sleep(self.random.uniform(0.1, 0.5))

    async def _fulfilled(self, wish: Wish, told: Told) -> RunResult:
        if wish.is_streamed:
            await self._run(wish, told)
        else:
            told.run_id = (await self.client.submit(wish.task, timeout_seconds=ATTEMPT_SECONDS)).run_id
        if wish.manner is Manner.CANCEL:
            await asyncio.sleep(self.random.uniform(0.0, 0.15))
            await self.client.cancel(told.run_id, timeout_seconds=ATTEMPT_SECONDS)
        while True:
            await self._watch(wish, told)
            result = await self.client.wait(told.run_id, timeout_seconds=ATTEMPT_SECONDS)
            if result.outcome not in RESTS:
                # What a person has to take over rests; nobody does here.
                return result
            await self._answer(wish, told, result)

    async def _run(self, wish: Wish, told: Told) -> None:
        """Start by `Run`, and follow its events as far as the connection lasts."""
        call = CallContext(deadline=Deadline.after(ATTEMPT_SECONDS, CLOCK), tenant=TENANT)
        async with aclosing(self.raw.run(wish.task, call)) as events:
            async for event in events:
                self._note(wish, told, event)
                told.seen = max(told.seen, event.sequence)

    async def _watch(self, wish: Wish, told: Told) -> None:
        with first_error():
            await self._watch_twice(wish, told)

    async def _watch_twice(self, wish: Wish, told: Told) -> None:
        async with asyncio.TaskGroup() as group:
            if wish.is_watched_twice:
                first = self.random.randint(1, 5)
                group.create_task(self._look_in(wish, told, first), name="second watcher")
            async for event in self._followed(wish, told, told.seen + 1):
                told.seen = event.sequence

    async def _look_in(self, wish: Wish, told: Told, first: int) -> None:
        """Watch from an event on, and give up where the first watcher would ask again."""
        try:
            async for _ in self._followed(wish, told, first):
                pass
        except TaoError as error:
            if error.code not in PASSING:
                raise

    async def _followed(self, wish: Wish, told: Told, first: int) -> AsyncGenerator[RunEvent, None]:
        due = first
        async with aclosing(self.client.watch(told.run_id, first, timeout_seconds=ATTEMPT_SECONDS)) as events:
            async for event in events:
                if event.sequence != due:
                    self.notes.surprises.append(f"run {told.run_id}: event {event.sequence} came where {due} was due")
                due = event.sequence + 1
                self._note(wish, told, event)
                yield event

    def _note(self, wish: Wish, told: Told, event: RunEvent) -> None:
        if told.run_id not in ("", event.run_id):
            self.notes.surprises.append(f"{wish.task.request_id} has the runs {told.run_id} and {event.run_id}")
        told.run_id = event.run_id
        known = told.events.setdefault(event.sequence, event)
        if known != event:
            self.notes.surprises.append(f"run {told.run_id}: event {event.sequence} was told in two ways")

    async def _answer(self, wish: Wish, told: Told, result: RunResult) -> None:
        """Give what the run asks for; what it does not ask for any more was given before, and its reply was lost."""
        if result.question is not None:
            values = {"basket": wish.basket}
            await _unless_answered(
                lambda: self.client.provide_input(told.run_id, result.question.input_id, values)  # type: ignore[union-attr]
            )
        for approval in result.approvals:
            told.decided = "rejected" if wish.manner is Manner.REJECT else "approved"
            decide = self.client.reject if wish.manner is Manner.REJECT else self.client.approve
            await _unless_answered(
                lambda decide=decide, approval=approval: decide(  # type: ignore[misc]
                    told.run_id, approval.approval_id, decided_by="anna", timeout_seconds=ATTEMPT_SECONDS
                )
            )


async def _unless_answered(answer: Callable[[], Awaitable[T]]) -> T | None:
    try:
        return await answer()
    except NotWaiting:
        return None
