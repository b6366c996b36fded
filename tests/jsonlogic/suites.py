"""The public JsonLogic suites and our corner lines, run through the rules, and what of them is expected to fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.rules import CompiledRule, RuleData, RuleRefused

DATA: Final = Path(__file__).parent / "data"
SUITES: Final = ("compatible", "operators", "corners", "verdicts")
"""`compatible` is the public suite as it is published; `operators` and `corners` hold what json-logic-js answered; the
verdicts are ours alone."""


@dataclass(frozen=True, slots=True)
class Line:
    """One rule over one data.

    Attributes:
        line_id: Its name within the suite.
        rule: The rule.
        data: The data.
        expected: Either `result`, or `nothing` where ECMAScript has no JSON value, or `verdict` with `missing`.
    """

    line_id: str
    rule: JsonValue
    data: JsonValue
    expected: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Failure:
    """A line that does not say what it should.

    Attributes:
        line_id: Which line.
        said: What the product says: a value, a refusal or an error.
    """

    line_id: str
    said: str


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """What one suite came to.

    Attributes:
        suite: Its name.
        passed: How many lines passed.
        failed: How many lines failed as expected.
        unexpected_failures: The lines that failed and should not.
        unexpected_passes: The lines that passed and are listed as failures.
    """

    suite: str
    passed: int
    failed: int
    unexpected_failures: tuple[Failure, ...]
    unexpected_passes: tuple[str, ...]

    @property
    def is_as_expected(self) -> bool:
        """Tell whether every line did what it should."""
        return not self.unexpected_failures and not self.unexpected_passes


def run(suite: str) -> SuiteReport:
    """Run one suite."""
    expected_ids = _expected_failures(suite)
    lines = tuple(read(suite))
    failures = [failure for line in lines if (failure := _check(line)) is not None]
    failed_ids = {failure.line_id for failure in failures}
    return SuiteReport(
        suite=suite,
        passed=len(lines) - len(failures),
        failed=len(failed_ids & expected_ids),
        unexpected_failures=tuple(failure for failure in failures if failure.line_id not in expected_ids),
        unexpected_passes=tuple(sorted(expected_ids - failed_ids)),
    )


def read(suite: str) -> Iterator[Line]:
    """Yield the lines of a suite; texts between them are headings."""
    for number, case in enumerate(_loads(DATA / f"{suite}.json"), 1):
        if isinstance(case, str):
            continue
        expected = {key: case[key] for key in ("result", "nothing", "verdict", "missing") if key in case}
        yield Line(case.get("id", str(number)), case["rule"], case.get("data"), expected)


def _expected_failures(suite: str) -> set[str]:
    by_reason = _loads(DATA / "expected-failures.json")[suite]
    return {line_id for ids in by_reason.values() for line_id in ids}


def _check(line: Line) -> Failure | None:
    if "verdict" in line.expected:
        outcome = CompiledRule.compile(line.rule).verdict(RuleData(line.data))
        is_right = outcome.verdict.value == line.expected["verdict"]
        is_right &= list(outcome.missing) == line.expected.get("missing", [])
        return None if is_right else Failure(line.line_id, f"{outcome.verdict.value} {outcome.missing}")
    try:
        said = CompiledRule.compile(line.rule).result(RuleData(line.data))
    except (RuleRefused, ArithmeticError) as exc:
        word = "refused" if isinstance(exc, RuleRefused) else "error"
        return None if "nothing" in line.expected else Failure(line.line_id, f"{word}: {exc}")
    is_right = "result" in line.expected and exact_json.equal(said, line.expected["result"])
    return None if is_right else Failure(line.line_id, exact_json.dumps(said))


def _loads(path: Path) -> Any:
    return exact_json.loads(path.read_bytes())
