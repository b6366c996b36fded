"""`taoloop evaluate fit`: the planner's calibration, fitted on generated and written cases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taoloop.cli.options import JsonOption


def fit(
    *,
    out: Annotated[Path, typer.Option(help="Where the data file goes.")],
    seed: Annotated[int, typer.Option(min=0, help="Of the cases; the same seed gives the same file.")] = 11,
    count: Annotated[
        int,
        typer.Option(
            min=100, max=100_000, help="How many generated cases the weights are fitted on, beside the written ones."
        ),
    ] = 800,
    as_json: JsonOption = False,
) -> None:
    """Fit the graph planner's three probabilities on cases of our own and write them with where they come from.

    The cases are generated ones and those of the written families. What is kept for judging takes no part.

    Example: [bold]taoloop evaluate fit --out weights.json[/bold]
    """
    import json

    from taoloop.cli.batch.writing import write_whole
    from taoloop.cli.terminal import output, print_json
    from taoloop.evaluation.planning.fitting import fit as fitted_on
    from taoloop.evaluation.planning.provenance import fitting_cases, with_provenance
    from taoloop.thought.planners.graph.calibration.model import fitted

    cases = fitting_cases(seed, count)
    document = with_provenance(fitted_on(cases, fitted()), seed, count)
    write_whole(out, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    if as_json:
        print_json({"cases": len(cases), "seed": seed, "out": str(out)})
    else:
        output().print(f"fitted on {len(cases)} cases, written to {out}", markup=False)
