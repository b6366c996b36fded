"""The `taoloop` program: its commands, and what becomes of an error."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from taoloop.cli.commands import (
    demo,
    dev,
    effects,
    gc,
    health,
    models,
    plans,
    prompts,
    queues,
    report,
    run,
    serve,
)
from taoloop.cli.commands.deciding import command as deciding
from taoloop.cli.commands.documenting.app import app as docs_app
from taoloop.cli.commands.evaluating.app import app as evaluate_app
from taoloop.cli.commands.observing.app import app as observe_app
from taoloop.cli.commands.people import approvals, handovers
from taoloop.cli.commands.remembering import audit, memory
from taoloop.cli.commands.tools.app import app as tools_app
from taoloop.cli.terminal import ExitCode, print_error
from taoloop.core.errors import TaoError

app = typer.Typer(
    name="taoloop",
    help="Run agent tasks as a Thought, Action, Observation loop of typed gRPC services.",
    epilog="Start here: [bold]taoloop demo[/bold], then [bold]taoloop dev examples/customer-service[/bold].",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("demo")(demo.demo)
app.command("dev")(dev.dev)
app.command("serve")(serve.serve)
app.command("run")(run.run)
app.command("input")(run.give_input)
app.command("watch")(run.watch)
app.command("runs")(run.runs)
app.command("cancel")(run.cancel)
app.command("audit")(audit.audit)
app.command("gc")(gc.gc)
app.command("health")(health.health)
app.command("decisions")(deciding.decisions)
app.add_typer(observe_app, name="observe")
app.add_typer(tools_app, name="tools")
app.add_typer(models.app, name="model")
app.add_typer(plans.app, name="plan")
app.add_typer(prompts.app, name="prompt")
app.add_typer(evaluate_app, name="evaluate")
app.add_typer(effects.app, name="effects")
app.add_typer(queues.app, name="queue")
app.add_typer(approvals.app, name="approvals")
app.add_typer(handovers.app, name="handovers")
app.add_typer(docs_app, name="docs")
app.add_typer(memory.app, name="memory")
app.add_typer(report.app, name="report")


def _show_version(*, is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        typer.echo(f"taoloop {version('taoloop')}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=lambda value: _show_version(is_wanted=value),
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Run agent tasks as a Thought, Action, Observation loop of typed gRPC services."""


def main() -> None:
    """Run the program and end the process with its exit code."""
    # gRPC's core writes to standard error on its own; what matters of it comes back as an error of ours.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # noqa: TID251 - the core reads its level from there alone
    try:
        app(prog_name="taoloop")
    except TaoError as error:
        print_error(error)
        sys.exit(ExitCode.FAILED)


if __name__ == "__main__":
    main()
