"""A short run of the loop's chaos test: all that serves runs is killed, and each ends once with what was done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.loop.run import LoopPlan, chaos

SHORT = LoopPlan(count=40, store="postgresql", parallel=8, seconds=8.0, seed=5, pauses=(0.3, 1.0), replicas=1)


@pytest.mark.real
@pytest.mark.timeout(300)
async def test_every_run_ends_once_and_no_write_is_doubled_while_everything_is_killed(tmp_path: Path) -> None:
    audit = await chaos(SHORT, tmp_path)
    assert audit.violations == []
    assert audit.counts["outcomes"]["answered"] > 0
    assert audit.counts["doubled"] == audit.counts["runs_with_lost_events"] == 0
    assert sum(audit.counts["accidents"].values()) >= 1
