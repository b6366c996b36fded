"""What a worker answers, in this process."""

from __future__ import annotations

import asyncio
import io
import queue
from collections.abc import Callable
from typing import Any

import pytest

from taoloop.action.transports.python import worker
from taoloop.action.transports.python.frames import Kind, frame, read_frame
from taoloop.action.transports.python.functions import Function
from taoloop.core import exact_json


class ClosedPipe(io.BytesIO):
    def flush(self) -> None:
        raise BrokenPipeError


def answer(target: Callable[..., Any], arguments: str = "{}", limit: int = 100) -> tuple[Kind, Any]:
    with asyncio.Runner() as runner:
        found = read_frame(io.BytesIO(worker.answer(Function(target), arguments.encode(), limit, runner)))
    assert found is not None
    kind, text = found
    return kind, text.decode() if kind in {Kind.NOT_JSON, Kind.TOO_LARGE} else exact_json.loads(text)


async def waits() -> int:
    await asyncio.sleep(0)
    return 5


class Unprintable(Exception):
    def __str__(self) -> str:
        raise TypeError("no text")


class OddModel:
    def model_dump(self, **_: Any) -> Any:
        raise RuntimeError("no dump")


def raises(error: BaseException) -> Callable[[], None]:
    def function() -> None:
        raise error

    return function


def test_results_are_returned_and_coroutines_awaited() -> None:
    assert answer(lambda a: {"a": a}, '{"a":0.10}') == (Kind.RETURNED, {"a": exact_json.loads("0.10")})
    assert answer(waits) == (Kind.RETURNED, 5)


def test_results_that_cannot_be_passed_on_are_named() -> None:
    assert answer(lambda: "x" * 200) == (Kind.TOO_LARGE, "202")
    assert answer(lambda: {1, 2})[0] is Kind.NOT_JSON
    assert answer(lambda: "\ud800")[0] is Kind.NOT_JSON
    assert answer(OddModel)[1]["type"] == "RuntimeError"


def test_arguments_that_do_not_fit_are_refused() -> None:
    assert answer(lambda: 1, '{"a":1}')[0] is Kind.REFUSED


@pytest.mark.parametrize("error", [ValueError("no \ud800"), SystemExit(3), KeyboardInterrupt(), Unprintable()])
def test_whatever_is_raised_is_an_answer(error: BaseException) -> None:
    kind, said = answer(raises(error))
    assert (kind, said["type"]) == (Kind.RAISED, type(error).__name__)
    assert "in function" not in said["message"]
    assert said["stack"][0].endswith(" function")


def test_serving_ends_when_nobody_reads_or_nothing_can_be_loaded() -> None:
    answers = io.BytesIO()
    worker.serve("no.such:function", 100, queue.SimpleQueue(), answers)
    answers.seek(0)
    unusable = read_frame(answers)
    assert unusable is not None
    assert unusable[0] is Kind.UNUSABLE
    worker.serve("math:sqrt", 100, queue.SimpleQueue(), ClosedPipe())


def test_a_call_is_served() -> None:
    class OneAnswer(io.BytesIO):
        flushes = 0

        def flush(self) -> None:
            self.flushes += 1
            if self.flushes == 2:
                raise BrokenPipeError

    calls: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    calls.put(b'{"iterable":"a"}')
    answers = OneAnswer()
    worker.serve("builtins:dict.fromkeys", 100, calls, answers)
    answers.seek(0)
    sent = [read_frame(answers), read_frame(answers)]
    assert [each and each[0] for each in sent] == [Kind.READY, Kind.REFUSED]


@pytest.mark.parametrize("rest", [b"", b"\xff" * 20])
def test_when_the_service_has_gone_the_process_is_left(rest: bytes) -> None:
    left: list[bool] = []
    calls: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    worker.listen(io.BytesIO(frame(Kind.CALL, b"{}") + rest), calls, lambda: left.append(True))
    assert (calls.get_nowait(), left) == (b"{}", [True])
