"""`taoloop evaluate planning`: the graph planner on a file of cases, scored strictly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption

if TYPE_CHECKING:
    from taoloop.evaluation.planning.figures import Figures


def planning(
    cases: Annotated[Path, typer.Argument(help="JSON lines of planning cases, each with its own tools.")],
    *,
    out: Annotated[Path | None, typer.Option(help="Where the predictions go, one JSON line a case.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Plan every case with the graph planner and score it: by category and language, odd and even cases apart.

    Nothing is called. A case is right only when decision, tools, references and every argument are.

    Example: [bold]taoloop evaluate planning cases.jsonl --out predictions.jsonl[/bold]
    """
    from taoloop.cli.batch.progress import Progress
    from taoloop.cli.batch.writing import write_whole
    from taoloop.cli.terminal import print_json
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
    else:
        _show(found, len(rows))


def _show(found: Figures, count: int) -> None:
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
    errors = ", ".join(f"{name} {value:.3f}" for name, value in found.calibration_error.items())
    output().print(styled(f"calibration error: {errors}; mean {found.mean_ms:.1f} ms a plan"))
