"""`taoloop docs`: the machine that decides what becomes of a failure."""

from __future__ import annotations

from typing import Annotated

import typer

from taoloop.cli.options import JsonOption

app = typer.Typer(help="Show pages that are generated from the code.", no_args_is_help=True)


@app.callback()
def docs() -> None:
    """Show pages that are generated from the code."""


@app.command("correction")
def correction(
    *,
    fault_class: Annotated[
        str, typer.Option("--class", metavar="CLASS", help="Only one kind of failure, such as TOOL_TIMEOUT.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Draw the machine that decides what becomes of a failure, and list its edges and what they need.

    Mermaid's text stands first, for a page or an editor that draws it; docs/correction.md is the same. Nothing is asked
    of a running service.

    Example: [bold]taoloop docs correction --class TOOL_TIMEOUT[/bold]
    """
    from taoloop.cli.commands.documenting.correction import edges_as_json, kinds_named, machine_text
    from taoloop.cli.terminal import print_json

    kinds = kinds_named(fault_class)
    if as_json:
        print_json(edges_as_json(kinds))
    else:
        typer.echo(machine_text(kinds))
