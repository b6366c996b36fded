"""`taoloop evaluate routing`: from which of its numbers on the graph planner is right, for routing's thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taoloop.evaluation.planning.trusting import TrustRow


def routing(
    *,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same cases.")] = 2,
    count: Annotated[int, typer.Option(min=10, max=100_000, help="How many generated cases are planned.")] = 600,
    as_json: JsonOption = False,
) -> None:
    """Show how often the graph planner's plans, questions and refusals are right, from each of its numbers on.

    The cases are drawn from the catalogues and families that no weight was fitted on. A threshold for
    `TAOLOOP_THOUGHT__ROUTE__MIN_ARGUMENTS` and its like is read off the table: above it a reply is taken, and below a
    language model is asked.

    Example: [bold]taoloop evaluate routing --seed 3 --count 1000[/bold]
    """
    from taoloop.cli.terminal import print_json
    from taoloop.evaluation.planning.provenance import generated_cases, written_cases
    from taoloop.evaluation.planning.trusting import trust

    sources = {
        "generated": generated_cases(seed, count, is_held_out=True),
        "written": written_cases(seed, is_held_out=True),
    }
    found = {name: trust(cases) for name, cases in sources.items()}
    if as_json:
        print_json({name: [row.as_json() for row in rows] for name, rows in found.items()})
        return
    for name, rows in found.items():
        _show(f"{len(sources[name])} {name} cases", rows)


def _show(title: str, rows: Sequence[TrustRow]) -> None:
    from taoloop.cli.terminal import styled, table, table_output

    shown = table(title, ("reply", "number", "from (none: up to)", "taken of", "right"))
    for row in rows:
        cells = (row.kind, row.number, f"{row.threshold:.1f}", f"{row.taken} of {row.replies}", f"{row.precision:.0%}")
        shown.add_row(*map(styled, cells))
    table_output().print(shown)
