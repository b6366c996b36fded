"""A handover as a page for the person who takes it over."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from taoloop.cli.run_view import fault_words, value_words
from taoloop.cli.terminal import styled
from taoloop.core.exact_json import ABSENT
from taoloop.plan.running.handovers import Handover, HandoverStep

_MARGIN = " " * 11


def print_handover(console: Console, handover: Handover) -> None:
    """Print everything that the person needs, what matters most first."""
    for line in (*_head(handover), *_request(handover), *_work(handover), *_story(handover), *_ways_on(handover)):
        console.print(line)


def _head(handover: Handover) -> Iterator[Text]:
    required = handover.required
    if required is None:
        return
    yield _line("handover", "bold", required.handover_id)
    yield _line("run", "", handover.run_id)
    if handover.opened_at is not None:
        yield _line("since", "", handover.opened_at.isoformat(timespec="seconds"))
    yield _line("about", "", f"step {required.step_id}" if required.step_id else "the whole run")
    if required.reason:
        yield _line("why", "yellow", required.reason)
    if required.fault is not None:
        yield _line("fault", "red", fault_words(required.fault))
    if handover.outcome is not None:
        by = f" by {handover.outcome.decided_by}" if handover.outcome.decided_by else ""
        comment = f": {handover.outcome.comment}" if handover.outcome.comment else ""
        yield _line("decided", "green", f"{handover.outcome.decision.value}{by}{comment}")


def _request(handover: Handover) -> Iterator[Text]:
    for turn in handover.turns:
        yield _line(turn.role.value, "", turn.text)
    for given in handover.inputs:
        yield _line("given", "", value_words(given.values))


def _work(handover: Handover) -> Iterator[Text]:
    known = {step.step_id for step in handover.steps}
    for step in handover.steps:
        yield from _step(step)
    for planned in handover.plan.steps if handover.plan is not None else ():
        if planned.step_id not in known:
            yield _line("planned", "dim", f"{planned.step_id} {planned.tool}")


def _step(step: HandoverStep) -> Iterator[Text]:
    arguments = "" if step.arguments is ABSENT else f" {value_words(step.arguments)}"
    status = step.status.value if step.status is not None else "not called"
    style = "green" if step.is_valid else "red"
    yield _line("step", style, f"{step.step_id} {step.tool}{arguments}: {status}")
    if step.exposed is not ABSENT:
        trust = f", {step.trust.value} words" if step.trust is not None else ""
        yield styled(f"{_MARGIN}{value_words(step.exposed)} (confidence {step.confidence:.2f}{trust})")
    if step.fault is not None:
        yield styled(f"{_MARGIN}{fault_words(step.fault)}", "red")
    if step.effect_id:
        yield styled(f"{_MARGIN}effect {step.effect_id}", "dim")


def _story(handover: Handover) -> Iterator[Text]:
    for made in handover.corrections:
        yield _line("tried", "yellow", f"{made.reaction} {made.step_id}: {fault_words(made.fault)}".rstrip(": "))
    for moment in handover.time_line:
        time = moment.time.strftime("%H:%M:%S") if moment.time is not None else ""
        yield _line(f"#{moment.sequence}", "dim", f"{time} {moment.text}")
    for other in handover.others:
        yield _line("also open", "yellow", f"{other.handover_id} {other.step_id}: {other.reason}")


def _ways_on(handover: Handover) -> Iterator[Text]:
    for suggestion in handover.suggestions:
        yield _line("next", "cyan", suggestion)


def _line(label: str, style: str, text: str) -> Text:
    return Text.assemble((f"{label:>9}  ", style), text.rstrip())
