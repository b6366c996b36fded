"""Has thousands of runs made while everything that serves them is killed, and audits what became of each.

`python -m tests.chaos.loop [--count N] [--store postgresql|sqlite] [--seed N] [--seconds N] [--json]`; the last line
is one JSON object. Exit code 1: a run has no outcome, a write is doubled, an event is lost or out of order, or
something is left behind.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.chaos.loop.audit import LoopAudit
from tests.chaos.loop.run import LoopPlan, chaos

GRACE_SECONDS: Final = 420.0
"""For the start, the last calls, the settling and the audit."""
MOST_SHOWN: Final = 100
INTERRUPTED: Final = 130


async def _bounded(plan: LoopPlan, root: Path) -> LoopAudit:
    """Run it; a request to end it ends all that it started."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async with asyncio.timeout(plan.seconds + GRACE_SECONDS):
        return await chaos(plan, root)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it as a program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=LoopPlan.count, help="runs, if there is time")
    parser.add_argument("--store", choices=("postgresql", "sqlite"), default=LoopPlan.store, help="of the ledger")
    parser.add_argument("--seed", type=int, default=LoopPlan.seed, help="of the accidents and the callers' manners")
    parser.add_argument("--seconds", type=float, default=LoopPlan.seconds, help="of accidents")
    parser.add_argument("--json", action="store_true", help="tell nothing but the last line")
    wanted = parser.parse_args(arguments)
    plan = LoopPlan(
        count=wanted.count, store=wanted.store, seed=wanted.seed, seconds=wanted.seconds, is_told=not wanted.json
    )
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="taoloop-chaos-") as directory:
        try:
            audit = asyncio.run(_bounded(plan, Path(directory)))
        except (KeyboardInterrupt, asyncio.CancelledError):
            return INTERRUPTED
    sys.stderr.writelines(f"{violation}\n" for violation in audit.violations[:MOST_SHOWN])
    told = {**audit.counts, "store": plan.store, "seed": plan.seed, "violations": len(audit.violations)}
    sys.stdout.write(json.dumps({**told, "seconds": round(time.monotonic() - began, 1)}) + "\n")
    return 1 if audit.violations else 0


if __name__ == "__main__":
    sys.exit(main())
