"""`taoloop evaluate selection`: how many of the needed tools a language model is offered, of hundreds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from taoloop.cli.options import JsonOption


def selection(
    *,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same catalogues and requests.")] = 1,
    tools: Annotated[int, typer.Option(min=50, max=2000, help="How many tools the catalogues have at least.")] = 500,
    count: Annotated[int, typer.Option(min=10, max=100_000, help="How many requests in each language.")] = 200,
    max_found: Annotated[int, typer.Option(min=1, max=100, help="Most tools that the request's words find.")] = 12,
    max_produced: Annotated[int, typer.Option(min=0, max=100, help="Most tools offered for what they produce.")] = 8,
    as_json: JsonOption = False,
) -> None:
    """Select tools on generated catalogues in English and Chinese and show how many of the needed ones are offered.

    Half of the requests need one tool that they speak of, half a chain of three: two of them share no word with the
    request, and only what they produce leads to them. `--max-produced 0` shows what words alone find.

    Example: [bold]taoloop evaluate selection --tools 300 --max-produced 0 --max-found 20[/bold]
    """
    from taoloop.cli.terminal import print_json, styled, table, table_output
    from taoloop.core.clock import SystemClock
    from taoloop.evaluation.selection.cases import market
    from taoloop.evaluation.selection.measuring import measure
    from taoloop.thought.pipeline.selecting import SelectionRules

    rules = SelectionRules(max_found=max_found, max_produced=max_produced)
    found = {}
    for language in ("en", "zh"):
        catalogue = market(seed, tools, count, is_chinese=language == "zh")
        found[language, len(catalogue.tools)] = measure(catalogue, rules, SystemClock())
    if as_json:
        rows = [{"language": language, "tools": size, **asdict(each)} for (language, size), every in found.items()
                for each in every]  # fmt: skip
        print_json({"rows": [*rows]})
        return
    header = ("language", "tools", "requests", "n", "all needed", "needed", "hidden", "offered", "ms")
    shown = table("needed tools that are offered", header)
    for (language, size), every in found.items():
        for each in every:
            shares = (
                "" if share is None else f"{share:.1%}" for share in (each.whole, each.recall, each.hidden_recall)
            )
            numbers = (f"{each.offered:.1f}", f"{each.milliseconds:.1f}")
            shown.add_row(*map(styled, (language, str(size), each.kind, str(each.requests), *shares, *numbers)))
    table_output().print(shown)
