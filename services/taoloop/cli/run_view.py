"""The events of a run as lines for a person, each shown when it happens."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from rich.console import Console
from rich.text import Text

from taoloop.cli.sources_text import source_words
from taoloop.cli.terminal import styled
from taoloop.cli.viewing.exact_records import exact_lines
from taoloop.cli.viewing.visible_text import visible
from taoloop.core.exact_json import ABSENT, Json, dumps
from taoloop.core.faults import Fault
from taoloop.plan.acting import ActionResult, ActionStatus, ServedBy
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.observing import CheckFailure, Drift, ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    ApprovalExpiring,
    ApprovalRequired,
    CorrectionMade,
    HandoverRequired,
    InputRequired,
    ItemsGathered,
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
_MARGIN = " " * 11
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
        is_verbose: Whether everything that an event holds follows its lines, whole and exact: of a step what went in
            and what came out, of a thought what it decided and consumed.
    """

    def __init__(self, console: Console, indent: str = "", *, is_verbose: bool = False) -> None:
        self._console = console
        self._indent = indent
        self._is_verbose = is_verbose

    def show(self, event: RunEvent) -> None:
        """Print one event."""
        for line in self._lines(event):
            self._console.print(Text.assemble(self._indent, line))

    def _lines(self, event: RunEvent) -> Iterator[Text]:
        yield from _lines(event)
        if self._is_verbose and event.body is not None:
            yield styled(f"{_MARGIN}#{event.sequence} at {event.time.isoformat()}", "dim")
            yield from (styled(line, "dim") for line in exact_lines(event.body, _MARGIN))


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


def labelled(label: str, style: str, text: str) -> Text:
    """Return a line with its label in front; what a terminal would obey, line ends too, becomes escapes."""
    return Text.assemble((f"{label:>9}  ", style), visible(text.rstrip()))


def thought_lines(outcome: ThoughtPlan | Answer | NeedInput | Refusal | Escalation | None) -> list[Text]:
    """Return what a planner decided as lines, with the words of an answer and the values that are asked for."""
    match outcome:
        case ThoughtPlan() as plan:
            lines = [labelled("plan", "bold", f"{len(plan.steps)} step(s)")]
            for step in plan.steps:
                lines += _step(step)
            return lines
        case Answer() as answer:
            return _answer(answer, "bold")
        case NeedInput() as question:
            return [labelled("ask", "yellow", field_words(field)) for field in question.fields]
        case Refusal() as refusal:
            return [labelled("refusal", "yellow", f"{refusal.reason.value}. {refusal.message}")]
        case Escalation() as escalation:
            return [labelled("hand over", "yellow", escalation.message)]
        case None:
            return [labelled("nothing", "red", "")]


def _lines(event: RunEvent) -> list[Text]:  # noqa: C901, PLR0912 - one arm for each kind of event
    match event.body:
        case RunStarted():
            return [styled(f"run {event.run_id}", "dim")]
        case ThoughtMade(response=ThinkResponse() as response):
            return _thought(response)
        case StepStarted() as step:
            return [labelled("call", "cyan", _call(step))]
        case StepSkipped() as step:
            return [labelled("skip", "yellow", f"{step.step_id} {step.tool}: {fault_words(step.fault)}")]
        case ActionReturned(result=ActionResult() as result):
            return [_action(result)]
        case ResultObserved(result=ObservationResult() as verdict):
            return _verdict(verdict)
        case ItemsGathered() as gathered:
            failed = f", failed: {', '.join(gathered.failed)}" if gathered.failed else ""
            return [labelled("gather", "cyan", f"{gathered.step_id} {gathered.tool}: {gathered.items} item(s){failed}")]
        case CorrectionMade() as made:
            return _correction(made)
        case WaitingBegan() as waiting:
            whose = f" of {waiting.step_id} {waiting.tool}".rstrip() if waiting.step_id else ""
            return [labelled("wait", "yellow", f"for {waiting.reason}{whose}{_until(waiting.until)}")]
        case LimitReached() as limit:
            return [labelled("limit", "red", f"{limit.limit} = {limit.value:g}")]
        case ApprovalRequired() as approval:
            what = f"{approval.step_id} {approval.tool} {value_words(approval.arguments)}{_until(approval.expires_at)}"
            return [labelled("approve", "yellow", what), *_because(approval.reason)]
        case ApprovalExpiring() as soon:
            what = f"{soon.step_id} {soon.tool} waits for leave that lapses soon{_until(soon.expires_at)}"
            return [labelled("approve", "red", what)]
        case HandoverRequired() as handover:
            what = f"{handover.step_id or 'the run'} to a person, handover {handover.handover_id}"
            return [labelled("hand over", "yellow", what), *_because(handover.reason or fault_words(handover.fault))]
        case InputRequired() as question:
            return [labelled("ask", "yellow", field_words(field)) for field in question.fields]
        case RunResumed(reason="take_over"):
            return [labelled("host", "yellow", f"another one goes on with the run, epoch {event.host_epoch}")]
        case RunResumed() as resumed:
            return [labelled("resume", "cyan", _resumption(resumed))]
        case Answer() as answer:
            return _answer(answer, "bold green")
        case RunFinished() as finished:
            return [_finish(finished)]
        case _:
            return []


def _call(step: StepStarted) -> str:
    again = f" (attempt {step.attempt})" if step.attempt > 1 else ""
    item = f" (item {step.item} of {step.item_of})" if step.item_of else ""
    same = f" (the same call as {step.same_as}, made once)" if step.same_as else ""
    return f"{step.step_id} {step.tool} {value_words(step.arguments)}{again}{item}{same}"


