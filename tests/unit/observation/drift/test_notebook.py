"""Drift is noted at once, counted, bounded, and handed over later, whatever the log does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.observation.drift.local_drift_log import LocalDriftLog
from taoloop.observation.drift.notebook import MAX_BATCH, DriftNotebook, handing_over
from taoloop.observation.drift.ports import SightingBatch
from taoloop.plan.observing import Drift, DriftKind, DriftRecord
from taoloop.testing.clock import FakeClock


class LosingLog(LocalDriftLog):
    """A log that is away for a number of calls, some of which it took all the same."""

    def __init__(self, max_records: int, *, lost_calls: int, lost_replies: int = 0) -> None:
        super().__init__(max_records)
        self.lost_calls = lost_calls
        self.lost_replies = lost_replies
        self.batches: list[SightingBatch] = []
        self.taken = asyncio.Event()

    async def add(self, batch: SightingBatch, deadline: Deadline) -> int:
        self.batches.append(batch)
        if self.lost_calls:
            self.lost_calls -= 1
            raise BackendUnavailable("away")
        refused = await super().add(batch, deadline)
        self.taken.set()
        if self.lost_replies:
            self.lost_replies -= 1
            raise BackendUnavailable("the reply was lost")
        return refused

    async def read(self, tools: Sequence[str], deadline: Deadline) -> tuple[DriftRecord, ...]:
        return await super().read(tools, deadline)


def drift(pointer: str = "/state", value: str = "lost") -> Drift:
    return Drift(kind=DriftKind.NEW_ENUM_VALUE, pointer=pointer, value=value)


def notebook_on(log: LocalDriftLog, clock: FakeClock, max_records: int = 10) -> tuple[DriftNotebook, Telemetry]:
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    return DriftNotebook(log, max_records, telemetry.metrics, clock, 5.0), telemetry


async def records_of(notebook: DriftNotebook, clock: FakeClock) -> tuple[DriftRecord, ...]:
    return await notebook.read(["track"], Deadline.after(5.0, clock))


async def test_the_same_drift_is_one_record_with_its_first_and_last_time_and_its_count() -> None:
    clock = FakeClock()
    notebook, _ = notebook_on(LocalDriftLog(10), clock)
    first = clock.now()
    notebook.note("track", [drift(), drift("/n")])
    clock.advance(60)
    notebook.note("track", [drift()])
    await notebook.hand_over()
    clock.advance(60)
    notebook.note("track", [drift()])

    records = {record.drift.pointer: record for record in await records_of(notebook, clock) if record.drift}

    assert (records["/state"].first_seen, records["/state"].last_seen) == (first, clock.now())
    assert (records["/state"].count, records["/n"].count) == (3, 1)


async def test_a_lost_log_loses_nothing_and_a_lost_reply_counts_nothing_twice() -> None:
    clock = FakeClock()
    log = LosingLog(10, lost_calls=2, lost_replies=1)
    notebook, _ = notebook_on(log, clock)
    notebook.note("track", [drift()])
    await notebook.hand_over()
    notebook.note("track", [drift()])
    await notebook.hand_over()
    assert "log away" in repr(notebook)
    await notebook.hand_over()

    assert [record.count for record in await records_of(notebook, clock)] == [2]
    assert [batch.number for batch in log.batches] == [1, 1, 1, 1, 2]
    assert repr(notebook) == "<DriftNotebook [0 to hand over] log up>"


async def test_drift_beyond_the_limit_is_counted_as_refused_and_takes_no_memory() -> None:
    clock = FakeClock()
    notebook, telemetry = notebook_on(LocalDriftLog(3), clock, max_records=3)
    for number in range(50):
        notebook.note("track", [drift(value=f"value_{number}")])

    assert len(await records_of(notebook, clock)) == 3
    shown = telemetry.metrics.exposition()
    assert "taoloop_observation_drift_refused_total 47.0" in shown
    assert 'taoloop_observation_drift_total{kind="new_enum_value",tool="track"} 50.0' in shown


async def test_records_that_other_replicas_have_filled_are_counted_as_refused() -> None:
    clock = FakeClock()
    notebook, telemetry = notebook_on(LocalDriftLog(2), clock, max_records=10)
    notebook.note("track", [drift(value=value) for value in "abc"])

    assert len(await records_of(notebook, clock)) == 2
    assert "taoloop_observation_drift_refused_total 1.0" in telemetry.metrics.exposition()


async def test_much_drift_is_handed_over_in_bounded_batches() -> None:
    clock = FakeClock()
    log = LosingLog(2000, lost_calls=0)
    notebook, _ = notebook_on(log, clock, max_records=2000)
    notebook.note("track", [drift(f"/f{number}") for number in range(MAX_BATCH + 1)])
    await notebook.hand_over()

    assert [len(batch.sightings) for batch in log.batches] == [MAX_BATCH, 1]


async def test_what_waits_at_the_end_is_handed_over() -> None:
    clock = FakeClock()
    log = LosingLog(10, lost_calls=0)
    notebook, _ = notebook_on(log, clock)
    async with handing_over(notebook):
        notebook.note("track", [drift()])

    assert [len(batch.sightings) for batch in log.batches] == [1]


async def test_it_is_handed_over_from_the_background() -> None:
    clock = FakeClock(is_impatient=True)  # its sleeps are over at once
    log = LosingLog(10, lost_calls=1)
    notebook, _ = notebook_on(log, clock)
    notebook.note("track", [drift()])
    async with handing_over(notebook), asyncio.timeout(5.0):
        await log.taken.wait()

    assert len(log.batches) == 2


async def test_threads_may_note_at_the_same_time() -> None:
    clock = FakeClock()
    notebook, _ = notebook_on(LocalDriftLog(10), clock)

    def note() -> None:
        for _ in range(500):
            notebook.note("track", [drift()])

    threads = [threading.Thread(target=note) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [record.count for record in await records_of(notebook, clock)] == [2000]


async def test_reading_from_a_log_that_is_away_is_an_error_of_the_reader_alone() -> None:
    class Away(LocalDriftLog):
        async def read(self, tools: Sequence[str], deadline: Deadline) -> tuple[DriftRecord, ...]:
            raise BackendUnavailable("away")

    clock = FakeClock()
    notebook, _ = notebook_on(Away(1), clock)
    notebook.note("track", [drift()])

    with pytest.raises(BackendUnavailable):
        await records_of(notebook, clock)
