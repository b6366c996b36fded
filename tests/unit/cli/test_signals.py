"""Rules of stopping by signals."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from taoloop.cli.signals import stop_signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_first_signal_asks_to_stop(number: signal.Signals) -> None:
    with stop_signals(5.0) as stop:
        os.kill(os.getpid(), number)
        async with asyncio.timeout(5):
            await stop.wait()
        assert repr(stop) == "<StopSignals [1 received]>"


async def test_the_second_signal_cancels_what_goes_on() -> None:
    async def work() -> None:
        with stop_signals(5.0) as stop:
            stop.receive(signal.SIGTERM)
            await stop.wait()
            stop.receive(signal.SIGTERM)
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(work())
    assert task.cancelled()


async def test_stopping_that_hangs_is_given_up_and_it_is_told_who_waits_where(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @asynccontextmanager
    async def closing_never() -> AsyncIterator[None]:
        try:
            yield
        finally:
            await asyncio.Event().wait()

    async def work() -> None:
        with stop_signals(0.01) as stop:
            stop.receive(signal.SIGTERM)
            async with closing_never():
                pass

    async with asyncio.TaskGroup() as group:
        task = group.create_task(work(), name="stuck")
    assert task.cancelled()
    assert [record.message for record in caplog.records][:2] == ["process_stop_overdue", "process_stop_waits"]
    fields = vars(caplog.records[1])
    assert "stuck" in str(fields)
    assert "closing_never" in str(fields)
