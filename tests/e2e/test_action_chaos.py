"""A short run of the chaos test: processes are killed in the middle of their writes, and nothing happens twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.action import Plan, chaos

SHORT = Plan(count=100, store="sqlite", parallel=16, seed=7, placing_seconds=5.0, pauses=(0.3, 1.0))


@pytest.mark.timeout(150)
async def test_no_order_is_placed_twice_and_none_is_lost_while_processes_are_killed(tmp_path: Path) -> None:
    audit = await chaos(SHORT, tmp_path)
    assert audit.violations == []
    assert audit.counts["duplicates"] == audit.counts["lost_intents"] == 0
    assert audit.counts["kills"]["action"] >= 1
    assert audit.counts["unknown"] == audit.counts["unknown_listed"]
