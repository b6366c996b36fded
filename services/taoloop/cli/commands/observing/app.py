"""The group `taoloop observe`: judges a file by itself, and its commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taoloop.cli.commands.observing import answering, replaying, sandbox
from taoloop.cli.options import JsonOption

app = typer.Typer(invoke_without_command=True, no_args_is_help=True)


@app.callback()
def observe(  # noqa: PLR0913 - the options of a command are its parameters
    context: typer.Context,
    *,
    action_response: Annotated[
        Path | None,
        typer.Option(help="The tool's response: a body, a sample, or an object with `status_code`, `body` and so on."),
    ] = None,
    catalogue: Annotated[
        Path | None, typer.Option(help="Where the tool's contract is; else the plan's output schema alone judges.")
    ] = None,
    tool: Annotated[
        str, typer.Option(help="The tool that answered; else the one of the plan's step, or the one the file names.")
    ] = "",
    thought_plan: Annotated[Path | None, typer.Option(help="A plan whose step says what is expected.")] = None,
    step: Annotated[str, typer.Option(help="The step of the plan that was carried out.")] = "",
    rules: Annotated[Path | None, typer.Option(help="JSON list of further rules: id, severity, when.")] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Show every rule step by step, every normaliser before and after, and the confidence."
        ),
    ] = False,
    timing: Annotated[
        bool, typer.Option("--timing", help="Show what the verdict and each check cost here, in microseconds.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Judge a tool's response as the services would, and show the verdict. Exit code 1 when it is not valid.

    The response goes through the contract's errors, status, success rule, schema, normalisers and rules. Each failure
    is shown with its place; a rule with the values that it read.

    Example: [bold]taoloop observe --catalogue catalogue --tool my_tool --action-response response.json[/bold]

    Example: [bold]taoloop observe --catalogue catalogue --action-response sample.json --tool my_tool --explain[/bold]
    """
    if context.invoked_subcommand is not None:
        return
    if action_response is None:
        raise typer.BadParameter("names the file with the tool's response", param_hint="--action-response")
    from taoloop.cli.commands.observing.judging import show_judged
    from taoloop.observation.files import ObservedFiles

    files = ObservedFiles(
        action_response=action_response, thought_plan=thought_plan, rules=rules, step_id=step, tool=tool
    )
    show_judged(files, catalogue, is_explained=explain, is_timed=timing, as_json=as_json)


app.command("replay")(replaying.replay)
app.command("answer")(answering.answer)
app.command("sandbox")(sandbox.sandbox)
