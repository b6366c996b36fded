"""`taoloop tools drift`: what the tools began to answer that neither their contracts nor their samples have."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import DeadlineSeconds, JsonOption
from taoloop.cli.terminal import ExitCode

if TYPE_CHECKING:
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.observing import DriftRecord, ListDriftRequest


def drift(
    tool: Annotated[str, typer.Argument(metavar="[TOOL]", help="Only that of one tool.")] = "",
    *,
    since: Annotated[str, typer.Option(help="RFC 3339: only what was seen at this time or later.")] = "",
    address: Annotated[
        str | None,
        typer.Option(help="Where the observation service is; else TAOLOOP_OBSERVATION_ADDRESS, else 127.0.0.1:7703."),
    ] = None,
    deadline: DeadlineSeconds = 10.0,
    as_json: JsonOption = False,
) -> None:
    """List what changed upstream without notice, and since when. Exit code 1 if anything did.

    A new field, type or value of an enumeration counts even where the schema allows it. Once the change is meant, add
    a sample of it: [bold]taoloop tools record[/bold].

    Example: [bold]taoloop tools drift look_up_rate --since 2026-03-01T00:00:00Z[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.observing import ListDriftRequest
    from taoloop.wire.event_loop import run as run_loop

    request = ListDriftRequest(tool=tool, since=_moment(since), page_size=_PAGE_SIZE)
    options = CallOptions(address=address, deadline_seconds=deadline)
    records, is_local = run_loop(_listed(request, options))
    _show(records, is_local=is_local, as_json=as_json)
    raise typer.Exit(ExitCode.FAILED if records else ExitCode.OK)


_PAGE_SIZE = 1000


async def _listed(request: ListDriftRequest, options: CallOptions) -> tuple[list[DriftRecord], bool]:
    from dataclasses import replace

    from taoloop.cli.calling import calling_observation

    records: list[DriftRecord] = []
    async with calling_observation(options) as (client, context):
        while True:
            page = await client.list_drift(request, context)
            records.extend(page.records)
            if not page.next_page_token:
                return records, page.is_local
            request = replace(request, page_token=page.next_page_token)


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        message = f"{text!r} must be RFC 3339 with an offset, such as 2026-03-01T00:00:00Z"
        raise typer.BadParameter(message, param_hint="--since")
    return moment


def _show(records: list[DriftRecord], *, is_local: bool, as_json: bool) -> None:
    from taoloop.cli.records import record_json
    from taoloop.cli.run_view import value_words
    from taoloop.cli.terminal import output, print_json, styled, table, table_output

    if as_json:
        for record in records:
            print_json(record_json(record))
        return
    shown = table("", ("tool", "what is new", "where", "value", "first seen", "last seen", "results"))
    for record in records:
        if record.drift is None:
            continue
        place = f"{record.drift.pointer or '/'} of the {'data' if record.drift.in_data else 'body'}"
        cells = (
            record.tool,
            record.drift.kind.value.replace("_", " "),
            place,
            value_words(record.drift.value),
            _time_words(record.first_seen),
            _time_words(record.last_seen),
            str(record.count),
        )
        shown.add_row(*(styled(cell) for cell in cells))
    if records:
        table_output().print(shown)
    scope = " on this replica alone, since it started" if is_local else ""
    word = "change" if len(records) == 1 else "changes"
    output().print(styled(f"{len(records)} {word}{scope}", "yellow" if records else "green"))


def _time_words(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M:%SZ}"
