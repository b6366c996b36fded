"""`taoloop gc`: forgets what the effect ledger need not remember, and what logs of runs left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption

if TYPE_CHECKING:
    from datetime import datetime

    from taoloop.action.ledger.effects import Forgotten
    from taoloop.loop.runlog.redis_run_sweep import Swept

LEAST_SECONDS = 86_400.0
"""A run goes on for as long as a question to a person may stay open; what it has written must not be forgotten."""


def gc(
    *,
    older_than: Annotated[
        str, typer.Option(help="Forget what has not changed for so long, such as 90d; at least 1d.")
    ] = "90d",
    runs: Annotated[
        bool,
        typer.Option("--runs", help="Sweep the logs of runs in Redis, not the ledger; --older-than is left alone."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be forgotten, and forget nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Forget settled effects and lapsed approvals in the ledger that TAOLOOP_LEDGER__URL names, of all tenants.

    What is planned, started or unknown stays, whatever its age. The services may run meanwhile.

    Logs of runs expire by themselves. With --runs, what they may have left behind in the Redis that TAOLOOP_REDIS__URL
    names is removed: entries of lists whose log is gone, contents of events without a log. A log that would be kept for
    ever gets an end, and an open run that no host looks after is taken over.

    Example: [bold]taoloop gc --older-than 90d --dry-run[/bold]

    Example: [bold]taoloop gc --runs --dry-run[/bold]
    """
    from taoloop.wire.event_loop import run as run_loop

    if runs:
        _show_swept(run_loop(_sweep(is_dry=dry_run)), is_dry=dry_run, as_json=as_json)
        return
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
    from taoloop.action.ledger.sql.migrations import LEDGER
    from taoloop.action.settings import LedgerOnlySettings
    from taoloop.core.clock import SystemClock
    from taoloop.core.settings import load_settings
    from taoloop.wire.sql.sql_store import existing_sql_store

    url = load_settings(LedgerOnlySettings).ledger.url.get_secret_value()
    async with existing_sql_store(url, LEDGER, SystemClock()) as store:
        if is_dry:
            return await sql_retention.count_forgettable(store, moment)
        return await sql_retention.forget(store, moment)


async def _sweep(*, is_dry: bool) -> Swept:
    from taoloop.core.clock import SystemClock
    from taoloop.core.settings import load_settings
    from taoloop.core.telemetry import Telemetry
    from taoloop.loop.app import retention_of
    from taoloop.loop.runlog.redis_run_sweep import RedisRunSweep
    from taoloop.loop.settings import LoopSettings
    from taoloop.wire.redis.redis_link import redis_link

    settings = load_settings(LoopSettings)
    async with redis_link(settings.redis, Telemetry.build(settings.telemetry, "taoloop-gc")) as link:
        prefix, retention = settings.redis.key_prefix, retention_of(settings)
        return await RedisRunSweep(link, prefix, retention, SystemClock(), is_dry=is_dry).sweep()


def _show_swept(swept: Swept, *, is_dry: bool, as_json: bool) -> None:
    from dataclasses import asdict

    from taoloop.cli.terminal import output, print_json

    if as_json:
        print_json({"dry_run": is_dry, **asdict(swept)})
        return
    did = "would remove" if is_dry else "removed"
    console = output()
    what = f"{swept.listed} entries of lists and {swept.contents} contents whose log is gone"
    console.print(f"{did} {what}, of {swept.tenants} tenants")
    if swept.adopted:
        console.print(f"{swept.adopted} open runs had no host and {'would be' if is_dry else 'are'} taken over")
    if swept.without_expiry:
        gives = "would get" if is_dry else "got"
        console.print(f"{swept.without_expiry} logs had no end and {gives} one")


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
