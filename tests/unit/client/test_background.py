"""Work of other threads on one loop: results, errors, interrupts, closing, forks."""

import asyncio
import gc
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from taoloop.client.background import BackgroundLoop

WORD: ContextVar[str] = ContextVar("word", default="none")


@pytest.fixture
def background() -> Iterator[BackgroundLoop]:
    loop = BackgroundLoop("test")
    yield loop
    loop.close()


async def echo(value: str) -> str:
    await asyncio.sleep(0)
    return value


def test_many_threads_get_their_own_results(background: BackgroundLoop) -> None:
    with ThreadPoolExecutor(16) as pool:
        values = [str(number) for number in range(300)]
        assert list(pool.map(lambda value: background.run(echo(value)), values)) == values


def test_error_of_the_work_is_raised_where_it_was_asked_for(background: BackgroundLoop) -> None:
    async def broken() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        background.run(broken())
    assert background.run(echo("still there")) == "still there"


def test_work_sees_the_context_of_who_asks(background: BackgroundLoop) -> None:
    async def read() -> str:
        return WORD.get()

    WORD.set("mine")
    assert background.run(read()) == "mine"


def test_interrupt_cancels_the_work_and_waits_until_it_has_cleaned_up(background: BackgroundLoop) -> None:
    begun, cleaned = threading.Event(), threading.Event()

    async def long() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            cleaned.set()

    def interrupt() -> None:
        begun.wait(10)
        os.kill(os.getpid(), signal.SIGINT)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            background.run(long())
    finally:
        signal.signal(signal.SIGINT, previous)
        interrupting.join()
    assert cleaned.is_set()
    assert background.run(echo("still there")) == "still there"


def test_closing_ends_the_calls_of_all_threads_and_the_thread() -> None:
    background = BackgroundLoop("test")
    begun = threading.Event()

    async def long() -> None:
        begun.set()
        await asyncio.sleep(60)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(background.run, long())
        begun.wait(10)
        background.close()
        background.close()
        with pytest.raises(RuntimeError, match="closed during the call"):
            waiting.result(10)
    assert not background._thread.is_alive()
    with pytest.raises(RuntimeError, match="The client is closed"):
        background.run(echo("x"))


def test_no_call_is_left_hanging_by_a_client_that_is_closed_meanwhile() -> None:
    for _ in range(20):
        background = BackgroundLoop("test")

        def call_on(background: BackgroundLoop = background) -> str:
            while True:
                try:
                    background.run(echo("x"))
                except RuntimeError as exc:
                    return str(exc)

        with ThreadPoolExecutor(4) as pool:
            callers = [pool.submit(call_on) for _ in range(4)]
            time.sleep(0.005)
            background.close()
            assert all("closed" in caller.result(10) for caller in callers)


def test_iterator_collected_on_the_thread_of_the_loop_is_closed_without_a_deadlock(
    background: BackgroundLoop,
) -> None:
    closed = threading.Event()

    async def items() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            closed.set()

    def iterate() -> Iterator[int]:
        asynchronous = items()

        async def first() -> int:
            return await anext(asynchronous)

        try:
            yield background.run(first())
        finally:
            background.leave(asynchronous.aclose())  # type: ignore[attr-defined]

    held = [iterate()]
    assert next(held[0]) == 1

    async def drop() -> None:
        held.clear()
        gc.collect()

    background.run(drop())
    assert closed.wait(10)


def test_child_of_a_fork_is_told_to_open_its_own(background: BackgroundLoop) -> None:
    background.run(echo("open"))
    background._process_id += 1  # what a child sees: another process than the one that opened it
    with pytest.raises(RuntimeError, match="forked"):
        background.run(echo("x"))
    background._process_id -= 1


def test_call_from_the_loop_itself_is_refused_instead_of_hanging(background: BackgroundLoop) -> None:
    async def inner() -> None:
        background.run(echo("x"))

    with pytest.raises(RuntimeError, match="AsyncClient"):
        background.run(inner())
