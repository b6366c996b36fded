"""The group `taoloop evaluate`: which command is whose."""

from __future__ import annotations

import typer

from taoloop.cli.commands.evaluating import fitting, generating, planning, routing, selecting

app = typer.Typer(help="Measure planners on cases, and make cases.", no_args_is_help=True)
app.command("generate")(generating.generate)
app.command("fit")(fitting.fit)
app.command("planning")(planning.planning)
app.command("routing")(routing.routing)
app.command("selection")(selecting.selection)
