"""`make jsonlogic`: print what each suite came to; exit status 1 when a line does not do what it should."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from tests.jsonlogic.suites import SUITES, SuiteReport, run


def main() -> int:
    """Run the suites that are named, or all."""
    parser = argparse.ArgumentParser(prog="make jsonlogic", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"one of {', '.join(SUITES)} (default: all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if unknown := set(arguments.suites) - set(SUITES):
        parser.error(f"no such suite: {', '.join(sorted(unknown))}")
    reports = [run(suite) for suite in arguments.suites or SUITES]
    if arguments.json:
        _say(json.dumps({"suites": [asdict(report) for report in reports]}))
    else:
        for report in reports:
            _print(report)
    return 0 if all(report.is_as_expected for report in reports) else 1


def _print(report: SuiteReport) -> None:
    _say(f"{report.suite:<12} passed {report.passed:>4}  failed as expected {report.failed:>4}")
    for failure in report.unexpected_failures:
        _say(f"  FAILED   {failure.line_id}: {failure.said}")
    for line_id in report.unexpected_passes:
        _say(f"  PASSED   {line_id}: strike it from data/expected-failures.json")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
