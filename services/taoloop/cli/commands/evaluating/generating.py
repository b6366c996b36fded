"""`taoloop evaluate generate`: cases from catalogues of our own."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from taoloop.cli.options import JsonOption


class Subjects(StrEnum):
    """Which generated catalogues are drawn from."""

    ALL = "all"
    FITTED = "fitted"
    HELD_OUT = "held-out"


def generate(
    *,
    out: Annotated[Path, typer.Option(help="Where the cases go, one JSON line each.")],
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same cases.")] = 1,
    count: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many cases.")] = 5000,
    subjects: Annotated[
        Subjects, typer.Option(help="Whether the catalogues that take no part in fitting are drawn from.")
    ] = Subjects.ALL,
    as_json: JsonOption = False,
) -> None:
    """Make planning cases in English and Chinese from some 40 catalogues, with the decision that is right.

    Half of the questions and refusals are pairs of a plan: the same words with a value or the tool taken away.

    Example: [bold]taoloop evaluate generate --seed 7 --count 5000 --out cases.jsonl[/bold]
    """
    from taoloop.cli.batch.writing import write_whole
    from taoloop.cli.terminal import output, print_json
    from taoloop.core.exact_json import dumps
    from taoloop.evaluation.planning.generating.cases import generate as generated

    chosen = {Subjects.ALL: None, Subjects.FITTED: False, Subjects.HELD_OUT: True}[subjects]
    records = list(generated(seed, count, is_held_out=chosen))
    write_whole(out, "".join(dumps(record) + "\n" for record in records))
    if as_json:
        print_json({"cases": len(records), "seed": seed, "out": str(out)})
    else:
        output().print(f"{len(records)} cases written to {out}", markup=False)
