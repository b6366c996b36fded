"""`taoloop queue`: how the thought queue stands, and what becomes of the requests that were set aside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from taoloop.cli.options import JsonOption

if TYPE_CHECKING:
    from taoloop.core.exact_json import JsonValue
    from taoloop.thought.model import QueueState
    from taoloop.thought.queue.redis_queue_desk import DeadLetter, LetterQuery, QueueDesk, QueueWorker

T = TypeVar("T")

app = typer.Typer(
    help="See the thought queue that TAOLOOP_REDIS__URL names, and settle what was set aside.", no_args_is_help=True
)

LetterIds = Annotated[list[str] | None, typer.Argument(metavar="[LETTER]...", help="Ids of dead letters.")]
OfTenant = Annotated[str, typer.Option("--tenant", help="Only those of one tenant.")]
OfCause = Annotated[str, typer.Option("--cause", help="Only those whose cause holds this text.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]
MOST_LETTERS = 100_000


@app.command()
def status(*, as_json: JsonOption = False) -> None:
    """Show what waits and what is in work, by priority, the workers that are heard of, and how many were set aside.

    Example: [bold]taoloop queue status[/bold]
    """

    async def read(desk: QueueDesk) -> tuple[QueueState, tuple[QueueWorker, ...]]:
        return await desk.state(), await desk.workers()

    state, workers = _run(read)
    if as_json:
        _print_state(state, workers)
    else:
        _show_state(state, workers)


@app.command()
def dead(
    letters: LetterIds = None,
    *,
    tenant: OfTenant = "",
    cause: OfCause = "",
    limit: Annotated[int, typer.Option(min=1, max=MOST_LETTERS, help="At most this many, newest first.")] = 50,
    with_request: Annotated[
        bool, typer.Option("--with-request", help="Show what was asked, too: it may hold personal data.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List requests that were set aside, newest first: why, whose, how often they were tried, and for how long.

    Example: [bold]taoloop queue dead --cause "handed out"[/bold]
    """
    query = _query(letters, tenant, cause)
    found = _run(lambda desk: desk.letters(query, limit))
    if as_json:
        from taoloop.cli.terminal import print_json

        for letter in found:
            print_json(_letter_json(letter, with_request=with_request))
        return
    _show_letters(found, with_request=with_request)


@app.command()
def requeue(
    letters: LetterIds = None,
    *,
    tenant: OfTenant = "",
    cause: OfCause = "",
    worth: Annotated[
        float, typer.Option(min=1.0, max=86_400.0, help="How long such a request is worth working on, in seconds.")
    ] = 60.0,
    yes: Yes = False,
    as_json: JsonOption = False,
) -> None:
    """Put dead letters back in the queue, once what they died of is mended.

    Their callers were told that they failed. Who asks for the same run and iteration again gets what becomes of it now.

    Example: [bold]taoloop queue requeue 1796047798373-0[/bold]
    """
    chosen = _chosen(_query(letters, tenant, cause), "queue", is_sure=yes)

    async def put_back(desk: QueueDesk) -> list[tuple[DeadLetter, str]]:
        return [(letter, await desk.requeue(letter.letter_id, worth)) for letter in chosen]

    done = _run(put_back) if chosen else []
    _show_done(done, as_json=as_json)


@app.command()
def discard(
    letters: LetterIds = None,
    *,
    tenant: OfTenant = "",
    cause: OfCause = "",
    yes: Yes = False,
    as_json: JsonOption = False,
) -> None:
    """Remove dead letters for good.

    Example: [bold]taoloop queue discard 1796047798373-0[/bold]
    """
    chosen = _chosen(_query(letters, tenant, cause), "discard", is_sure=yes)

    async def remove(desk: QueueDesk) -> list[tuple[DeadLetter, str]]:
        return [(letter, "discarded" if await desk.discard([letter.letter_id]) else "missing") for letter in chosen]

    done = _run(remove) if chosen else []
    _show_done(done, as_json=as_json)


def _query(letters: Sequence[str] | None, tenant: str, cause: str) -> LetterQuery:
    import re

    from taoloop.thought.queue.redis_queue_desk import LetterQuery

    for letter in letters or ():
        if not re.fullmatch(r"\d{1,20}-\d{1,20}", letter):
            raise typer.BadParameter(f"{letter!r} is no id of a dead letter, such as 1796047798373-0")
    return LetterQuery(ids=frozenset(letters or ()), tenant=tenant, cause=cause)


