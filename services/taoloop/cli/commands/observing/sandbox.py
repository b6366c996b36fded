"""`taoloop observe sandbox`: one observation before the planner alone, to tell tool faults from model faults."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption
from taoloop.cli.terminal import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from taoloop.core.exact_json import Json, JsonValue
    from taoloop.evaluation.sandbox import Assessment, Outcome
    from taoloop.observation.files import ObservedResponse
    from taoloop.plan.task import Task
    from taoloop.plan.thinking import ThinkRequest
    from taoloop.tools.catalogue import Catalogue

    Plan = Callable[[ThinkRequest], Outcome]

MAX_EFFECTS = ("read", "idempotent_write", "write")


def sandbox(  # noqa: PLR0913 - the options of a command are its parameters
    query: Annotated[str, typer.Argument(metavar="REQUEST", help="The user's words, as the planner gets them.")],
    *,
    action_response: Annotated[
        Path,
        typer.Option(help="The tool's response: a body, a sample, or an object with `body`, `arguments` and so on."),
    ],
    catalogue: Annotated[Path, typer.Option(help="The tools that the planner knows: directory, file or bundle.")],
    tool: Annotated[str, typer.Option(help="The tool that answered; else the one the file names.")] = "",
    arguments: Annotated[
        str, typer.Option(help="JSON object of what it was asked; else the file's, else those that the planner plans.")
    ] = "",
    thought: Annotated[
        str, typer.Option(metavar="ADDRESS", help="A running thought service, host:port; else the graph planner here.")
    ] = "",
    locale: Annotated[str, typer.Option(help="BCP 47 tag of the user's language.")] = "",
    time_zone: Annotated[str, typer.Option(help="IANA name of the user's time zone.")] = "",
    reference_time: Annotated[str, typer.Option(help="RFC 3339: the moment that relative dates refer to.")] = "",
    max_effect: Annotated[
        str, typer.Option(help=f"The strongest effect that a plan may have: {', '.join(MAX_EFFECTS)}.")
    ] = "read",
    as_json: JsonOption = False,
) -> None:
    """Put one tool result before the planner alone, and say whether the tool or the planner is at fault.

    The result is judged first. If it is not valid, the tool's result is wrong. If it is valid, what the planner makes
    of it is compared with it: values that an answer says, places that a plan refers to, values that it asks for
    although the result has them. Exit code 1 if either is at fault.

    Example: [bold]taoloop observe sandbox "What is a euro in dollars?" --catalogue catalogue --tool look_up_rate
    --action-response response.json[/bold]
    """
    from taoloop.cli.commands.observing.judging import judged
    from taoloop.cli.run_options import TaskOptions, task_of
    from taoloop.core.exact_json import Absent
    from taoloop.evaluation.sandbox import assess, with_result
    from taoloop.observation.files import ObservedFiles
    from taoloop.observation.grounding.checking import check_answer
    from taoloop.tools.served_catalogue import read_catalogue
    from taoloop.tools.signature import Effect

    if max_effect not in MAX_EFFECTS:
        raise typer.BadParameter(f"{max_effect!r} is not one of {', '.join(MAX_EFFECTS)}", param_hint="--max-effect")
    task = task_of(
        TaskOptions(
            text=query,
            locale=locale,
            time_zone=time_zone,
            reference_time=reference_time,
            max_effect=Effect(max_effect),
        )
    )
    loaded = read_catalogue(catalogue, are_samples_judged=False)
    response = judged(ObservedFiles(action_response=action_response, tool=tool), catalogue)
    name = response.tool.contract.name
    plan = _remote(thought) if thought else _local(loaded)
    first = _first_request(task, loaded)
    asked = _asked(arguments, response, plan, first, name)
    if isinstance(asked, Absent):
        hint = "give --arguments, or state `arguments` in the file"
        raise typer.BadParameter(
            f"{name} is not what the planner calls first for this; {hint}", param_hint="--arguments"
        )
    request = with_result(first, name, asked, response.verdict)
    outcome = plan(request)
    assessment = assess(loaded, request, response.verdict, outcome, check_answer)
    _show(response, asked, outcome, assessment, as_json=as_json)
    is_fault = assessment.verdict.value in {"tool_result_wrong", "planner_misreads"}
    raise typer.Exit(ExitCode.FAILED if is_fault else ExitCode.OK)


def _local(catalogue: Catalogue) -> Plan:
    """Return the graph planner of this process."""
    from taoloop.thought.planners.graph import GraphPlanner

    planner = GraphPlanner(catalogue)
    return lambda request: planner.plan(request).outcome


def _remote(address: str) -> Plan:
    """Return the planner of a running thought service."""
    from taoloop.cli.calling import CallOptions, calling_thought
    from taoloop.wire.event_loop import run as run_loop

    async def thought(request: ThinkRequest) -> Outcome:
        async with calling_thought(CallOptions(address=address)) as (client, context):
            return (await client.think(request, context)).outcome

    return lambda request: run_loop(thought(request))


def _first_request(task: Task, catalogue: Catalogue) -> ThinkRequest:
    from taoloop.core.clock import SystemClock
    from taoloop.core.ids import new_id
    from taoloop.plan.thinking import ThinkRequest

    clock = SystemClock()
    return ThinkRequest(
        run_id=new_id(clock),
        iteration=1,
        turns=task.turns,
        reference_time=task.reference_time or clock.now(),
        time_zone=task.time_zone,
        locale=task.locale,
        permissions=task.permissions,
        catalogue_digest=catalogue.digest,
    )


def _asked(text: str, response: ObservedResponse, plan: Plan, first: ThinkRequest, tool: str) -> Json:
    """Return what the tool was asked: as given, else as the file says, else as the planner would ask."""
    from taoloop.core.exact_json import Absent
    from taoloop.evaluation.sandbox import planned_arguments
    from taoloop.tools.arguments import ArgumentsRefused, read_arguments

    if text:
        try:
            return dict(read_arguments(response.tool.parameters, text).value)
        except ArgumentsRefused as exc:
            raise typer.BadParameter(str(exc), param_hint="--arguments") from exc
    if not isinstance(response.request.arguments, Absent):
        return response.request.arguments
    return planned_arguments(plan(first), tool)


def _show(response: ObservedResponse, asked: Json, outcome: Outcome, assessment: Assessment, *, as_json: bool) -> None:
    from taoloop.cli.commands.observing.judging import verdict_lines
    from taoloop.cli.run_view import thought_lines
    from taoloop.cli.terminal import output, print_json, styled

    if as_json:
        print_json(_json(response, asked, outcome, assessment))
        return
    console = output()
    for line in verdict_lines(response.verdict):
        console.print(line)
    console.print(styled("what the planner makes of it", "bold"))
    for line in thought_lines(outcome):
        console.print(line)
    console.print(styled("facts", "bold"))
    for fact in assessment.facts:
        place = f" [{fact.pointer}]" if fact.pointer else ""
        console.print(styled(f"  {fact.about}: {fact.message}{place}", "red" if fact.is_fault else "green"))
    style, words = _WORDS[assessment.verdict.value]
    console.print(styled(words, style))


_WORDS = {
    "understood": ("bold green", "verdict: the tool's result is right, and the planner reads it right"),
    "tool_result_wrong": ("bold red", "verdict: the tool's result is wrong; correct the tool or its contract"),
    "planner_misreads": ("bold red", "verdict: the tool's result is right, and the planner misreads it"),
    "undecided": ("bold yellow", "verdict: undecided; nothing that the planner says can be compared with the result"),
}


def _json(response: ObservedResponse, asked: Json, outcome: Outcome, assessment: Assessment) -> JsonValue:
    from taoloop.cli.records import record_json
    from taoloop.core.exact_json import Absent
    from taoloop.plan.thinking import ThinkResponse

    return {
        **record_json(assessment),
        "arguments": None if isinstance(asked, Absent) else asked,
        "observation": record_json(response.verdict),
        **record_json(ThinkResponse(outcome=outcome)),
    }
