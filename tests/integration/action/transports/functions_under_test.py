"""Functions that behave and misbehave, for worker processes of the tests."""

from __future__ import annotations

import asyncio
import builtins
import os
import signal
import subprocess
import sys
import time
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any


def echo(**arguments: Any) -> dict[str, Any]:
    return arguments


def add(left: int, right: Decimal) -> dict[str, Any]:
    return {"sum": left + right, "types": [type(left).__name__, type(right).__name__]}


async def after(day: date) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"day": day, "year": day.year}


def raises(message: str = "token=abcdef123456 of order 17") -> None:
    raise LookupError(message)


def leaves() -> None:
    sys.exit(3)


def prints() -> dict[str, Any]:
    print("E\x00\x00\x00\x00\x00\x00\x00\x02{}")  # noqa: T201 - what it prints must do no harm
    os.write(1, b"R\x00\x00\x00\x00\x00\x00\x00\x02{}")
    os.system("echo a child writes too")
    return {"read": sys.stdin.read(), "printed": True}


def environment() -> dict[str, Any]:
    return {"environment": dict(os.environ)}


def hangs(pid_file: str = "") -> None:
    if pid_file:
        child = subprocess.Popen(["sleep", "600"])
        Path(pid_file).write_text(f"{os.getpid()} {child.pid}", encoding="utf-8")
    while True:
        try:
            time.sleep(600)
        except BaseException:  # noqa: BLE001 - only SIGKILL ends it
            continue


def dies(how: str = "kill") -> None:
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(7)


def huge(size: int = 1000) -> str:
    return "x" * size


def not_json() -> dict[str, Any]:
    return {"a": {"b": {1, 2}}}


def garbage() -> str:
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, b"?" * 64)
        except OSError:
            continue
    return "never read"


def says(letter: str) -> str:
    """Say something in the protocol's own form that is no answer."""
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, letter.encode() + b"\x00" * 8)
        except OSError:
            continue
    return "never read"


def process_id() -> int:
    return os.getpid()


def exact() -> dict[str, Any]:
    return {"big": 12345678901234567890123, "price": Decimal("0.10"), "float": 0.1, "none": None}


def act(wanted: str) -> dict[str, Any]:
    """Do what the contract suite of transports asks of a peer."""
    if wanted == "refuse":
        raises("locked")
    if wanted == "hang":
        hangs()
    if wanted == "garbage":
        garbage()
    if wanted == "huge":
        return {"text": huge(200_000)}
    return {"number": 9007199254740993, "price": Decimal("0.1")}


class Unprintable(Exception):
    """An exception whose text cannot be made."""

    def __str__(self) -> str:
        raise TypeError("no text")


def anything(returns: Any, prints: str, raises: str | None, odd: str | None) -> Any:
    """Do what a property test draws."""
    print(prints.encode(errors="replace").decode())  # noqa: T201 - it must do no harm
    if raises is not None:
        raise {**vars(builtins), "Unprintable": Unprintable}[raises](prints)
    cycle: list[Any] = []
    cycle.append(cycle)
    odds = {"bytes": b"x", "nan": float("nan"), "cycle": cycle, "key": {1: 2}, "surrogate": "\ud800"}
    return returns if odd is None else [returns, odds[odd]]


not_a_function = 5