def _chosen(query: LetterQuery, verb: str, *, is_sure: bool) -> Sequence[DeadLetter]:
    """Return the letters that are meant, once whoever asks is sure of them.

    Raises:
        BadParameter: Nothing says which, or nobody can be asked.
    """
    import sys

    if not (query.ids or query.tenant or query.cause or is_sure):
        raise typer.BadParameter("name letters, --tenant or --cause; or mean all of them by --yes")
    found = _run(lambda desk: desk.letters(query, MOST_LETTERS))
    if query.ids or is_sure or not found:
        return found
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"these are {len(found)} letters; say --yes")
    _show_letters(found, with_request=False)
    return found if typer.confirm(f"{verb.capitalize()} these {len(found)} letters?", err=True) else ()


def _run(use: Callable[[QueueDesk], Awaitable[T]]) -> T:
    from taoloop.core.clock import SystemClock
    from taoloop.core.settings import TelemetrySettings, load_settings
    from taoloop.core.telemetry import Telemetry
    from taoloop.thought.app import queue_desk
    from taoloop.thought.settings import QueueOnlySettings
    from taoloop.wire.event_loop import run as run_loop

    async def used() -> T:
        telemetry = Telemetry.build(TelemetrySettings(), "taoloop-queue")
        async with queue_desk(load_settings(QueueOnlySettings).redis, telemetry, SystemClock()) as desk:
            return await use(desk)

    return run_loop(used())


def _print_state(state: QueueState, workers: Sequence[QueueWorker]) -> None:
    from taoloop.cli.terminal import print_json

    print_json(
        {
            "streams": {
                priority.value: {
                    "waiting": stream.waiting,
                    "leased": stream.leased,
                    "redelivered": stream.redelivered,
                    "oldest_seconds": round(stream.oldest_seconds, 3),
                }
                for priority, stream in state.streams.items()
            },
            "dead": state.dead,
            "workers": [
                {"name": worker.name, "leased": worker.leased, "idle_seconds": round(worker.idle_seconds, 3)}
                for worker in workers
            ],
        }
    )


def _show_state(state: QueueState, workers: Sequence[QueueWorker]) -> None:
    from taoloop.cli.terminal import output, styled, table, table_output

    jobs = table("", ("priority", "waiting", "in work", "of these again", "oldest"))
    for priority, stream in state.streams.items():
        cells = (priority.value, stream.waiting, stream.leased, stream.redelivered, _seconds(stream.oldest_seconds))
        jobs.add_row(*(styled(cell) for cell in cells))
    table_output().print(jobs)
    known = table("", ("worker", "in work", "heard of"))
    for worker in workers:
        heard = f"{_seconds(worker.idle_seconds)} ago"
        known.add_row(styled(worker.name), styled(worker.leased), styled(heard))
    if workers:
        table_output().print(known)
    else:
        output().print("no worker has asked for work yet")
    if state.dead:
        output().print(f"{state.dead} requests were set aside\n  taoloop queue dead")


def _letter_json(letter: DeadLetter, *, with_request: bool) -> dict[str, JsonValue]:
    from taoloop.cli.records import record_json

    shown: dict[str, JsonValue] = {
        "letter": letter.letter_id,
        "cause": letter.cause,
        "job": letter.job_id,
        "tenant": letter.tenant,
        "deliveries": letter.deliveries,
        "age_seconds": round(letter.age_seconds, 3),
        "priority": letter.priority.value,
        "request_bytes": letter.size_bytes,
        "can_be_requeued": letter.can_be_requeued,
    }
    if with_request and letter.request is not None:
        shown["request"] = record_json(letter.request)
    return shown


def _show_letters(letters: Sequence[DeadLetter], *, with_request: bool) -> None:
    from taoloop.cli.terminal import output, styled, table, table_output

    if not letters:
        output().print("no dead letters")
        return
    columns = ("letter", "age", "tenant", "job", "tried", "cause", *(("request",) if with_request else ()))
    shown = table("", columns)
    for letter in letters:
        cells: list[object] = [letter.letter_id, _seconds(letter.age_seconds), letter.tenant, letter.job_id]
        cells += [letter.deliveries, letter.cause if letter.can_be_requeued else f"{letter.cause} (no whole request)"]
        if with_request:
            cells.append(_words(letter))
        shown.add_row(*(styled(cell) for cell in cells))
    table_output().print(shown)


def _words(letter: DeadLetter) -> str:
    return " / ".join(turn.text for turn in letter.request.turns) if letter.request is not None else ""


def _show_done(done: Sequence[tuple[DeadLetter, str]], *, as_json: bool) -> None:
    from taoloop.cli.terminal import ExitCode, output, print_json

    for letter, became in done:
        if as_json:
            print_json({"letter": letter.letter_id, "job": letter.job_id, "became": became})
        else:
            output().print(f"{letter.letter_id} {became}", markup=False)
    if not done and not as_json:
        output().print("no letter was chosen")
    if any(became not in ("requeued", "discarded") for _, became in done):
        raise typer.Exit(ExitCode.FAILED)


def _seconds(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
