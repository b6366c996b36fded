"""`python -m loadtest run`: reads the command line, runs the test, writes its report."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from loadtest.calls import loop_caller
from loadtest.mix import MixUnusable, read_mix
from loadtest.options import RunOptions, read_options
from loadtest.report import Report, report_json
from loadtest.session import Plan, run_session, stopping_by_signal
from loadtest.summary import summary_of
from taoloop.core.clock import SystemClock
from taoloop.core.errors import TaoError
from taoloop.wire.event_loop import run as run_loop

BROKEN: Final = 1
NOT_RUN: Final = 2
INTERRUPTED: Final = 130

_CLEAR_LINE: Final = "\r\x1b[K"


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    options = read_options(arguments)
    logging.getLogger("grpc").setLevel(logging.CRITICAL)  # what a call came to is in the report
    try:
        plan = _plan(options)
        _refuse_unwritable(options.json)
        report = run_loop(_run(options, plan))
    except (MixUnusable, OSError) as error:
        return _not_run(str(error))
    except TaoError as error:
        return _not_run(f"the service does not serve runs: {error.reason}: {error.message}.")
    broken = options.thresholds.broken_by(report)
    print(summary_of(report, broken))
    if options.json is not None:
        options.json.write_text(json.dumps(report_json(report, broken), indent=1) + "\n", encoding="utf-8")
    if report.measured.is_interrupted:
        return INTERRUPTED
    return BROKEN if broken else 0


def _plan(options: RunOptions) -> Plan:
    return Plan(
        address=options.target.address,
        tasks_file=str(options.tasks),
        tasks=read_mix(options.tasks),
        schedule=options.schedule,
        max_in_flight=options.max_in_flight,
    )


async def _run(options: RunOptions, plan: Plan) -> Report:
    clock = SystemClock()
    with stopping_by_signal() as stop:
        async with loop_caller(options.target, clock) as caller:
            await caller.reach()
            try:
                return await run_session(plan, caller.send, clock, stop, _show if sys.stderr.isatty() else None)
            finally:
                if sys.stderr.isatty():
                    sys.stderr.write(_CLEAR_LINE)


def _refuse_unwritable(path: Path | None) -> None:
    """Say before the test, and not after it, that its report cannot be written."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise OSError(f"{path}: the report cannot be written there.")


def _show(line: str) -> None:
    sys.stderr.write(_CLEAR_LINE + line)
    sys.stderr.flush()


def _not_run(cause: str) -> int:
    print(f"loadtest: {cause}", file=sys.stderr)
    return NOT_RUN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
