"""Task groups whose callers see the error itself, not the group that carried it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any


@contextmanager
def first_error() -> Iterator[None]:
    """Raise the first error of a task group in the block as it is.

    `asyncio.TaskGroup` wraps whatever leaves its block. Where the block belongs to somebody else, such as the body of
    a context manager that keeps tasks in the background, the error must come out as it was raised, or nobody can
    catch it by its class.

    Raises:
        BaseException: The first error that the group carries; the others were caused by its cancelling them.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from error.__cause__


@asynccontextmanager
async def beside(**work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Do work in the background while the block runs, each under its name; at the end it is cancelled.

    Raises:
        BaseException: The first error of the block or of the work, as it was raised.
    """
    with first_error():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one, name=name.replace("_", " ")) for name, one in work.items()]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
