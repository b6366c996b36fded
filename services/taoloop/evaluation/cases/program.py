"""The command line of the case runner: what it takes, what it prints, how it ends."""

from __future__ import annotations

import argparse
import io
import logging
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from taoloop.core.clock import SystemClock
from taoloop.core.exact_json import dumps
from taoloop.evaluation.cases.adapters import ADAPTERS
from taoloop.evaluation.cases.case_file import COMPONENTS, CaseFileFault, read_cases
from taoloop.evaluation.cases.model import Case, CaseResult, Verdict
from taoloop.evaluation.cases.running import Counts, run_cases
from taoloop.wire.event_loop import run

EXIT_ALL_PASS: Final = 0
EXIT_NOT_ALL_PASS: Final = 1
EXIT_BAD_INPUT: Final = 2


def main(arguments: Sequence[str]) -> int:
    """Run the program and return its exit code.

    0 when every line passes, 1 when one does not, 2 when the file or the command line cannot be used.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a case may hold what the terminal cannot show
    options = _parser().parse_args(arguments)
    try:
        cases = _selected(read_cases(options.file, ADAPTERS), _components([*options.components, *options.only]))
    except CaseFileFault as fault:
        print("\n".join(fault.faults), file=sys.stderr)
        return EXIT_BAD_INPUT
    # What the services log is no part of the report; without a handler the library would print it.
    logging.getLogger("taoloop").addHandler(logging.NullHandler())
    results = run(run_cases(cases, ADAPTERS, SystemClock()))
    print(_as_json(results) if options.json else _as_text(results))
    return EXIT_ALL_PASS if all(result.verdict is Verdict.PASS for result in results) else EXIT_NOT_ALL_PASS


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m taoloop.evaluation.cases",
        description="Run a file of cases through the product; the exit code is 0 when every line passes.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="JSON lines, one case each")
    parser.add_argument("components", nargs="*", metavar="COMPONENT", help="run only these, also as a,b or ONLY=a,b")
    parser.add_argument("--only", action="append", default=[], metavar="COMPONENT", help="the same as an option")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of lines")
    return parser


def _components(stated: Sequence[str]) -> frozenset[str]:
    """Return the components that are wanted; none stands for all.

    Raises:
        CaseFileFault: One of them is no component.
    """
    names = {name.strip() for words in stated for name in words.removeprefix("ONLY=").split(",")} - {""}
    unknown = sorted(names - set(COMPONENTS))
    if unknown:
        raise CaseFileFault([f"unknown component {name!r}; there are {', '.join(COMPONENTS)}" for name in unknown])
    return frozenset(names)


def _selected(cases: Sequence[Case], components: frozenset[str]) -> tuple[Case, ...]:
    absent = sorted(components - {case.component for case in cases})
    if absent:
        raise CaseFileFault([f"the file has no line of the component {name}" for name in absent])
    return tuple(case for case in cases if not components or case.component in components)


def _as_text(results: Sequence[CaseResult]) -> str:
    counts = Counts.of(results)
    lines = [f"{result.case.case_id} {result.verdict} {result.reason}".rstrip() for result in results]
    lines += [f"{component}: {_counted(count)}" for component, count in counts.by_component.items()]
    return "\n".join([*lines, f"all: {_counted(counts.total)}"])


def _counted(count: Counter[Verdict]) -> str:
    return ", ".join(f"{count[verdict]} {verdict}" for verdict in Verdict) + f" of {count.total()}"


def _as_json(results: Sequence[CaseResult]) -> str:
    counts = Counts.of(results)
    return dumps(
        {
            "cases": [
                {
                    "id": result.case.case_id,
                    "component": result.case.component,
                    "kind": result.case.kind,
                    "verdict": result.verdict.value,
                    "reason": result.reason.encode(errors="backslashreplace").decode(),
                    "seconds": round(result.seconds, 6),
                }
                for result in results
            ],
            "components": {name: _by_verdict(count) for name, count in counts.by_component.items()},
            "all": _by_verdict(counts.total),
        }
    )


def _by_verdict(count: Counter[Verdict]) -> dict[str, int]:
    return {verdict.value: count[verdict] for verdict in Verdict}
