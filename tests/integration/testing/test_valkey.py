"""The embedded Valkey: it comes up, survives its death with its data, and leaves nothing."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from redis.asyncio import Redis

from taoloop.core.errors import ConfigurationError
from taoloop.testing.valkey import EmbeddedValkey


async def test_what_was_acknowledged_survives_a_kill_and_a_restart_on_the_same_port(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path) as valkey:
        url = valkey.url
        client = Redis.from_url(url)
        await client.set("a", "1")
        await client.aclose()
        valkey.kill()
        assert valkey.pid is None
        await valkey.start()
        assert valkey.url == url
        client = Redis.from_url(url)
        assert await client.get("a") == b"1"
        await client.aclose()


async def test_leaving_the_block_ends_the_process_and_frees_the_directory(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path) as valkey:
        pid = valkey.pid
        assert pid is not None
        assert f"pid {pid}" in repr(valkey)
    assert not psutil.pid_exists(pid)
    assert "[down]" in repr(valkey)
    async with EmbeddedValkey(tmp_path):
        pass


async def test_a_directory_serves_one_server_at_a_time(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path):
        with pytest.raises(ConfigurationError, match="Another process uses the data directory"):
            await EmbeddedValkey(tmp_path).start()


async def test_a_taken_port_is_told(tmp_path: Path) -> None:
    async with EmbeddedValkey(tmp_path / "a") as valkey:
        port = int(valkey.url.rpartition(":")[2].partition("/")[0])
        with pytest.raises(ConfigurationError, match=f"Port {port}"):
            await EmbeddedValkey(tmp_path / "b", port).start()
