"""What each switch of memory changes, for the test of all switches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.settings import TelemetrySettings, load_settings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.memory.model import EntryKind, KnowledgeEntry, MemorySpace
from taoloop.loop.memory.opening import open_memory
from taoloop.loop.settings import LoopSettings
from taoloop.loop.state import RunState
from taoloop.plan.running import RunStarted
from taoloop.plan.task import Role, Task, Turn
from taoloop.plan.thinking import MemoryContext
from taoloop.testing.clock import FakeClock
from taoloop.wire.redis.redis_link import redis_link
from tests.unit.loop.memory.runs import events, run, user

Set = Callable[[str, str], None]
LOCAL = "http://127.0.0.1:9/v1"
IN_MEMORY = "sqlite+aiosqlite://"
ASKED = Task(turns=(Turn(role=Role.USER, text="那3月的差旅报销进度呢"),), session_id="s", user_id="anna", state={})
POLICY = KnowledgeEntry(kind=EntryKind.POLICY, name="claims", text="差旅报销须在返程后30天内提交")


async def _remembered() -> tuple[Json, MemoryContext | None]:
    """Return what a run begins with and its thought is told, after one run before it, with memory in SQL alone."""
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    settings = load_settings(LoopSettings, {"memory": {"hot": {"enabled": False}}})
    async with (
        redis_link(settings.redis, telemetry) as link,
        open_memory(settings.memory, settings.redis, link, telemetry, FakeClock()) as memory,
    ):
        if memory is None:
            return ABSENT, None
        before = run(replace(ASKED, turns=(user("查上个月的报销"),)), answer="共 3 笔", snapshot={"date_range": "d"})
        await memory.remember("acme", before)
        if (warm := memory.tiers_of("default").warm) is not None:
            space = MemorySpace(tenant="acme")
            await warm.write(lambda store, deadline: store.keep(space, [POLICY], deadline))
        restored = await memory.restored("acme", ASKED)
        call = CallContext(deadline=Deadline.after(5.0, FakeClock()), tenant="acme")
        begun = RunState.from_events("9" * 32, events("9" * 32, RunStarted(task=restored)))
        return restored.state, await memory.recall("acme", begun, call)


async def memory_enabled(set_: Set) -> None:
    set_("TAOLOOP_MEMORY__WARM__URL", IN_MEMORY)
    assert (await _remembered())[0] == {"date_range": "d"}
    set_("TAOLOOP_MEMORY__ENABLED", "false")
    assert await _remembered() == (ABSENT, None)


async def recall_enabled(set_: Set) -> None:
    set_("TAOLOOP_MEMORY__WARM__URL", IN_MEMORY)
    assert (await _remembered())[1] is not None
    set_("TAOLOOP_MEMORY__RECALL__ENABLED", "false")
    assert await _remembered() == ({"date_range": "d"}, None)


async def restores_state(set_: Set) -> None:
    set_("TAOLOOP_MEMORY__WARM__URL", IN_MEMORY)
    set_("TAOLOOP_MEMORY__RECALL__RESTORES_STATE", "false")
    state, told = await _remembered()
    assert state == {}
    assert told is not None


async def recalled_items(set_: Set) -> None:
    set_("TAOLOOP_MEMORY__WARM__URL", IN_MEMORY)

    async def kinds() -> list[str]:
        _, told = await _remembered()
        return [] if told is None else [item.kind for item in told.knowledge]

    assert await kinds() == ["snapshot", "policy"]
    set_("TAOLOOP_MEMORY__RECALL__MAX_ITEMS", "0")
    assert await kinds() == ["snapshot"]


async def _opened_memory(memory: dict[str, Any] | None = None) -> str:
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    settings = load_settings(LoopSettings, {"memory": memory or {}})
    async with (
        redis_link(settings.redis, telemetry) as link,
        open_memory(settings.memory, settings.redis, link, telemetry, FakeClock()) as opened,
    ):
        return repr(opened)


async def summariser_url(set_: Set) -> None:
    set_("TAOLOOP_MEMORY__SUMMARISER__PROBE", "off")
    assert "ChatSummariser" not in await _opened_memory()
    set_("TAOLOOP_MEMORY__SUMMARISER__URL", LOCAL)
    assert "ChatSummariser" in await _opened_memory()


async def hot_enabled(set_: Set) -> None:
    assert "RedisHotMemory" in await _opened_memory()
    set_("TAOLOOP_MEMORY__HOT__ENABLED", "false")
    assert "RedisHotMemory" not in await _opened_memory()


async def warm_url(set_: Set) -> None:
    assert "WarmMemory" not in await _opened_memory()
    set_("TAOLOOP_MEMORY__WARM__URL", IN_MEMORY)
    assert "WarmMemory" in await _opened_memory()
    assert (await _remembered())[0] == {"date_range": "d"}


async def strict_lines(set_: Set) -> None:
    set_("TAOLOOP_MEMORY__WARM__URL", IN_MEMORY)
    set_("TAOLOOP_MEMORY__STRICT_LINES", "true")
    assert "RedisHotMemory" not in await _opened_memory()


BEHAVIOUR: dict[str, Callable[[Set], Awaitable[None]]] = {
    "TAOLOOP_MEMORY__ENABLED": memory_enabled,
    "TAOLOOP_MEMORY__RECALL__ENABLED": recall_enabled,
    "TAOLOOP_MEMORY__RECALL__RESTORES_STATE": restores_state,
    "TAOLOOP_MEMORY__RECALL__MAX_ITEMS": recalled_items,
    "TAOLOOP_MEMORY__SUMMARISER__URL": summariser_url,
    "TAOLOOP_MEMORY__HOT__ENABLED": hot_enabled,
    "TAOLOOP_MEMORY__WARM__URL": warm_url,
    "TAOLOOP_MEMORY__STRICT_LINES": strict_lines,
}
