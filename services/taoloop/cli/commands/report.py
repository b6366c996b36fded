"""`taoloop report`: what became of many runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import DeadlineSeconds, JsonOption, LoopAddress, Tenant

if TYPE_CHECKING:
    from datetime import datetime

    from taoloop.cli.calling import CallOptions
    from taoloop.core.exact_json import JsonValue
    from taoloop.evaluation.attribution import FailureReport

app = typer.Typer(help="Say what became of many runs.", no_args_is_help=True)

MAX_SHOWN = 3


@app.callback()
def group() -> None:
    """Say what became of many runs."""


@app.command()
def failures(
    *,
    since: Annotated[
        str,
        typer.Option(help="Only runs that began so long ago at most, such as 24h or 7d, or after a time, RFC 3339."),
    ] = "",
    file: Annotated[
        Path | None,
        typer.Option(help="Read the events that `run --json` or `watch --json` wrote instead of asking a service."),
    ] = None,
    address: LoopAddress = None,
    deadline: DeadlineSeconds = 600.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Lay every failed run to planning, a tool, the observation of its result, or the answer, from the runs' logs.

    What is none of these has rows of its own: limits, persons, the deployment. A
    run that waits for a value or for leave has not failed, and neither has one
    that was cancelled.

    Example: [bold]taoloop report failures --since 7d[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.cli.terminal import print_json
    from taoloop.wire.event_loop import run as run_loop

    oldest = _moment(since)
    if file is not None:
        report = _of_file(file, oldest)
    else:
        call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
        report = run_loop(_of_service(call, oldest))
    if as_json:
        print_json(_json(report))
    else:
        _show(report)


def _of_file(path: Path, oldest: datetime | None) -> FailureReport:
    """Read a file of the events of one run or more, in any order of the runs."""
    from taoloop.cli.batch.progress import Progress
    from taoloop.cli.viewing.recorded_events import read_events
    from taoloop.core.clock import SystemClock
    from taoloop.evaluation.attribution import FailureReport, of_state
    from taoloop.loop.state import RunState

    states: dict[str, RunState] = {}
    with Progress("read events", 0, SystemClock()) as progress:
        for event in read_events(path):
            states.setdefault(event.run_id, RunState(event.run_id)).apply(event)
            progress.advance(0)
    report = FailureReport()
    for state in states.values():
        if oldest is None or state.started_at is None or state.started_at >= oldest:
            report.add(of_state(state))
    return report


async def _of_service(options: CallOptions, oldest: datetime | None) -> FailureReport:
    from taoloop.cli.batch.failed_runs import failed_runs
    from taoloop.cli.batch.progress import Progress
    from taoloop.cli.calling import calling_loop
    from taoloop.core.clock import SystemClock
    from taoloop.evaluation.attribution import FailureReport

    report = FailureReport()
    with Progress("looked at runs", 0, SystemClock()) as progress:
        async with calling_loop(options) as (client, call):
            async for attribution in failed_runs(client, call, oldest):
                report.add(attribution)
                progress.advance(0)
    return report


def _moment(text: str) -> datetime | None:
    """Return the time of `--since`; None for all runs."""
    from datetime import datetime, timedelta

    from taoloop.core.clock import SystemClock
    from taoloop.tools.loading.durations import parse_duration

    if not text:
        return None
    try:
        return SystemClock().now() - timedelta(seconds=parse_duration(text))
    except (ValueError, OverflowError):
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        cause = "must be a duration such as 24h or 7d, or RFC 3339 with an offset, such as 2026-03-10T09:00:00+08:00"
        raise typer.BadParameter(f"{text!r} {cause}", param_hint="--since")
    return moment


def _json(report: FailureReport) -> JsonValue:
    parts: list[JsonValue] = [
        {
            "part": part.value,
            "meaning": part.meaning,
            "runs": row.count,
            "share": round(report.share(part), 4),
            "codes": dict(row.codes.most_common()),
            "tools": dict(row.tools.most_common()),
            "examples": list(row.examples),
        }
        for part, row in report.ordered()
    ]
    return {"runs": report.runs, "failed": report.failed, "parts": parts}


def _show(report: FailureReport) -> None:
    from taoloop.cli.terminal import output, styled, table, table_output

    share = f" ({100 * report.failed / report.runs:.1f} %)" if report.runs else ""
    output().print(styled(f"{report.runs} runs, {report.failed} failed{share}"))
    if not report.failed:
        return
    shown = table("", ("laid to", "runs", "share", "most often", "tools", "for example"))
    for part, row in report.ordered():
        codes, tools = (
            ", ".join(f"{name} {count}" for name, count in counts.most_common(MAX_SHOWN))
            for counts in (row.codes, row.tools)
        )
        cells = (f"{part.value}: {part.meaning}", row.count, f"{100 * report.share(part):.1f} %", codes, tools)
        shown.add_row(*(styled(cell) for cell in (*cells, row.examples[0])))
    table_output().print(shown)
