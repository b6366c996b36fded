"""`taoloop gc`: forgets what the effect ledger need not remember any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption

if TYPE_CHECKING:
    from datetime import datetime

    from taoloop.action.ledger.effects import Forgotten

LEAST_SECONDS = 86_400.0
"""A run goes on for as long as a question to a person may stay open; what it has written must not be forgotten."""


def gc(
    *,
    older_than: Annotated[
        str, typer.Option(help="Forget what has not changed for so long, such as 90d; at least 1d.")
    ] = "90d",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be forgotten, and forget nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Forget settled effects and lapsed approvals in the ledger that TAOLOOP_LEDGER__URL names, of all tenants.

    What is planned, started or unknown stays, whatever its age. The services may run meanwhile.

    Example: [bold]taoloop gc --older-than 90d --dry-run[/bold]
    """
    from taoloop.wire.event_loop import run as run_loop

    moment = _moment(older_than)
    forgotten = run_loop(_forget(moment, is_dry=dry_run))
    _show(forgotten, moment, is_dry=dry_run, as_json=as_json)


def _moment(text: str) -> datetime:
    from datetime import timedelta

    from taoloop.core.clock import SystemClock
    from taoloop.tools.loading.durations import parse_duration

    try:
        seconds = parse_duration(text)
        moment = SystemClock().now() - timedelta(seconds=seconds)
    except (ValueError, OverflowError) as exc:
        raise typer.BadParameter(str(exc), param_hint="--older-than") from exc
    if seconds < LEAST_SECONDS:
        raise typer.BadParameter(
            "a run may still go on and need what it has written: at least 1d", param_hint="--older-than"
        )
    return moment


async def _forget(moment: datetime, *, is_dry: bool) -> Forgotten:
    from taoloop.action.ledger.sql import sql_retention
    from taoloop.action.settings import LedgerOnlySettings
    from taoloop.core.clock import SystemClock
    from taoloop.core.settings import load_settings

    url = load_settings(LedgerOnlySettings).ledger.url.get_secret_value()
    async with sql_retention.existing_store(url, SystemClock()) as store:
        if is_dry:
            return await sql_retention.count_forgettable(store, moment)
        return await sql_retention.forget(store, moment)


def _show(forgotten: Forgotten, moment: datetime, *, is_dry: bool, as_json: bool) -> None:
    from taoloop.cli.terminal import output, print_json

    before = moment.isoformat(timespec="seconds")
    if as_json:
        print_json(
            {
                "dry_run": is_dry,
                "before": before,
                "effects": forgotten.effects,
                "approvals": forgotten.approvals,
                "unsettled": forgotten.unsettled,
            }
        )
        return
    did = "would forget" if is_dry else "forgot"
    console = output()
    console.print(f"{did} {forgotten.effects} effects and {forgotten.approvals} approvals from before {before}")
    if forgotten.unsettled:
        console.print(f"{forgotten.unsettled} effects are as old and stay, since they are not settled")
        console.print("  taoloop effects list --state unknown")
