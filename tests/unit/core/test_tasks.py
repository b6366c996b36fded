"""An error in a task group reaches the caller as itself."""

from __future__ import annotations

import asyncio

import pytest

from taoloop.core.tasks import first_error


async def test_an_error_of_the_body_comes_out_as_it_was_raised() -> None:
    with pytest.raises(KeyError, match="body"), first_error():
        async with asyncio.TaskGroup(), asyncio.TaskGroup():
            raise KeyError("body")


async def test_an_error_of_a_task_comes_out_as_it_was_raised() -> None:
    async def fail() -> None:
        raise KeyError("task")

    with pytest.raises(KeyError, match="task"), first_error():
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())


def test_an_error_outside_of_any_group_is_left_alone() -> None:
    with pytest.raises(ValueError, match="plain"), first_error():
        raise ValueError("plain")
