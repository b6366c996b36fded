"""`taoloop memory`: what is known of users and lines of business, and forgetting it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from taoloop.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from taoloop.core.deadlines import Deadline
    from taoloop.core.exact_json import JsonValue
    from taoloop.loop.memory.model import Forgotten, KnowledgeEntry, MemorySpace
    from taoloop.loop.memory.ports import HotMemory, WarmMemory
    from taoloop.loop.memory.settings import MemoryOnlySettings

app = typer.Typer(help="See, add and forget what runs remember.", no_args_is_help=True)

KINDS: Final = ("policy", "state", "preference")
_MAX_TEXT_CHARACTERS: Final = 1000
_SECONDS: Final = 30.0

Line = Annotated[str, typer.Option("--line", help="The line of business.")]
User = Annotated[str, typer.Option("--user", help="The user, as the tenant names users.")]
Owner = Annotated[str | None, typer.Option("--tenant", help="The tenant; else TAOLOOP_TENANT, else `default`.")]


@app.command()
def put(  # noqa: PLR0913 - the options of a command are its parameters
    text: Annotated[str, typer.Argument(help="What is known, in one sentence or two.")],
    *,
    name: Annotated[str, typer.Option(help="Its name; a later text of the same name and kind replaces it.")],
    kind: Annotated[str, typer.Option(help=f"What it is of: {', '.join(KINDS)}.")] = "policy",
    line: Line = "default",
    user: User = "",
    ttl: Annotated[str, typer.Option(help="How long it holds, such as 24h; without it, until it is forgotten.")] = "",
    tenant: Owner = None,
    as_json: JsonOption = False,
) -> None:
    """Let runs know something, such as a rule of the company or the state of a device.

    Without a user the whole line of business knows it. Personal data and
    credentials are masked first. It is written to the warm memory that
    TAOLOOP_MEMORY__WARM__URL, or the line's own setting, names.

    Example: [bold]taoloop memory put "The projector is being repaired this week" --name projector --kind state[/bold]
    """
    from taoloop.cli.terminal import output, print_json

    if kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is not one of {', '.join(KINDS)}", param_hint="--kind")
    if not text.strip() or len(text) > _MAX_TEXT_CHARACTERS:
        raise typer.BadParameter(f"1 to {_MAX_TEXT_CHARACTERS} characters", param_hint="TEXT")
    if kind == "preference" and not user:
        raise typer.BadParameter("a preference is a user's; give --user", param_hint="--kind")
    from taoloop.wire.event_loop import run as run_loop

    written = run_loop(_put(_space(tenant, line, user), kind, name, text, _until(ttl)))
    if as_json:
        print_json(_shown(written))
    else:
        output().print(f"{written.kind.value} {written.name}: {written.text}", markup=False)


@app.command("list")
def list_entries(
    *,
    line: Line = "default",
    user: User = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many, newest first.")] = 100,
    tenant: Owner = None,
    as_json: JsonOption = False,
) -> None:
    """List what runs of a line of business may be told, and of a user where one is named.

    Example: [bold]taoloop memory list --line sales --user anna[/bold]
    """
    from taoloop.cli.terminal import print_json, styled, table, table_output
    from taoloop.wire.event_loop import run as run_loop

    entries = run_loop(_known(_space(tenant, line, user), limit))
    if as_json:
        for entry in entries:
            print_json(_shown(entry))
        return
    rows = table("", ("kind", "name", "user", "until", "text"))
    for entry in entries:
        until = entry.expires_at.isoformat(timespec="seconds") if entry.expires_at is not None else ""
        rows.add_row(*map(styled, (entry.kind.value, entry.name, entry.user_id, until, entry.text)))
    table_output().print(rows)


@app.command()
def forget(  # noqa: PLR0913 - the options of a command are its parameters
    *,
    user: User = "",
    session: Annotated[str, typer.Option("--session", help="Only this session, of that user or of nobody.")] = "",
    name: Annotated[str, typer.Option("--name", help="Only the entry of this name; needs --kind.")] = "",
    kind: Annotated[str, typer.Option("--kind", help="What the entry is of: policy, state, preference or run.")] = "",
    line: Line = "default",
    tenant: Owner = None,
    as_json: JsonOption = False,
) -> None:
    """Delete what is remembered of a user, of a session, or under one name, in hot and warm memory.

    A run that goes on meanwhile is remembered when it comes to rest: end a
    user's runs first.

    Example: [bold]taoloop memory forget --line sales --user anna[/bold]
    """
    from taoloop.cli.terminal import output, print_json
    from taoloop.wire.event_loop import run as run_loop

    if bool(name) != bool(kind):
        raise typer.BadParameter("--name and --kind belong together", param_hint="--name")
    if not (user or session or name):
        raise typer.BadParameter("name a user, a session or an entry", param_hint="--user")
    if session and name:
        raise typer.BadParameter("an entry belongs to no session", param_hint="--session")
    gone = run_loop(_forget(_space(tenant, line, user, session), kind, name))
    if as_json:
        print_json({"sessions": gone.sessions, "entries": gone.entries})
    else:
        output().print(f"forgot {gone.sessions} sessions and {gone.entries} entries")


async def _put(space: MemorySpace, kind: str, name: str, text: str, until: datetime | None) -> KnowledgeEntry:
    from taoloop.loop.memory.model import EntryKind, KnowledgeEntry

    settings = _settings()
    shown = " ".join(settings.memory.redactor().text(text).split())
    entry = KnowledgeEntry(kind=EntryKind(kind), name=name, text=shown, user_id=space.user_id, expires_at=until)
    async with _stores(settings, space) as (_, warm):
        await _required(warm).keep(space, [entry], _soon())
    return entry


async def _known(space: MemorySpace, limit: int) -> tuple[KnowledgeEntry, ...]:
    async with _stores(_settings(), space) as (_, warm):
        return await _required(warm).known(space, limit, _soon())


async def _forget(space: MemorySpace, kind: str, name: str) -> Forgotten:
    from taoloop.loop.memory.model import Forgotten

    async with _stores(_settings(), space) as (hot, warm):
        if name:
            return await _required(warm).drop(space, kind, name, _soon())
        # The one that outlives the other first: what fails in Redis is gone in minutes.
        in_warm = await warm.forget(space, _soon()) if warm is not None else Forgotten()
        in_hot = await hot.forget(space, _soon()) if hot is not None else Forgotten()
    return Forgotten(sessions=max(in_warm.sessions, in_hot.sessions), entries=in_warm.entries)


def _stores(
    settings: MemoryOnlySettings, space: MemorySpace
) -> AbstractAsyncContextManager[tuple[HotMemory | None, WarmMemory | None]]:
    from contextlib import asynccontextmanager

    from taoloop.core.clock import SystemClock
    from taoloop.core.telemetry import Telemetry
    from taoloop.loop.memory.opening import open_stores

    @asynccontextmanager
    async def opened() -> AsyncIterator[tuple[HotMemory | None, WarmMemory | None]]:
        telemetry = Telemetry.build(settings.telemetry, "taoloop-cli")
        try:
            line = space.business_line
            async with open_stores(settings.memory, settings.redis, line, telemetry, SystemClock()) as stores:
                yield stores
        finally:
            await telemetry.aclose()

    return opened()


def _required(warm: WarmMemory | None) -> WarmMemory:
    from taoloop.core.errors import ConfigurationError

    if warm is None:
        raise ConfigurationError(
            "There is no warm memory to work on; TAOLOOP_MEMORY__WARM__URL, or the line's own `warm_url` in "
            "TAOLOOP_MEMORY__LINES, names it.",
            metadata={"variables": "TAOLOOP_MEMORY__WARM__URL"},
        )
    return warm


def _settings() -> MemoryOnlySettings:
    from taoloop.core.settings import load_settings
    from taoloop.loop.memory.settings import MemoryOnlySettings

    return load_settings(MemoryOnlySettings)


def _space(tenant: str | None, line: str, user: str, session: str = "") -> MemorySpace:
    import re

    from taoloop.cli.settings import CliSettings
    from taoloop.core.settings import load_settings
    from taoloop.loop.memory.model import MemorySpace

    if not re.fullmatch(r"[a-z0-9_-]{1,64}", line):
        raise typer.BadParameter("1 to 64 characters of a-z, 0-9, _ and -", param_hint="--line")
    owner = tenant or load_settings(CliSettings).tenant
    return MemorySpace(tenant=owner, business_line=line, user_id=user, session_id=session)


def _until(ttl: str) -> datetime | None:
    from datetime import timedelta

    from taoloop.core.clock import SystemClock
    from taoloop.tools.loading.durations import parse_duration

    if not ttl:
        return None
    try:
        return SystemClock().now() + timedelta(seconds=parse_duration(ttl))
    except (ValueError, OverflowError) as exc:
        raise typer.BadParameter(str(exc), param_hint="--ttl") from exc


def _soon() -> Deadline:
    from taoloop.core.clock import SystemClock
    from taoloop.core.deadlines import Deadline

    return Deadline.after(_SECONDS, SystemClock())


def _shown(entry: KnowledgeEntry) -> dict[str, JsonValue]:
    return {
        "kind": entry.kind.value,
        "name": entry.name,
        "text": entry.text,
        "user_id": entry.user_id,
        "expires_at": entry.expires_at.isoformat() if entry.expires_at is not None else None,
    }
