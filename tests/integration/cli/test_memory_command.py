"""`taoloop memory` on real stores: what an operator puts in is known, and what is forgotten is gone from both."""

from __future__ import annotations

import asyncio
import json
import uuid
from pathlib import Path

import pytest
from pydantic import SecretStr

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.memory.model import MemorySpace, SessionMemory
from taoloop.loop.memory.opening import open_stores
from taoloop.loop.memory.settings import MemorySettings, WarmMemorySettings
from taoloop.loop.memory.sql.sql_warm_memory import sql_warm_memory
from taoloop.testing.valkey import EmbeddedValkey
from tests.unit.cli.conftest import Invoke

ANNA = MemorySpace(tenant="acme", business_line="sales", session_id="s1", user_id="anna")


@pytest.fixture
def settings(tmp_path: Path, valkey: EmbeddedValkey, monkeypatch: pytest.MonkeyPatch) -> tuple[str, RedisSettings]:
    """Stores that the environment names; warm memory is there, and empty."""
    url = f"sqlite+aiosqlite:///{tmp_path}/memory.sqlite"
    prefix = f"test-{uuid.uuid4().hex[:8]}"

    async def make() -> None:
        async with sql_warm_memory(url, SystemClock(), 300.0):
            pass

    asyncio.run(make())
    monkeypatch.setenv("TAOLOOP_MEMORY__WARM__URL", url)
    monkeypatch.setenv("TAOLOOP_REDIS__URL", valkey.url)
    monkeypatch.setenv("TAOLOOP_REDIS__KEY_PREFIX", prefix)
    monkeypatch.setenv("TAOLOOP_TENANT", "acme")
    return url, RedisSettings(url=SecretStr(valkey.url), key_prefix=prefix)


async def sessions(settings: tuple[str, RedisSettings], *, save: bool = False) -> list[bool]:
    """Save Anna's session in both stores, or tell which of them has it."""
    url, redis = settings
    memory = MemorySettings(warm=WarmMemorySettings(url=SecretStr(url)))
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    deadline = Deadline.after(5.0, SystemClock())
    async with open_stores(memory, redis, "sales", telemetry, SystemClock()) as stores:
        found = []
        for store in stores:
            assert store is not None
            if save:
                await store.save(ANNA, SessionMemory(version=1), 0, deadline)
            found.append(await store.load(ANNA, deadline) is not None)
    return found


def test_what_is_put_in_is_listed_masked_and_can_be_taken_out(invoke: Invoke, settings: object) -> None:
    put = invoke("memory", "put", "Call 13812345678 first", "--name", "desk", "--line", "sales", "--ttl", "24h")
    assert (put.code, put.out) == (0, "policy desk: Call <PHONE> first\n")
    invoke(
        "memory",
        "put",
        "likes aisle seats",
        "--name",
        "seat",
        "--kind",
        "preference",
        "--line",
        "sales",
        "--user",
        "anna",
    )

    ours = [json.loads(line) for line in invoke("memory", "list", "--line", "sales", "--json").out.splitlines()]
    assert [(entry["kind"], entry["name"], entry["text"]) for entry in ours] == [
        ("policy", "desk", "Call <PHONE> first")
    ]
    assert ours[0]["expires_at"] is not None
    hers = invoke("memory", "list", "--line", "sales", "--user", "anna").out
    assert "desk" in hers
    assert "seat" in hers
    assert invoke("memory", "list", "--line", "hr", "--json").out == ""
    assert invoke("memory", "list", "--line", "sales", "--tenant", "globex", "--json").out == ""

    gone = invoke("memory", "forget", "--line", "sales", "--kind", "policy", "--name", "desk", "--json")
    assert json.loads(gone.out) == {"sessions": 0, "entries": 1}


def test_forgetting_a_user_empties_both_stores(invoke: Invoke, settings: tuple[str, RedisSettings]) -> None:
    assert asyncio.run(sessions(settings, save=True)) == [True, True]
    invoke("memory", "put", "likes aisle seats", "--name", "seat", "--line", "sales", "--user", "anna")
    assert invoke("memory", "forget", "--line", "sales", "--user", "ben").out == "forgot 0 sessions and 0 entries\n"
    assert asyncio.run(sessions(settings)) == [True, True]

    gone = invoke("memory", "forget", "--line", "sales", "--user", "anna")

    assert gone.out == "forgot 1 sessions and 1 entries\n"
    assert asyncio.run(sessions(settings)) == [False, False]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("put", "x", "--name", "n", "--kind", "shoe"), "one of policy, state, preference"),
        (("put", " ", "--name", "n"), "1 to 1000 characters"),
        (("put", "x", "--name", "n", "--kind", "preference"), "give --user"),
        (("put", "x", "--name", "n", "--line", "Sales"), "1 to 64 characters of a-z"),
        (("put", "x", "--name", "n", "--ttl", "soon"), "--ttl"),
        (("forget",), "name a user, a session or an entry"),
        (("forget", "--name", "n"), "belong together"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(
    invoke: Invoke, settings: object, arguments: tuple[str, ...], said: str
) -> None:
    done = invoke("memory", *arguments)
    assert done.code == 2
    assert said in " ".join(done.err.replace("│", " ").split())


def test_without_warm_memory_the_setting_is_named(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    done = invoke("memory", "list")
    assert done.code == 1
    assert "TAOLOOP_MEMORY__WARM__URL" in done.err


def test_a_mistyped_path_makes_no_new_file(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TAOLOOP_MEMORY__WARM__URL", f"sqlite+aiosqlite:///{tmp_path}/nothing.sqlite")
    done = invoke("memory", "list")
    assert done.code == 1
    assert "There is no warm memory at" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_line_without_stores_is_refused_where_lines_are_strict(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAOLOOP_MEMORY__STRICT_LINES", "true")
    done = invoke("memory", "list", "--line", "hr")
    assert done.code == 1
    assert "'hr' has no stores in TAOLOOP_MEMORY__LINES" in done.err
