"""Settings of memory that would lose or mix what is remembered are refused before a port opens."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.core.errors import ConfigurationError
from taoloop.core.settings import load_settings, masked
from taoloop.loop.memory.settings import MemoryOnlySettings

SQL = "sqlite+aiosqlite:///a.sqlite"


def read(**memory: Any) -> MemoryOnlySettings:
    return load_settings(MemoryOnlySettings, {"memory": memory})


@pytest.mark.parametrize(
    ("memory", "named"),
    [
        ({"hot": {"ttl_seconds": 0}}, "TAOLOOP_MEMORY__HOT__TTL_SECONDS is 0"),
        ({"hot": {"ttl_seconds": 5}}, "TAOLOOP_MEMORY__HOT__TTL_SECONDS is 5"),
        ({"hot": {"ttl_seconds": 301}}, "TAOLOOP_MEMORY__HOT__TTL_SECONDS is 301"),
        ({"warm": {"ttl_seconds": 60}}, "TAOLOOP_MEMORY__WARM__TTL_SECONDS is 60"),
        ({"recall": {"max_tokens": 301}}, "TAOLOOP_MEMORY__RECALL__MAX_TOKENS is 301"),
        ({"recall": {"max_summary_tokens": 129}}, "TAOLOOP_MEMORY__RECALL__MAX_SUMMARY_TOKENS is 129"),
        ({"lines": {"HR": {}}}, "no name of a line of business"),
        ({"lines": {"a": {"warm_url": SQL}, "b": {"warm_url": SQL}}}, "the lines a and b share a store"),
        ({"lines": {"a": {"warm_url": SQL}}, "warm": {"url": SQL}}, "the line a has the store of warm.url"),
        ({"redact": ["shoe_size"]}, "TAOLOOP_MEMORY__REDACT"),
        ({"redact_patterns": {"x": "("}}, "redact_patterns has a pattern that cannot be used"),
        ({"redact_patterns": {"no name": "x"}}, "no name of a pattern"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(memory: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(**memory)
    assert named in caught.value.message


def test_warm_memory_may_live_exactly_as_long_as_hot() -> None:
    assert read(warm={"ttl_seconds": 300.0}).memory.warm.ttl_seconds == 300.0


def test_secret_urls_of_lines_are_not_shown() -> None:
    shown = masked(read(lines={"a": {"warm_url": "postgresql+asyncpg://u:hunter2@h/d", "redis_url": "redis://:pw1@h"}}))
    assert "hunter2" not in str(shown)
    assert "pw1" not in str(shown)


def test_the_defaults_remember_for_five_minutes_in_redis_alone() -> None:
    memory = read().memory
    assert (memory.enabled, memory.hot.ttl_seconds, memory.warm.url, memory.summariser.url) == (True, 300.0, None, None)
