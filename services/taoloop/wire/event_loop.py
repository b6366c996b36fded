"""Runs a process's main coroutine on uvloop."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

ResultT = TypeVar("ResultT")


def run(main: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run `main` to its end on a new uvloop event loop and return its result."""
    return uvloop.run(main)
