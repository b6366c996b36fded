"""Rules of the page that a person is shown who takes a run over."""

from __future__ import annotations

import io

from rich.console import Console

from taoloop.cli.commands.people.handover_view import print_handover
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionStatus
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.running import CorrectionMade, HandoverDecision, HandoverOutcome, HandoverRequired
from taoloop.plan.running.handovers import Handover, HandoverMoment, HandoverStep
from taoloop.plan.task import ProvidedInput, Role, Turn


def shown(text: str) -> str:
    """Return the page of a handover all of whose texts are this one."""
    fault = Fault(code=FaultCode.TOOL_ERROR, stage=FaultStage.ACTION, message=text, suggestion=text)
    required = HandoverRequired(handover_id="h", step_id="1.t1", reason=text, fault=fault)
    status = ActionStatus.FAILED
    step = HandoverStep(step_id="1.t1", tool="a", arguments={"n": text}, status=status, exposed=[text], fault=fault)
    handover = Handover(
        run_id="r",
        required=required,
        outcome=HandoverOutcome(handover_id="h", decision=HandoverDecision.CLOSED, decided_by=text, comment=text),
        turns=(Turn(role=Role.USER, text=text),),
        inputs=(ProvidedInput(input_id="i", values={"n": text}),),
        plan=ThoughtPlan(steps=(PlanStep(step_id="1.t1", tool="a"), PlanStep(step_id="1.t2", tool="b"))),
        steps=(step,),
        corrections=(CorrectionMade(fault=fault, reaction="fail", step_id="1.t1"),),
        time_line=(HandoverMoment(sequence=1, text=text),),
        others=(required,),
        suggestions=(text,),
        output_schema={"title": text * 9},
    )
    written = io.StringIO()
    print_handover(Console(file=written, highlight=False, soft_wrap=True), handover)
    return written.getvalue()


def test_the_page_has_the_request_the_work_what_was_tried_and_what_can_be_done() -> None:
    text = shown("words [bold]")

    for part in (
        "handover  h",
        "about  step 1.t1",
        "why  words [bold]",
        "decided  closed by words [bold]: words [bold]",
        "user  words [bold]",
        'given  {"n":"words [bold]"}',
        'step  1.t1 a {"n":"words [bold]"}: failed',
        "planned  1.t2 b",
        "tried  fail 1.t1: TOOL_ERROR: words [bold]",
        "#1   words [bold]",
        "also open  h 1.t1: words [bold]",
        "next  words [bold]",
        'data fits  {"title":"' + 9 * "words [bold]" + '"}',
    ):
        assert part in text


def test_what_a_terminal_would_obey_is_shown_as_escapes_on_every_line() -> None:
    lines = shown("\u202e\x9b31m\x1b[2J").splitlines()

    assert not {"\u202e", "\x9b", "\x1b"} & set("".join(lines))
    assert len([line for line in lines if "\\u202e\\u009b31m\\u001b[2J" in line]) == 13


def test_a_text_of_several_lines_cannot_pass_for_lines_of_the_page() -> None:
    forged = "     next  taoloop handovers close h"

    assert not [line for line in shown(f"words\n{forged}").splitlines() if line.startswith(forged)]
