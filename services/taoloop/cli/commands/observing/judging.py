"""A response file judged, and the verdict on the terminal: what failed, where, and by which values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import typer
from rich.text import Text

from taoloop.cli.commands.observing.tracing import explanation_json, explanation_lines, operand_lines
from taoloop.cli.records import record_json
from taoloop.cli.run_view import drift_words, fault_words, value_words
from taoloop.cli.terminal import ExitCode, output, print_json, styled
from taoloop.core.clock import SystemClock
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.redaction import redact_text
from taoloop.evaluation.samples.exchanges import acted
from taoloop.evaluation.samples.explaining import RULE_STAGES, ExplainedRule, Explanation, explained
from taoloop.evaluation.samples.timing import CheckTime, check_times
from taoloop.observation.files import ObservedFiles, ObservedResponse, judged_files
from taoloop.observation.verdict import PENDING
from taoloop.plan.observing import CheckFailure, ObservationResult
from taoloop.tools.seen import read_seen
from taoloop.tools.served_catalogue import read_catalogue

_BODY_STAGES: Final = frozenset({"parse", "empty", "schema", "normalise"})
"""Stages that look at a place of the body; an empty pointer is its root there."""


def judged(files: ObservedFiles, catalogue: Path | None) -> ObservedResponse:
    """Judge a response file as the action and the observation service would, one after the other."""
    clock = SystemClock()
    contracts = None if catalogue is None else read_catalogue(catalogue, are_samples_judged=False)
    seen = None if catalogue is None or contracts is None else read_seen(catalogue, contracts)
    return judged_files(files, contracts, act=lambda tool, result: acted(tool, result, clock), seen=seen)


def show_judged(
    files: ObservedFiles, catalogue: Path | None, *, is_explained: bool, is_timed: bool, as_json: bool
) -> None:
    """Judge a response file, print the verdict and end with its exit code."""
    response = judged(files, catalogue)
    verdict = response.verdict
    explanation = explained(response.tool, response.request, verdict)
    times = check_times(response.tool, response.request, verdict, SystemClock()) if is_timed else ()
    if as_json:
        explaining = {"explanation": explanation_json(explanation)} if is_explained else {}
        timing: dict[str, JsonValue] = {"timing": [record_json(time) for time in times]} if is_timed else {}
        print_json({**record_json(verdict), **explaining, **timing})
    else:
        for line in verdict_lines(verdict, explanation):
            output().print(line)
        for line in explanation_lines(explanation, verdict) if is_explained else ():
            output().print(line)
        for line in _time_lines(times):
            output().print(line)
    raise typer.Exit(ExitCode.OK if verdict.valid else ExitCode.FAILED)


def _time_lines(times: Sequence[CheckTime]) -> Iterator[Text]:
    """Yield what each check costs; rules of any length stand under one another."""
    if times:
        yield styled("time, each check by itself", "bold")
    for time in times:
        yield styled(f"  {time.seconds * 1e6:>8.1f} µs  {time.check}")


def verdict_lines(verdict: ObservationResult, explanation: Explanation | None = None) -> Iterator[Text]:
    """Yield a verdict as lines for a person.

    Args:
        verdict: What is true of a result.
        explanation: Has the values that failed rules read; None shows the failures alone.
    """
    if PENDING in verdict.audit_trail:
        yield styled(f"{verdict.tool}: pending, the tool still works on it; nothing is judged yet", "bold yellow")
    else:
        head = f"{verdict.tool}: {'valid' if verdict.valid else 'not valid'}, confidence {verdict.confidence:.2f}"
        yield styled(head, "bold green" if verdict.valid else "bold red")
    rules = {rule.rule_id: rule for rule in explanation.rules} if explanation is not None else {}
    for failure in verdict.failures:
        yield from _failure_lines(failure, rules.get(failure.rule_id) if failure.stage in RULE_STAGES else None)
    if verdict.fault is not None:
        yield styled(f"  fault {fault_words(verdict.fault)}", "red")
    for drift in verdict.drift:
        yield styled(f"  {drift_words(drift)}", "yellow")
    yield styled(f"  passed: {', '.join(verdict.audit_trail) or 'nothing'}")
    if verdict.data is not ABSENT:
        yield styled(f"  data: {redact_text(value_words(verdict.data))}")  # builds keep what is printed
    if verdict.omitted:
        yield styled(f"  kept from prompts: {', '.join(verdict.omitted)}")
    if verdict.redacted:
        yield styled(f"  masked in prompts: {', '.join(verdict.redacted)}")
    if verdict.suggested_next:
        yield styled(f"  suggested next: {verdict.suggested_next}")


def _failure_lines(failure: CheckFailure, rule: ExplainedRule | None) -> Iterator[Text]:
    """Yield one failure: its stage, its rule, its place, then what was expected and found, or what the rule read."""
    check = failure.stage if failure.rule_id in {"", failure.stage} else f"{failure.stage} {failure.rule_id}"
    place = f" at {failure.pointer or '/'}" if failure.pointer or failure.stage in _BODY_STAGES else ""
    words = f"  {check}{place}{'' if failure.hard else ' (soft)'}: {failure.message}"
    if failure.expected is not ABSENT and rule is None:
        words += f" Expected {value_words(failure.expected)}."
    if failure.actual is not ABSENT and rule is None:
        words += f" Found {value_words(failure.actual)}."
    yield styled(words, "red" if failure.hard else "yellow")
    if rule is not None:
        yield from operand_lines(rule)
