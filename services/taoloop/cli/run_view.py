"""The events of a run as lines for a person, each shown when it happens."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from taoloop.cli.sources_text import source_words
from taoloop.cli.terminal import styled
from taoloop.core.exact_json import ABSENT, Json, dumps
from taoloop.core.faults import Fault
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.observing import CheckFailure, Drift, ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    ApprovalRequired,
    CorrectionMade,
    InputRequired,
    LimitReached,
    ResultObserved,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
    StepSkipped,
    StepStarted,
    ThoughtMade,
    WaitingBegan,
)
from taoloop.plan.task import InputField, Outcome
from taoloop.plan.thinking import Answer, Escalation, NeedInput, Refusal, ThinkResponse

MAX_VALUE_CHARACTERS = 120
OUTCOME_STYLES = {
    Outcome.ANSWERED: "green",
    Outcome.NEEDS_INPUT: "yellow",
    Outcome.NEEDS_APPROVAL: "yellow",
    Outcome.NO_TOOL: "yellow",
}


class RunView:
    """Prints events.

    Args:
        console: Where to.
        indent: What each line begins with.
    """

    def __init__(self, console: Console, indent: str = "") -> None:
        self._console = console
        self._indent = indent

    def show(self, event: RunEvent) -> None:
        """Print one event."""
        for line in _lines(event):
            self._console.print(Text.assemble(self._indent, line))


def field_words(field: InputField) -> str:
    """Return what is asked for, such as `size (of my_tool, missing): Which size?`."""
    name = field.pointer.rsplit("/", 1)[-1]
    asked = f"{name} (of {field.tool}, {field.reason.value})"
    if field.question:
        asked += f": {field.question}"
    return asked + (f" One of: {', '.join(field.candidates)}." if field.candidates else "")


def drift_words(drift: Drift) -> str:
    """Return in words what a result has that was never seen of its tool."""
    where = f"{drift.pointer or '/'} of the {'data' if drift.in_data else 'body'}"
    return f"never seen before: {drift.kind.value.replace('_', ' ')} at {where}: {value_words(drift.value)}"


def value_words(value: Json) -> str:
    """Return a JSON value on one line, cut where it is long."""
    text = "" if value is ABSENT else dumps(value)
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[:MAX_VALUE_CHARACTERS] + "…"


def fault_words(fault: Fault | None) -> str:
    """Return a fault as one line: code, what happened, what to do."""
    if fault is None:
        return ""
    parts = [f"{fault.code}: {fault.message}"]
    if fault.candidates:
        parts.append(f"Perhaps {', '.join(fault.candidates[:5])}.")
    return " ".join([*parts, fault.suggestion] if fault.suggestion else parts)


def thought_lines(outcome: ThoughtPlan | Answer | NeedInput | Refusal | Escalation | None) -> list[Text]:
    """Return what a planner decided as lines, with the words of an answer and the values that are asked for."""
    match outcome:
        case ThoughtPlan() as plan:
            lines = [_line("plan", "bold", f"{len(plan.steps)} step(s)")]
            for step in plan.steps:
                lines += _step(step)
            return lines
        case Answer() as answer:
            return [_line("answer", "bold", line) for line in answer.text.splitlines() or [""]]
        case NeedInput() as question:
            return [_line("ask", "yellow", field_words(field)) for field in question.fields]
        case Refusal() as refusal:
            return [_line("refusal", "yellow", f"{refusal.reason.value}. {refusal.message}")]
        case Escalation() as escalation:
            return [_line("hand over", "yellow", escalation.message)]
        case None:
            return [_line("nothing", "red", "")]


def _lines(event: RunEvent) -> list[Text]:  # noqa: C901, PLR0912 - one arm for each kind of event
    match event.body:
        case RunStarted():
            return [styled(f"run {event.run_id}", "dim")]
        case ThoughtMade(response=ThinkResponse() as response):
            return _thought(response)
        case StepStarted() as step:
            return [_line("call", "cyan", f"{step.step_id} {step.tool} {value_words(step.arguments)}")]
        case StepSkipped() as step:
            return [_line("skip", "yellow", f"{step.step_id} {step.tool}: {fault_words(step.fault)}")]
        case ActionReturned(result=ActionResult() as result):
            return [_action(result)]
        case ResultObserved(result=ObservationResult() as verdict):
            return _verdict(verdict)
        case CorrectionMade() as made:
            return [_line("correct", "yellow", f"{made.reaction}: {fault_words(made.fault)} {made.message}")]
        case WaitingBegan() as waiting:
            return [_line("wait", "yellow", f"for {waiting.reason}")]
        case LimitReached() as limit:
            return [_line("limit", "red", f"{limit.limit} = {limit.value:g}")]
        case ApprovalRequired() as approval:
            return [_line("approve", "yellow", f"{approval.step_id} {approval.tool} {value_words(approval.arguments)}")]
        case InputRequired() as question:
            return [_line("ask", "yellow", field_words(field)) for field in question.fields]
        case RunResumed() as resumed:
            given = "" if resumed.input is None else f" {value_words(resumed.input.values)}"
            return [_line("resume", "cyan", f"{resumed.reason}{given}")]
        case Answer() as answer:
            return [_line("answer", "bold green", line) for line in answer.text.splitlines() or [""]]
        case RunFinished() as finished:
            return [_finish(finished)]
        case _:
            return []


def _thought(response: ThinkResponse) -> list[Text]:
    head = f"{response.iteration} by {response.planner}"
    if response.decision is not None:
        head += f", fit {response.decision.fit:.2f}, margin {response.decision.margin:.2f}"
    match response.outcome:
        case ThoughtPlan() as plan:
            lines = [_line("thought", "bold", f"{head}: {len(plan.steps)} step(s)")]
            for step in plan.steps:
                lines += _step(step)
            return lines
        case Answer():
            return [_line("thought", "bold", f"{head}: answer")]
        case NeedInput():
            return [_line("thought", "bold", f"{head}: ask")]
        case Refusal() as refusal:
            return [_line("thought", "bold", f"{head}: {refusal.reason.value}. {refusal.message}")]
        case Escalation() as escalation:
            return [_line("thought", "bold", f"{head}: hand over. {escalation.message}")]
        case _:
            return [_line("thought", "bold", head)]


def _step(step: PlanStep) -> list[Text]:
    after = f" after {', '.join(step.depends_on)}" if step.depends_on else ""
    lines = [styled(f"           {step.step_id} {step.tool}{after}")]
    for binding in step.bindings:
        expected = f" = {value_words(binding.value)}" if binding.value is not ABSENT else ""
        lines.append(styled(f"             {binding.pointer.lstrip('/')} ← {source_words(binding)}{expected}", "dim"))
    return lines


def _action(result: ActionResult) -> Text:
    took = f" in {result.total_time_seconds * 1000:.0f} ms" if result.total_time_seconds is not None else ""
    code = f" {result.status_code}" if result.status_code else ""
    text = f"{result.step_id} {result.status.value}{code}{took} {fault_words(result.fault)}"
    return _line("reply", "cyan" if result.status is ActionStatus.SUCCEEDED else "red", text)


def _verdict(verdict: ObservationResult) -> list[Text]:
    word = "valid" if verdict.valid else "not valid"
    head = f"{verdict.step_id} {word}, confidence {verdict.confidence:.2f} {value_words(verdict.exposed)}"
    lines = [_line("verdict", "green" if verdict.valid else "red", head)]
    lines += [_failure(failure) for failure in verdict.failures]
    lines += [styled(f"           {drift_words(drift)}", "yellow") for drift in verdict.drift]
    return lines


def _failure(failure: CheckFailure) -> Text:
    place = f" at {failure.pointer}" if failure.pointer else ""
    found = "" if failure.actual is ABSENT else f" Found {value_words(failure.actual)}."
    soft = "" if failure.hard else " (soft)"
    words = f"           {failure.stage} {failure.rule_id}{place}{soft}: {failure.message}{found}"
    return styled(words, "red" if failure.hard else "yellow")


def _finish(finished: RunFinished) -> Text:
    outcome = finished.outcome
    took = f" in {finished.duration_seconds * 1000:.0f} ms" if finished.duration_seconds is not None else ""
    word = outcome.value.upper() if outcome is not None else "ENDED"
    style = OUTCOME_STYLES.get(outcome, "red") if outcome is not None else "red"
    return _line("end", style, f"{word}{took} {fault_words(finished.fault)}")


def _line(label: str, style: str, text: str) -> Text:
    return Text.assemble((f"{label:>9}  ", style), text.rstrip())
