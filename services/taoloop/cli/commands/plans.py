"""`taoloop plan`: checks plans without running them, and shows how the graph planner comes to one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import CatalogueOption, JsonOption
from taoloop.cli.terminal import ExitCode

if TYPE_CHECKING:
    from taoloop.core.faults import Fault
    from taoloop.plan.thinking import CheckPlanResponse

app = typer.Typer(help="Check and explain plans without running them.", no_args_is_help=True)
MAX_EFFECTS = ("read", "idempotent_write", "write")


@app.callback()
def group() -> None:
    """Check and explain plans without running them."""


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A plan in its JSON form.")],
    *,
    catalogue: CatalogueOption,
    query: Annotated[str, typer.Option(help="The user's words, which spans and quotes are looked up in.")] = "",
    state: Annotated[Path | None, typer.Option(help="JSON file with the session's state.")] = None,
    max_effect: Annotated[
        str, typer.Option(help=f"The strongest effect that is allowed: {', '.join(MAX_EFFECTS)}.")
    ] = "read",
    as_json: JsonOption = False,
) -> None:
    """Check a plan as a program is type-checked and show every fault with its place. Exit code 1 on any fault.

    Example: [bold]taoloop plan check plan.json --catalogue examples/customer-service --query "..."[/bold]
    """
    from taoloop.cli.calling import read_json_file, read_text_file
    from taoloop.core.exact_json import ABSENT
    from taoloop.plan.task import Permissions, Role, Turn
    from taoloop.plan.thinking import CheckPlanRequest
    from taoloop.thought.plan_checking import PlanChecking
    from taoloop.tools.served_catalogue import read_catalogue
    from taoloop.tools.signature import Effect

    if max_effect not in MAX_EFFECTS:
        raise typer.BadParameter(f"{max_effect!r} is not one of {', '.join(MAX_EFFECTS)}", param_hint="--max-effect")
    request = CheckPlanRequest(
        plan_text=read_text_file(file, "plan"),
        permissions=Permissions(max_effect=Effect(max_effect)),
        turns=(Turn(role=Role.USER, text=query),) if query else (),
        state=ABSENT if state is None else read_json_file(state, "state"),
    )
    verdict = PlanChecking(read_catalogue(catalogue)).check(request)
    _show(file, verdict, as_json=as_json)
    raise typer.Exit(ExitCode.OK if verdict.valid else ExitCode.FAILED)


@app.command()
def explain(
    query: Annotated[str, typer.Argument(help="The user's words.")],
    *,
    catalogue: CatalogueOption = Path("examples/customer-service"),
    reference_time: Annotated[
        str, typer.Option("--at", help="The moment that relative words refer to, RFC 3339; else now.")
    ] = "",
    time_zone: Annotated[str, typer.Option(help="IANA name of the user's time zone.")] = "UTC",
    locale: Annotated[str, typer.Option(help="BCP 47 tag of the user's language; else the words decide.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Show how a request is planned: spans, tools and scores, assignment, chain, decision; then who would plan it.

    Nothing is called, and a run is taken to be permitted everything. The route and the tools that a language model
    would be offered follow the settings of the environment, as `taoloop decisions` shows them.

    Example: [bold]taoloop plan explain "..." --catalogue examples/customer-service[/bold]
    """
    from taoloop.cli.commands.explained import explained_request, routed, show_explanation
    from taoloop.cli.terminal import print_json
    from taoloop.thought.planners.graph.explaining import explain as explanation_of
    from taoloop.tools.served_catalogue import read_catalogue

    request = explained_request(query, reference_time, time_zone, locale)
    tools = read_catalogue(catalogue)
    explanation = {**explanation_of(tools, request), **routed(tools, request)}
    if as_json:
        print_json(explanation)
    else:
        show_explanation(explanation)


def _show(file: Path, verdict: CheckPlanResponse, *, as_json: bool) -> None:
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import output, print_json, styled

    if as_json:
        print_json({"valid": verdict.valid, **record_json(verdict)})
        return
    console = output()
    for fault in verdict.faults:
        console.print(styled(f"{file}: {fault_line(fault)}", "red"))
    if verdict.valid:
        console.print(styled(f"{file}: valid; order {', '.join(verdict.order)}", "green"))
    else:
        console.print(styled(f"{file}: {len(verdict.faults)} fault(s)", "red"))


def fault_line(fault: Fault) -> str:
    """Return a fault with its place, such as `/steps/0/tool: UNKNOWN_TOOL: …`."""
    from taoloop.cli.run_view import fault_words, value_words
    from taoloop.core.exact_json import ABSENT

    line = f"{fault.field or '(root)'}: {fault_words(fault)}"
    if fault.expected is not ABSENT:
        line += f" Expected {value_words(fault.expected)}."
    return line