def _correction(made: CorrectionMade) -> list[Text]:
    """Return what is done about a failure, and the three questions that were asked of it."""
    whose = f"{made.step_id} {made.tool}".strip()
    head = f"{whose + ': ' if whose else ''}{made.reaction}. {fault_words(made.fault)} {made.message}"
    answers = (
        f"passes by itself: {_yes(made.is_transient)}; the same again may help: {_yes(made.is_retry_useful)}; "
        f"the user is told: {_yes(made.is_told_to_user)}"
    )
    return [labelled("correct", "yellow", head), styled(f"{_MARGIN}{answers}", "dim"), *_because(made.user_message)]


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _answer(answer: Answer, style: str) -> list[Text]:
    lines = [labelled("answer", style, line) for line in answer.text.splitlines() or [""]]
    if answer.origin is not None:
        lines.append(styled(f"{_MARGIN}worded by: {answer.origin.value}", "dim"))
    if answer.replaced is not None:
        lines.append(styled(f"{_MARGIN}another text was replaced: {fault_words(answer.replaced)}", "yellow"))
    return lines


def _resumption(resumed: RunResumed) -> str:
    parts = [resumed.reason]
    if resumed.input is not None:
        parts.append(value_words(resumed.input.values))
    decided = (each for each in (resumed.approval, resumed.handover) if each is not None)
    parts += [f"{each.decision.value} by {each.decided_by or 'nobody'}" for each in decided]
    return " ".join(parts)


def _until(moment: datetime | None) -> str:
    return "" if moment is None else f", until {moment.isoformat(timespec='seconds')}"


def _because(reason: str) -> list[Text]:
    return [styled(f"{_MARGIN}{reason}", "yellow")] if reason else []


def _thought(response: ThinkResponse) -> list[Text]:
    head = f"{response.iteration} by {response.planner}"
    if response.decision is not None:
        head += f", fit {response.decision.fit:.2f}, margin {response.decision.margin:.2f}"
    match response.outcome:
        case ThoughtPlan() as plan:
            lines = [labelled("thought", "bold", f"{head}: {len(plan.steps)} step(s)")]
            for step in plan.steps:
                lines += _step(step)
            return lines
        case Answer():
            return [labelled("thought", "bold", f"{head}: answer")]
        case NeedInput():
            return [labelled("thought", "bold", f"{head}: ask")]
        case Refusal() as refusal:
            return [labelled("thought", "bold", f"{head}: {refusal.reason.value}. {refusal.message}")]
        case Escalation() as escalation:
            return [labelled("thought", "bold", f"{head}: hand over. {escalation.message}")]
        case _:
            return [labelled("thought", "bold", head)]


def _step(step: PlanStep) -> list[Text]:
    after = f" after {', '.join(step.depends_on)}" if step.depends_on else ""
    items = step.for_each.items if step.for_each is not None else None
    each = f", for each of {items.step_id}{items.pointer}" if items is not None else ""
    when = f", if {value_words(step.when)}" if step.when is not ABSENT else ""
    lines = [styled(f"{_MARGIN}{step.step_id} {step.tool}{after}{each}{when}")]
    for binding in step.bindings:
        expected = f" = {value_words(binding.value)}" if binding.value is not ABSENT else ""
        lines.append(styled(f"{_MARGIN}  {binding.pointer.lstrip('/')} ← {source_words(binding)}{expected}", "dim"))
    return lines


def _action(result: ActionResult) -> Text:
    took = f" in {result.total_time_seconds * 1000:.0f} ms" if result.total_time_seconds is not None else ""
    code = f" {result.status_code}" if result.status_code else ""
    text = f"{result.step_id} {result.status.value}{code}{took}{_server(result)} {fault_words(result.fault)}"
    return labelled("reply", "cyan" if result.status is ActionStatus.SUCCEEDED else "red", text)


def _server(result: ActionResult) -> str:
    """Return who answered, where that was not the tool itself, and how often it was tried."""
    words = {ServedBy.CACHE: ", from the cache", ServedBy.DUPLICATE: ", as recorded before"}
    who = "" if result.served_by is None else words.get(result.served_by, "")
    stood_in = f", by {result.served_by_tool} in its place" if result.served_by_tool else ""
    tries = f", {len(result.attempts)} attempts" if len(result.attempts) > 1 else ""
    return f"{who}{stood_in}{tries}"


def _verdict(verdict: ObservationResult) -> list[Text]:
    word = "valid" if verdict.valid else "not valid"
    head = f"{verdict.step_id} {word}, confidence {verdict.confidence:.2f} {value_words(verdict.exposed)}"
    lines = [labelled("verdict", "green" if verdict.valid else "red", head)]
    lines += [_failure(failure) for failure in verdict.failures]
    lines += [styled(f"{_MARGIN}{drift_words(drift)}", "yellow") for drift in verdict.drift]
    return lines


def _failure(failure: CheckFailure) -> Text:
    place = f" at {failure.pointer}" if failure.pointer else ""
    found = "" if failure.actual is ABSENT else f" Found {value_words(failure.actual)}."
    soft = "" if failure.hard else " (soft)"
    words = f"{_MARGIN}{failure.stage} {failure.rule_id}{place}{soft}: {failure.message}{found}"
    return styled(words, "red" if failure.hard else "yellow")


def _finish(finished: RunFinished) -> Text:
    outcome = finished.outcome
    took = f" in {finished.duration_seconds * 1000:.0f} ms" if finished.duration_seconds is not None else ""
    word = outcome.value.upper() if outcome is not None else "ENDED"
    style = OUTCOME_STYLES.get(outcome, "red") if outcome is not None else "red"
    return labelled("end", style, f"{word}{took} {fault_words(finished.fault)}")
