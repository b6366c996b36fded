"""The runs of a tenant, each with what it is laid to, read from the loop service page by page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import datetime
from typing import Final, Protocol

from taoloop.core.calls import CallContext
from taoloop.core.errors import UnknownRun
from taoloop.core.tasks import first_error
from taoloop.evaluation.attribution import Attribution, of_state, of_summary, says_enough
from taoloop.loop.state import RunState
from taoloop.plan.running import ListRunsRequest, ListRunsResponse, RunEvent, RunSummary

PAGE_SIZE: Final = 200
MAX_AT_ONCE: Final = 8
"""How many logs are read at the same time."""


class RunSource(Protocol):
    """What lists runs and gives their events; a `LoopClient` is one."""

    async def list_runs(self, request: ListRunsRequest, call: CallContext) -> ListRunsResponse:
        """List one page of the tenant's runs, newest first."""
        ...

    def watch(self, run_id: str, from_sequence: int, call: CallContext) -> AsyncGenerator[RunEvent, None]:
        """Yield a run's events."""
        ...


async def failed_runs(
    source: RunSource, call: CallContext, oldest: datetime | None
) -> AsyncIterator[Attribution | None]:
    """Yield for each run what it is laid to, None where it has not failed; newest first.

    A run's events are read only where they say more than its summary: which tool failed, or what went wrong first.

    Args:
        source: The loop service.
        call: Whose runs, and until when.
        oldest: Runs that began earlier are left alone; None takes all.

    Raises:
        TaoError: The service does not answer.
    """
    token = ""
    while True:
        page = await source.list_runs(ListRunsRequest(page_size=PAGE_SIZE, page_token=token), call)
        runs = [run for run in page.runs if oldest is None or run.started_at is None or run.started_at >= oldest]
        for attribution in await _laid(source, call, runs):
            yield attribution
        token = page.next_page_token
        if not token or len(runs) < len(page.runs):
            return


async def _laid(source: RunSource, call: CallContext, runs: list[RunSummary]) -> list[Attribution | None]:
    slots = asyncio.Semaphore(MAX_AT_ONCE)

    async def of(run: RunSummary) -> Attribution | None:
        if says_enough(run):
            return of_summary(run)
        async with slots:
            return await _of_events(source, call, run)

    with first_error():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(of(run), name=f"failure of {run.run_id}") for run in runs]
    return [task.result() for task in tasks]


async def _of_events(source: RunSource, call: CallContext, run: RunSummary) -> Attribution | None:
    """Read a run's log; one that was removed meanwhile is told by its summary."""
    state = RunState(run.run_id)
    try:
        async with aclosing(source.watch(run.run_id, 1, call)) as events:
            async for event in events:
                state.apply(event)
    except UnknownRun:
        return of_summary(run)
    return of_state(state) or of_summary(run)
