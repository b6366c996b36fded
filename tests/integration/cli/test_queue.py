"""`taoloop queue` on a real queue."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from taoloop.plan.task import Priority
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.thought.model import ThinkFailure
from taoloop.thought.queue.queue_keys import QueueKeys
from tests.integration.thought.queue_ground import QueueGround, job, queue_ground, reply, soon, take_one
from tests.unit.cli.conftest import Invoke

FAILURE = ThinkFailure(reason="INTERNAL", message="Internal error.")


@pytest.fixture
def prefix(valkey: EmbeddedValkey, monkeypatch: pytest.MonkeyPatch) -> str:
    """A queue of its own, which the environment names."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    monkeypatch.setenv("TAOLOOP_REDIS__URL", valkey.url)
    monkeypatch.setenv("TAOLOOP_REDIS__KEY_PREFIX", name)
    return name


@pytest.fixture
def on_queue(valkey: EmbeddedValkey, prefix: str) -> Callable[[Callable[[QueueGround], Awaitable[Any]]], Any]:
    def run(use: Callable[[QueueGround], Awaitable[Any]]) -> Any:
        async def used() -> Any:
            async with queue_ground(valkey.url) as ground:
                ground.keys = QueueKeys(prefix)
                return await use(ground)

        return asyncio.run(used())

    return run


async def with_dead_letters(ground: QueueGround) -> None:
    front, worker = await ground.front(), await ground.worker()
    for number, priority in enumerate(Priority):
        asked = asyncio.ensure_future(front.ask(job(f"t:r{number}:1", "a secret question", priority), soon()))
        await worker.set_aside(await take_one(worker), "handed out 6 times without an answer", FAILURE)
        await asked
    await ground.bare.xadd(ground.keys.jobs(Priority.INTERACTIVE), {"rubbish": "x"})
    lease = await take_one(worker)
    await worker.set_aside(lease, lease.fault, FAILURE)


def test_an_empty_queue_is_shown_as_such(invoke: Invoke, prefix: str) -> None:
    done = invoke("queue", "status")
    assert done.code == 0
    assert "interactive" in done.out
    assert "no worker has asked for work yet" in done.out
    assert json.loads(invoke("queue", "status", "--json").out)["dead"] == 0
    assert "no dead letters" in invoke("queue", "dead").out


def test_the_status_tells_what_waits_and_who_works(invoke: Invoke, on_queue: Callable[..., Any]) -> None:
    shown: dict[str, Any] = {}

    async def use(ground: QueueGround) -> None:
        front, worker = await ground.front(), await ground.worker("worker-a")
        asked = [asyncio.ensure_future(front.ask(job(f"t:r{n}:1"), soon())) for n in range(2)]
        lease = await take_one(worker)
        shown["json"] = (await asyncio.to_thread(invoke, "queue", "status", "--json")).out
        shown["text"] = (await asyncio.to_thread(invoke, "queue", "status")).out
        await worker.answer(lease, reply())
        await worker.answer(await take_one(worker), reply())
        await asyncio.gather(*asked)

    on_queue(use)
    state = json.loads(shown["json"])
    assert state["streams"]["interactive"].items() >= {"waiting": 1, "leased": 1, "redelivered": 0}.items()
    assert [(worker["name"], worker["leased"]) for worker in state["workers"]] == [("worker-a", 1)]
    assert "worker-a" in shown["text"]


def test_dead_letters_say_why_and_keep_what_was_asked_to_themselves(
    invoke: Invoke, on_queue: Callable[..., Any]
) -> None:
    on_queue(with_dead_letters)
    letters = [json.loads(line) for line in invoke("queue", "dead", "--json").out.splitlines()]
    assert [(letter["tenant"], letter["priority"], letter["can_be_requeued"]) for letter in letters] == [
        ("", "interactive", False),
        ("t", "background", True),
        ("t", "interactive", True),
    ]
    assert all(0.0 <= letter["age_seconds"] < 60.0 for letter in letters)
    text = invoke("queue", "dead").out
    assert "handed out 6 times" in text
    assert "secret" not in text + json.dumps(letters)
    assert "a secret question" in invoke("queue", "dead", "--with-request").out
    assert "a secret question" in invoke("queue", "dead", "--with-request", "--json").out
    assert len(invoke("queue", "dead", "--json", "--cause", "VERSION").out.splitlines()) == 1
    assert len(invoke("queue", "dead", "--json", "--tenant", "t").out.splitlines()) == 2
    assert len(invoke("queue", "dead", "--json", "--limit", "1").out.splitlines()) == 1
    assert "3 requests were set aside" in invoke("queue", "status").out


def test_a_letter_is_queued_again_and_then_answered(invoke: Invoke, on_queue: Callable[..., Any]) -> None:
    on_queue(with_dead_letters)
    done = invoke("queue", "requeue", "--cause", "handed out", "--yes", "--json")
    assert done.code == 0
    assert [json.loads(line)["became"] for line in done.out.splitlines()] == ["requeued", "requeued"]
    assert json.loads(invoke("queue", "status", "--json").out)["dead"] == 1

    async def use(ground: QueueGround) -> Any:
        front, worker = await ground.front(), await ground.worker()
        asked = asyncio.ensure_future(front.ask(job("t:r0:1", "a secret question"), soon()))
        leases = [await take_one(worker), await take_one(worker)]
        for lease in leases:
            await worker.answer(lease, reply())
        return await asked, [lease.priority for lease in leases], [lease.deliveries for lease in leases]

    assert on_queue(use) == (reply(), list(Priority), [1, 1])


def test_what_is_no_whole_request_is_not_queued_again(invoke: Invoke, on_queue: Callable[..., Any]) -> None:
    on_queue(with_dead_letters)
    (letter,) = (json.loads(line) for line in invoke("queue", "dead", "--json", "--cause", "version").out.splitlines())
    done = invoke("queue", "requeue", letter["letter"])
    assert (done.code, done.out.split()) == (1, [letter["letter"], "incomplete"])


def test_letters_are_discarded(invoke: Invoke, on_queue: Callable[..., Any]) -> None:
    on_queue(with_dead_letters)
    assert invoke("queue", "discard", "--tenant", "t", "--yes").out.count("discarded") == 2
    assert json.loads(invoke("queue", "status", "--json").out)["dead"] == 1


@pytest.mark.parametrize("verb", ["requeue", "discard"])
def test_nothing_is_done_to_letters_that_nobody_has_named(
    invoke: Invoke, on_queue: Callable[..., Any], verb: str
) -> None:
    on_queue(with_dead_letters)
    assert invoke("queue", verb).code == 2
    assert invoke("queue", verb, "--tenant", "t").code == 2
    assert invoke("queue", verb, "not-an-id").code == 2
    assert invoke("queue", verb, "--tenant", "nobody").out.strip() == "no letter was chosen"
    assert json.loads(invoke("queue", "status", "--json").out)["dead"] == 3


def test_a_queue_that_is_away_is_one_line(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAOLOOP_REDIS__URL", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("TAOLOOP_REDIS__OUTAGE_TOLERANCE_SECONDS", "0.2")
    done = invoke("queue", "status")
    assert done.code == 1
    assert done.err.startswith("BACKEND_UNAVAILABLE: Redis does not serve")
