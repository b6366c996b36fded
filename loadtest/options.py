"""The command line: what may be given, in which bounds, and what it means."""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loadtest.calls import Target
from loadtest.schedule import Arrivals, Schedule
from loadtest.thresholds import Thresholds
from taoloop.core.calls import DEFAULT_TENANT

_EPILOG: Final = """\
exit status: 0 done and within the limits; 1 a limit is broken; 2 the test could not be run; 130 stopped by a signal
example: python -m loadtest run --address 127.0.0.1:7701 --tasks loadtest/mix.yaml --rate 50 --duration 30
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What `run` was told.

    Attributes:
        target: Where the runs go.
        tasks: The file of tasks.
        schedule: When they are sent.
        max_in_flight: Most calls at the same time.
        thresholds: What is demanded.
        json: Where the report is written as JSON; None for nowhere.
    """

    target: Target
    tasks: Path
    schedule: Schedule
    max_in_flight: int
    thresholds: Thresholds
    json: Path | None


def read_options(arguments: Sequence[str]) -> RunOptions:
    """Read the command line; ends the process with status 2 and a sentence when it is wrong."""
    given = _parser().parse_args(arguments)
    return RunOptions(
        target=Target(
            address=given.address,
            tenant=given.tenant,
            timeout_seconds=given.timeout,
            trace_share=given.trace_share,
        ),
        tasks=given.tasks,
        schedule=Schedule(
            rate_per_second=given.rate,
            warm_up_seconds=given.warm_up,
            duration_seconds=given.duration,
            arrivals=Arrivals(given.arrivals),
            seed=random.randrange(2**32) if given.seed is None else given.seed,
        ),
        max_in_flight=given.max_in_flight,
        thresholds=Thresholds(
            max_error_share=given.max_error_share,
            max_unexpected_share=given.max_unexpected_share,
            max_p99_seconds=None if given.max_p99 is None else given.max_p99 / 1000,
        ),
        json=given.json,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m loadtest", description="Send open-loop load to a running loop service."
    )
    run = parser.add_subparsers(dest="command", required=True).add_parser(
        "run",
        help="send tasks at a set rate and report",
        description="Send tasks at a set rate, whatever the answers do, and report latencies and outcomes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = run.add_argument
    add("--address", required=True, type=_address, metavar="HOST:PORT", help="of the loop service")
    add("--tasks", required=True, type=Path, metavar="FILE", help="YAML with the mix of tasks (loadtest/README.md)")
    add("--rate", required=True, type=_number(above=0, most=100_000), metavar="R", help="arrivals a second")
    add("--duration", required=True, type=_number(above=0, most=86_400), metavar="S", help="seconds that are measured")
    add("--warm-up", default=0.0, type=_number(least=0, most=3_600), metavar="S", help="seconds before that (0)")
    add("--arrivals", default="constant", choices=[each.value for each in Arrivals], help="distances (constant)")
    add("--max-in-flight", default=1_000, type=_whole(1, 100_000), metavar="N", help="most runs at once (1000)")
    add("--timeout", default=30.0, type=_number(above=0, most=3_600), metavar="S", help="deadline of a run (30)")
    add("--seed", default=None, type=_whole(0, 2**63 - 1), metavar="N", help="makes the arrivals repeatable")
    add("--tenant", default=DEFAULT_TENANT, metavar="NAME", help="sent as x-taoloop-tenant (default)")
    add("--trace-share", default=0.0, type=_number(least=0, most=1), metavar="X", help="of runs that are traced (0)")
    add("--json", default=None, type=Path, metavar="OUT", help="write the report as JSON")
    add("--max-error-share", type=_number(least=0, most=1), metavar="X", help="0 to 1; status 1 above it")
    add("--max-unexpected-share", type=_number(least=0, most=1), metavar="X", help="0 to 1; status 1 above it")
    add("--max-p99", type=_number(above=0, most=3_600_000), metavar="MS", help="milliseconds; status 1 above it")
    return parser


def _number(*, above: float = -math.inf, least: float = -math.inf, most: float) -> Callable[[str], float]:
    bounds = f"above {above:g}" if above > -math.inf else f"at least {least:g}"

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (value > above and value >= least and value <= most):
            raise argparse.ArgumentTypeError(f"{text!r} must be a number {bounds} and at most {most:g}")
        return value

    return read


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from {least} to {most}")
        return value

    return read


def _address(text: str) -> str:
    host, colon, port = text.rpartition(":")
    if not (host and colon and port.isdigit() and 0 < int(port) < 65_536):
        raise argparse.ArgumentTypeError(f"{text!r} must be host:port, such as 127.0.0.1:7701")
    return text
