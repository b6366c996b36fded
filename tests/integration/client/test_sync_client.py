"""The client for programs without an event loop: several threads, interrupts, forgotten iterators, forks."""

import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from taoloop.client import ApprovalDecision, Client, HandoverDecision, HandoverOutcome, Outcome, UnknownRun
from taoloop.client.background import BackgroundLoop
from taoloop.core import errors
from taoloop.plan.running import LoopServiceDecideApprovalRequest
from taoloop.plan.running.handovers import DecideHandoverRequest
from taoloop.plan.task import ProvidedInput
from tests.integration.client.scripted_loop import RUN_ID, Script, scripted


class Ground:
    """A server on a thread of its own."""

    def __init__(self) -> None:
        self.loop = BackgroundLoop("server")
        self.script = self.loop.run(_made())
        self._serving = scripted(self.script)
        self.address = self.loop.run(_entered(self._serving))

    def close(self) -> None:
        self.loop.run(self._serving.__aexit__(None, None, None))
        self.loop.close()


async def _made() -> Script:
    return Script()


async def _entered(serving: object) -> str:
    return await serving.__aenter__()  # type: ignore[attr-defined, no-any-return]


@pytest.fixture
def ground() -> Iterator[Ground]:
    made = Ground()
    yield made
    made.close()


def eventually(holds: Callable[[], bool]) -> None:
    last = time.monotonic() + 10.0
    while not holds():
        assert time.monotonic() < last
        time.sleep(0.01)


def test_run_gives_its_answer(ground: Ground, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), Client(ground.address) as client:
        result = client.run("What is it?")
        assert (result.outcome, result.text) == (Outcome.ANSWERED, "42")
        assert [event.sequence for event in client.watch(RUN_ID, 2)] == [2, 3, 4]
        assert len(list(client.list(page_size=2))) == 7
        assert client.get(RUN_ID).last_sequence == 4
    assert caplog.records == []


def test_people_decide_by_the_same_calls_as_on_an_event_loop(ground: Ground) -> None:
    wanted = HandoverOutcome(handover_id="", decision=HandoverDecision.ANSWERED, decided_by="anna", answer_text="42")
    with Client(ground.address) as client:
        assert client.submit("What is it?").run_id == RUN_ID
        assert client.wait(RUN_ID).text == "42"
        assert client.provide_input(RUN_ID, "q1", {"size": 38}, request_id="mine") == 5
        assert client.approve(RUN_ID, "a1", decided_by="anna") is ApprovalDecision.APPROVED
        assert client.reject(RUN_ID, "a2", decided_by="bert", comment="no") is ApprovalDecision.REJECTED
        assert [each.run_id for each in client.handovers(RUN_ID)] == [RUN_ID] * 4
        assert client.handover(RUN_ID).run_id == RUN_ID
        assert client.decide_handover(RUN_ID, wanted).decision is HandoverDecision.CLOSED
        assert client.cancel(RUN_ID, reason="enough") is Outcome.CANCELLED
    [given] = ground.script.inputs
    assert (given.request_id, given.input) == ("mine", ProvidedInput(input_id="q1", values={"size": 38}))
    approved, rejected, handed = ground.script.decisions
    assert isinstance(approved, LoopServiceDecideApprovalRequest)
    assert (approved.approval_id, approved.decision, approved.decided_by) == ("a1", ApprovalDecision.APPROVED, "anna")
    assert isinstance(rejected, LoopServiceDecideApprovalRequest)
    assert (rejected.approval_id, rejected.decision, rejected.comment) == ("a2", ApprovalDecision.REJECTED, "no")
    assert isinstance(handed, DecideHandoverRequest)
    assert (handed.decided_by, handed.answer_text) == ("anna", "42")
    assert ground.script.cancelled == ["enough"]


def test_error_is_raised_as_itself(ground: Ground) -> None:
    ground.script.fail("GetRun", errors.UnknownRun.of("x"))
    with Client(ground.address) as client, pytest.raises(UnknownRun):
        client.get("x")


def test_threads_share_one_client(ground: Ground) -> None:
    with Client(ground.address) as client, ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda number: client.run(f"What is {number}?"), range(64)))
    assert {result.text for result in results} == {"42"}
    assert len(set(ground.script.submitted)) == 64


def test_interrupt_ends_the_run(ground: Ground) -> None:
    ground.script.events, ground.script.holds = ground.script.events[:2], True

    def interrupt() -> None:
        eventually(lambda: bool(ground.script.watched))
        os.kill(os.getpid(), signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Client(ground.address) as client:
            interrupting.start()
            with pytest.raises(KeyboardInterrupt):
                client.run("What is it?")
    finally:
        signal.signal(signal.SIGINT, previous)
    interrupting.join()
    assert ground.script.cancelled == ["Its caller gave up."]


def test_stream_that_is_left_ends_the_run(ground: Ground) -> None:
    with Client(ground.address) as client:
        with closing(client.stream("What is it?")) as events:  # type: ignore[type-var]
            next(events)
        assert ground.script.cancelled == ["Its caller gave up."]
        next(client.stream("What is it?"))  # forgotten at once
        gc.collect()
        eventually(lambda: len(ground.script.cancelled) == 2)


def test_stream_that_is_still_held_ends_its_run_with_the_client(ground: Ground) -> None:
    with Client(ground.address) as client:
        events = client.stream("What is it?")
        next(events)
        assert ground.script.cancelled == []
    assert ground.script.cancelled == ["Its caller gave up."]
    with pytest.raises(RuntimeError, match="closed"):
        next(events)


def test_client_is_closed_while_a_thread_watches(ground: Ground) -> None:
    ground.script.events, ground.script.holds = ground.script.events[:2], True
    seen: list[int] = []

    def watch(client: Client) -> None:
        seen.extend(event.sequence for event in client.watch(RUN_ID))

    with ThreadPoolExecutor(1) as pool:
        with Client(ground.address) as client:
            watching = pool.submit(watch, client)
            eventually(lambda: bool(ground.script.watched))
        with pytest.raises(RuntimeError, match="closed"):
            watching.result(10)


def test_client_that_is_not_open_says_so() -> None:
    with pytest.raises(RuntimeError, match="within `with`"):
        Client("127.0.0.1:1").run("What is it?")


FORKING = """
import os, sys
from taoloop.client import Client
client = Client(sys.argv[1]).__enter__()
client.get("r")
if os.fork() == 0:
    try:
        client.get("r")
    except RuntimeError as exc:
        print(exc)
        sys.stdout.flush()
    os._exit(0)
os.wait()
print(client.get("r").last_sequence)
next(client.watch("r"))
"""


def test_forked_child_is_told_to_open_its_own_and_a_client_left_open_does_not_keep_the_process(ground: Ground) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING, ground.address], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    told, last_sequence = done.stdout.splitlines()
    assert "before this process was forked" in told
    assert last_sequence == "4"
    assert "Traceback" not in done.stderr
