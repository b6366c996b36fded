"""`taoloop evaluate planning`: a planner on a file of cases, scored strictly."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption

if TYPE_CHECKING:
    from taoloop.evaluation.planning.figures import Figures


class PlannerName(StrEnum):
    """Who plans."""

    GRAPH = "graph"
    MODEL = "model"


class Reasoning(StrEnum):
    """How much a model says before it decides, in the words of `Reason`, whose import every command would wait for."""

    FULL = "full"
    BRIEF = "brief"
    OFF = "off"


def planning(  # noqa: PLR0913 - the options of a command are its parameters
    cases: Annotated[Path, typer.Argument(help="JSON lines of planning cases, each with its own tools.")],
    *,
    planner: Annotated[PlannerName, typer.Option(help="Who plans; a model is that of TAOLOOP_MODEL__….")] = (
        PlannerName.GRAPH
    ),
    out: Annotated[Path | None, typer.Option(help="Where the predictions go, one JSON line a case.")] = None,
    reasoning: Annotated[Reasoning, typer.Option(help="How much a model says before it decides.")] = Reasoning.OFF,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="Questions to a model at the same time.")] = 16,
    every: Annotated[int, typer.Option(min=1, help="A model is asked every so many-th case; 1 takes all.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Plan every case and score it: by category and language, odd and even cases apart.

    Nothing is called. A case is right only when decision, tools, references and every argument are. What a model
    says is in --out at once: the same command goes on where an earlier one was interrupted.

    Example: [bold]taoloop evaluate planning cases.jsonl --out predictions.jsonl[/bold]
    """
    if planner is PlannerName.MODEL:
        from taoloop.cli.commands.evaluating.asking import ModelRun, ask_model

        ask_model(cases, out, ModelRun(reasoning.value, concurrency, every), as_json=as_json)
        return
    from taoloop.cli.batch.progress import Progress
    from taoloop.cli.batch.writing import write_whole
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.core.clock import SystemClock
    from taoloop.core.exact_json import dumps
    from taoloop.evaluation.planning.figures import figures
    from taoloop.evaluation.planning.running import run_cases

    clock = SystemClock()
    size = cases.stat().st_size if cases.is_file() else 0
    with Progress("planned", size, clock) as progress:
        rows = list(run_cases(cases, clock, progress.advance))
    if out is not None:
        write_whole(out, "".join(dumps(row.prediction) + "\n" for row in rows))
    found = figures([row.scored for row in rows])
    if as_json:
        print_json({"cases": len(rows), **found.as_json()})
        return
    show_shares(found, len(rows))
    errors = ", ".join(f"{name} {value:.3f}" for name, value in found.calibration_error.items())
    output().print(styled(f"calibration error: {errors}; mean {found.mean_ms:.1f} ms a plan"))


def show_shares(found: Figures, count: int) -> None:
    """Print the shares of right cases by category, and why the others are wrong."""
    from taoloop.cli.terminal import output, styled, table, table_output

    cells = table(f"{count} cases, percent right", ("category", "language", "n", "right"))
    for (category, lang), share in found.cells.items():
        cells.add_row(styled(category), styled(lang), styled(share.n), styled(f"{share.percent:.1f}"))
    halves = table("", ("category", "all", "even", "odd"))
    for category, shares in found.categories.items():
        halves.add_row(styled(category), *(styled(f"{share.percent:.1f} of {share.n}") for share in shares.values()))
    halves.add_row(styled("macro", "bold"), *(styled(f"{value:.1f}", "bold") for value in found.macro.values()))
    table_output().print(cells)
    table_output().print(halves)
    reasons = ", ".join(f"{reason} {number}" for reason, number in found.reasons.most_common(8))
    output().print(styled(f"wrong: {reasons}"))
