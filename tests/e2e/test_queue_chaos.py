"""A short run of the queue's chaos test: everything dies and stands still, and every caller is told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.queue.run import ChaosPlan, chaos

SHORT = ChaosPlan(count=300, seconds=10.0, seed=4)


@pytest.mark.timeout(200)
async def test_every_caller_is_told_once_while_workers_fronts_and_the_server_are_killed(tmp_path: Path) -> None:
    audit = await chaos(SHORT, tmp_path)
    assert audit.violations == []
    assert audit.counts["answered"] > 0
    assert audit.counts["kills"]
