"""`taoloop observe`: judges a recorded response from files, without any service."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption
from taoloop.cli.terminal import ExitCode

if TYPE_CHECKING:
    from taoloop.plan.observing import ObservationResult


def observe(  # noqa: PLR0913 - the options of a command are its parameters
    *,
    action_response: Annotated[
        Path, typer.Option(help="The tool's response: a body, or an object with `status_code`, `body` and so on.")
    ],
    catalogue: Annotated[
        Path | None, typer.Option(help="Where the tool's contract is; else the plan's output schema alone judges.")
    ] = None,
    tool: Annotated[str, typer.Option(help="The tool that answered; else the one of the plan's step.")] = "",
    thought_plan: Annotated[Path | None, typer.Option(help="A plan whose step says what is expected.")] = None,
    step: Annotated[str, typer.Option(help="The step of the plan that was carried out.")] = "",
    rules: Annotated[Path | None, typer.Option(help="JSON list of further rules: id, severity, when.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge a response as the observation service would, and show the verdict. Exit code 1 when it is not valid.

    Example: [bold]taoloop observe --catalogue catalogue --tool my_tool --action-response response.json[/bold]
    """
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import print_json
    from taoloop.observation.files import ObservedFiles, observe_files
    from taoloop.tools.served_catalogue import read_catalogue

    files = ObservedFiles(
        action_response=action_response, thought_plan=thought_plan, rules=rules, step_id=step, tool=tool
    )
    verdict = observe_files(files, None if catalogue is None else read_catalogue(catalogue))
    if as_json:
        print_json(record_json(verdict))
    else:
        _show(verdict)
    raise typer.Exit(ExitCode.OK if verdict.valid else ExitCode.FAILED)


def _show(verdict: ObservationResult) -> None:
    from taoloop.cli.run_view import fault_words, value_words
    from taoloop.cli.terminal import output, styled
    from taoloop.core.exact_json import ABSENT

    console = output()
    head = f"{verdict.tool}: {'valid' if verdict.valid else 'not valid'}, confidence {verdict.confidence:.2f}"
    console.print(styled(head, "bold green" if verdict.valid else "bold red"))
    for failure in verdict.failures:
        weight = "" if failure.hard else " (soft)"
        place = failure.pointer or "/"
        words = f"  {failure.stage} {failure.rule_id} at {place}{weight}: {failure.message}"
        if failure.expected is not ABSENT:
            words += f" Expected {value_words(failure.expected)}."
        if failure.actual is not ABSENT:
            words += f" Found {value_words(failure.actual)}."
        console.print(styled(words, "red" if failure.hard else "yellow"))
    if verdict.fault is not None:
        console.print(styled(f"  fault {fault_words(verdict.fault)}", "red"))
    console.print(styled(f"  passed: {', '.join(verdict.audit_trail) or 'nothing'}"))
    console.print(styled(f"  data: {value_words(verdict.data)}"))
    if verdict.suggested_next:
        console.print(styled(f"  suggested next: {verdict.suggested_next}"))
