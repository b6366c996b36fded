"""A handover as a page for the person who takes it over."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from taoloop.cli.run_view import fault_words, labelled, value_words
from taoloop.cli.terminal import styled
from taoloop.cli.viewing.exact_records import exact_json_text
from taoloop.cli.viewing.visible_text import visible
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
    yield labelled("handover", "bold", required.handover_id)
    yield labelled("run", "", handover.run_id)
    if handover.opened_at is not None:
        yield labelled("since", "", handover.opened_at.isoformat(timespec="seconds"))
    yield labelled("about", "", f"step {required.step_id}" if required.step_id else "the whole run")
    if required.reason:
        yield labelled("why", "yellow", required.reason)
    if required.fault is not None:
        yield labelled("fault", "red", fault_words(required.fault))
    if handover.outcome is not None:
        by = f" by {handover.outcome.decided_by}" if handover.outcome.decided_by else ""
        comment = f": {handover.outcome.comment}" if handover.outcome.comment else ""
        yield labelled("decided", "green", f"{handover.outcome.decision.value}{by}{comment}")


def _request(handover: Handover) -> Iterator[Text]:
    for turn in handover.turns:
        for line in turn.text.splitlines():
            yield labelled(turn.role.value, "", line)
    for given in handover.inputs:
        yield labelled("given", "", value_words(given.values))


def _work(handover: Handover) -> Iterator[Text]:
    known = {step.step_id for step in handover.steps}
    for step in handover.steps:
        yield from _step(step)
    for planned in handover.plan.steps if handover.plan is not None else ():
        if planned.step_id not in known:
            yield labelled("planned", "dim", f"{planned.step_id} {planned.tool}")


def _step(step: HandoverStep) -> Iterator[Text]:
    arguments = "" if step.arguments is ABSENT else f" {value_words(step.arguments)}"
    status = step.status.value if step.status is not None else "not called"
    style = "green" if step.is_valid else "red"
    yield labelled("step", style, f"{step.step_id} {step.tool}{arguments}: {status}")
    if step.exposed is not ABSENT:
        trust = f", {step.trust.value} words" if step.trust is not None else ""
        yield styled(f"{_MARGIN}{value_words(step.exposed)} (confidence {step.confidence:.2f}{trust})")
    if step.fault is not None:
        yield styled(f"{_MARGIN}{visible(fault_words(step.fault))}", "red")
    if step.effect_id:
        yield styled(f"{_MARGIN}effect {step.effect_id}", "dim")


def _story(handover: Handover) -> Iterator[Text]:
    for made in handover.corrections:
        yield labelled("tried", "yellow", f"{made.reaction} {made.step_id}: {fault_words(made.fault)}".rstrip(": "))
    for moment in handover.time_line:
        time = moment.time.strftime("%H:%M:%S") if moment.time is not None else ""
        yield labelled(f"#{moment.sequence}", "dim", f"{time} {moment.text}")
    for other in handover.others:
        yield labelled("also open", "yellow", f"{other.handover_id} {other.step_id}: {other.reason}")


def _ways_on(handover: Handover) -> Iterator[Text]:
    if handover.output_schema is not ABSENT:
        yield labelled("data fits", "", exact_json_text(handover.output_schema))
    for suggestion in handover.suggestions:
        yield labelled("next", "cyan", suggestion)
