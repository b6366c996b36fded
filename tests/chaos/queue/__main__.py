"""Asks for thoughts while workers, fronts and Redis are killed, paused and cut off, and audits what callers were told.

`python -m tests.chaos.queue [--count N] [--mode single|sentinel|both] [--seed N] [--seconds N] [--keep DIRECTORY]`; the
last line is one JSON object. Exit code 1: a caller was told nothing, twice, another's answer or no clear fault; a
thought was planned after its deadline; a job has two answers; or something is left in the queue.
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
from typing import Any, Final

from tests.chaos.queue.audit import QueueAudit
from tests.chaos.queue.run import ChaosPlan, chaos
from tests.chaos.queue.schedule import Topology

MOST_SHOWN: Final = 100
INTERRUPTED: Final = 130


async def _interruptible(plan: ChaosPlan, root: Path) -> QueueAudit:
    """Run it; a request to end it ends all that it started."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await chaos(plan, root)


def run(plan: ChaosPlan, root: Path) -> dict[str, Any]:
    """Run once; return the counts, with how many violations there were."""
    began = time.monotonic()
    root.mkdir(parents=True)
    audit = asyncio.run(_interruptible(plan, root))
    sys.stderr.writelines(f"{plan.topology}: {violation}\n" for violation in audit.violations[:MOST_SHOWN])
    seconds = round(time.monotonic() - began, 1)
    return {**audit.counts, "violations": len(audit.violations), "seconds": seconds}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it as a program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=ChaosPlan.count, help="requests, if there is time")
    parser.add_argument(
        "--mode", choices=(*Topology, "both"), default="both", help="one server, a Sentinel set, or both"
    )
    parser.add_argument("--seed", type=int, default=ChaosPlan.seed, help="of the accidents and the callers' manners")
    parser.add_argument("--seconds", type=float, default=2 * ChaosPlan.seconds, help="of accidents, in all")
    parser.add_argument("--keep", type=Path, help="a new directory for logs and notes, which else are removed")
    wanted = parser.parse_args(arguments)
    topologies = tuple(Topology) if wanted.mode == "both" else (Topology(wanted.mode),)
    audits: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="taoloop-chaos-") as directory:
        for topology in topologies:
            plan = ChaosPlan(
                count=wanted.count // len(topologies),
                topology=topology,
                seed=wanted.seed,
                seconds=wanted.seconds / len(topologies),
            )
            try:
                audits[topology.value] = run(plan, (wanted.keep or Path(directory)) / topology.value)
            except (KeyboardInterrupt, asyncio.CancelledError):
                return INTERRUPTED
    violations = sum(counts["violations"] for counts in audits.values())
    sys.stdout.write(json.dumps({**audits, "seed": wanted.seed, "violations": violations}) + "\n")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
