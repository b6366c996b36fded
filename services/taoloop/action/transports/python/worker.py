"""The worker process: loads one function and calls it with what comes over its standard input."""

from __future__ import annotations

import asyncio
import inspect
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable
from typing import Any, BinaryIO, Final

from taoloop.action.transports.exact_values import NotJson, json_value
from taoloop.action.transports.python.frames import FrameBroken, Kind, frame, read_frame
from taoloop.action.transports.python.functions import (
    ArgumentsRefused,
    Function,
    FunctionUnusable,
    load_function,
)
from taoloop.core import exact_json

_MAX_MESSAGE_CHARACTERS: Final = 1000
_MAX_FRAMES: Final = 10


def main(  # pragma: no cover - runs in the processes that the tests start
    entry_point: str, max_result_bytes: int, search_path: list[str]
) -> None:
    """Serve until the service has gone.

    The pipes to the service move to descriptors of our own first: what the function prints goes to the standard
    error, and what it reads from the standard input is empty.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.path[:0] = search_path
    calls: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(requests, calls, _leave), name="requests", daemon=True).start()
    serve(entry_point, max_result_bytes, calls, answers)


def listen(requests: BinaryIO, calls: queue.SimpleQueue[bytes], leave: Callable[[], None]) -> None:
    """Pass requests on; leave when the service has gone, even in the middle of a call."""
    while (received := _next_call(requests)) is not None:
        calls.put(received)
    leave()


def _leave() -> None:  # pragma: no cover - as `main`
    """End the process with whatever the function started: as the leader of its session, as the service starts it."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _next_call(requests: BinaryIO) -> bytes | None:
    try:
        received = read_frame(requests)
    except (FrameBroken, OSError):
        return None
    return None if received is None else received[1]


def serve(entry_point: str, max_result_bytes: int, calls: queue.SimpleQueue[bytes], answers: BinaryIO) -> None:
    """Load the function and answer calls for ever; return when it cannot be loaded or nobody reads the answers."""
    try:
        function = load_function(entry_point)
    except FunctionUnusable as exc:
        _send(answers, frame(Kind.UNUSABLE, str(exc).encode(errors="replace")))
        return
    is_heard = _send(answers, frame(Kind.READY, b""))
    with asyncio.Runner() as runner:
        while is_heard:
            is_heard = _send(answers, answer(function, calls.get(), max_result_bytes, runner))


def _send(answers: BinaryIO, content: bytes) -> bool:
    try:
        answers.write(content)
        answers.flush()
    except OSError:
        return False
    return True


def answer(function: Function, arguments: bytes, max_result_bytes: int, runner: asyncio.Runner) -> bytes:
    """Call the function once and return the frame of what became of it."""
    read = exact_json.loads(arguments)
    assert isinstance(read, dict)
    try:
        bound = function.bound(read)
    except ArgumentsRefused as exc:
        return frame(Kind.REFUSED, _text({"pointer": exc.pointer, "message": exc.message}))
    try:
        result = function.target(*bound.args, **bound.kwargs)
        if inspect.isawaitable(result):
            result = runner.run(_awaited(result))
    except BaseException as exc:  # noqa: BLE001 - foreign code: whatever it raises, SystemExit too, is its answer
        return frame(Kind.RAISED, _text(_described(exc)))
    return _returned(result, max_result_bytes)


def _returned(result: Any, max_result_bytes: int) -> bytes:
    try:
        text = exact_json.dumps(json_value(result)).encode()
    except (NotJson, exact_json.JsonEncodeError) as exc:
        return frame(Kind.NOT_JSON, str(exc).encode(errors="replace"))
    except Exception as exc:  # noqa: BLE001 - a model of foreign code may fail while it is taken apart
        return frame(Kind.RAISED, _text(_described(exc)))
    if len(text) > max_result_bytes:
        return frame(Kind.TOO_LARGE, str(len(text)).encode())
    return frame(Kind.RETURNED, text)


async def _awaited(result: Awaitable[Any]) -> Any:
    return await result


def _described(error: BaseException) -> dict[str, Any]:
    try:
        message = str(error)
    except Exception as exc:  # noqa: BLE001 - an exception of foreign code may not even have a text
        message = f"({type(exc).__name__} while its text was made)"
    stack = traceback.extract_tb(error.__traceback__)[1:]  # without our own frame
    return {
        "type": type(error).__qualname__,
        "message": message[:_MAX_MESSAGE_CHARACTERS],
        "stack": [f"{each.filename}:{each.lineno} {each.name}" for each in stack[-_MAX_FRAMES:]],
    }


def _text(value: dict[str, Any]) -> bytes:
    """Return the JSON of texts that may hold lone surrogates, which have none."""
    clean = {
        key: [_clean(each) for each in item] if isinstance(item, list) else _clean(item) for key, item in value.items()
    }
    return exact_json.dumps(clean).encode()


def _clean(text: str) -> str:
    return text.encode(errors="replace").decode()


if __name__ == "__main__":  # pragma: no cover - as `main`
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
