"""`taoloop observe answer`: which claims of an answer's text the observations support, from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption
from taoloop.cli.terminal import ExitCode

if TYPE_CHECKING:
    from taoloop.plan.answering import CheckAnswerResponse, Claim, Evidence


def answer(
    text: Annotated[Path, typer.Argument(metavar="TEXT", help="File with the answer's text.")],
    *,
    evidence: Annotated[
        list[Path],
        typer.Option(help="JSON file with what the answer may rest on; may be given again, once for each step."),
    ],
    locale: Annotated[str, typer.Option(help="BCP 47 tag of the text's language; it decides dates such as 5/6.")] = "",
    time_zone: Annotated[str, typer.Option(help="IANA name of the user's time zone, in which times are read.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Say which numbers, dates, ids and names of an answer are supported, by which place. Exit code 1 if one is not.

    Evidence is the output of [bold]taoloop observe --json[/bold], of which the exposed part counts, an object
    [bold]{"step_id": …, "exposed": …}[/bold], or any other JSON, which counts as it is under its file's name. Values
    are compared, not spellings: 1,200.00 and 一千二百 are the same.

    Example: [bold]taoloop observe answer answer.txt --evidence observation.json[/bold]
    """
    from taoloop.cli.calling import read_text_file
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import print_json
    from taoloop.observation.grounding.checking import check_answer
    from taoloop.plan.answering import CheckAnswerRequest

    request = CheckAnswerRequest(
        text=read_text_file(text, "text"),
        evidence=tuple(_evidence(path) for path in evidence),
        locale=locale,
        time_zone=time_zone,
    )
    checked = check_answer(request)
    if as_json:
        print_json({"grounded": checked.grounded, **record_json(checked)})
    else:
        _show(checked)
    raise typer.Exit(ExitCode.OK if checked.grounded else ExitCode.FAILED)


def _evidence(path: Path) -> Evidence:
    from taoloop.cli.calling import read_json_file
    from taoloop.plan.answering import Evidence

    value = read_json_file(path, "evidence")
    if isinstance(value, dict) and "exposed" in value and ("confidence" in value or value.keys() <= _EVIDENCE_KEYS):
        return Evidence(step_id=str(value.get("step_id") or path.stem), exposed=value["exposed"])
    return Evidence(step_id=path.stem, exposed=value)


_EVIDENCE_KEYS = {"step_id", "exposed"}


def _show(checked: CheckAnswerResponse) -> None:
    from taoloop.cli.run_view import fault_words
    from taoloop.cli.terminal import output, styled

    console = output()
    for claim in checked.claims:
        console.print(styled(_claim_words(claim), "green" if claim.supported else "red"))
    if checked.fault is not None:
        console.print(styled(fault_words(checked.fault), "red"))
    unsupported = sum(not claim.supported for claim in checked.claims)
    word = "grounded" if checked.grounded else "not grounded"
    summary = f"{word}: {len(checked.claims)} claims, {unsupported} not supported"
    console.print(styled(summary, "bold green" if checked.grounded else "bold red"))


def _claim_words(claim: Claim) -> str:
    """Return a claim as one line: where it stands, what it is, and what supports it or comes nearest."""
    kind = "" if claim.kind is None else f" ({claim.kind.value} {claim.normalised})"
    place = f"  {claim.start}-{claim.end} {claim.text}{kind}: "
    reason = "" if claim.reason is None else claim.reason.value.replace("_", " ")
    if claim.supported:
        return f"{place}{reason or 'supported'} at {claim.step_id} {claim.pointer or '/'}"
    near = ""
    if claim.candidate:
        near = f"; nearest is {claim.candidate} at {claim.candidate_step_id} {claim.candidate_pointer or '/'}"
    return f"{place}{reason or 'not supported'}{near}"
