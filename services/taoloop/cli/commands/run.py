"""`taoloop run` and what belongs to runs: `input`, `watch`, `runs`, `cancel`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import DeadlineSeconds, JsonOption, LoopAddress, Tenant, VerboseOption
from taoloop.cli.terminal import ExitCode

if TYPE_CHECKING:
    from taoloop.cli.calling import CallOptions
    from taoloop.cli.following import RunEnd
    from taoloop.cli.run_options import TaskOptions
    from taoloop.plan.running import RunEvent

RunId = Annotated[str, typer.Argument(help="The run's id.")]
MAX_EFFECTS = ("read", "idempotent_write", "write")
TAINTED_EFFECTS = ("ask", "refuse", "allow")


def _effect(value: str) -> str:
    if value not in MAX_EFFECTS:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(MAX_EFFECTS)}")
    return value


def _tainted_effects(value: str) -> str:
    if value not in TAINTED_EFFECTS:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(TAINTED_EFFECTS)}")
    return value


def run(  # noqa: PLR0913 - the options of a command are its parameters
    text: Annotated[str, typer.Argument(help="What the user says.")],
    *,
    address: LoopAddress = None,
    locale: Annotated[str, typer.Option(help="Language of the user, such as zh-CN; else that of the text.")] = "",
    time_zone: Annotated[str, typer.Option(help="IANA zone of the user, such as Asia/Shanghai; else UTC.")] = "",
    reference_time: Annotated[str, typer.Option(help="What `tomorrow` counts from, RFC 3339; else now.")] = "",
    state: Annotated[Path | None, typer.Option(help="JSON file with the session's state.")] = None,
    max_effect: Annotated[
        str, typer.Option(help=f"The strongest effect that is allowed: {', '.join(MAX_EFFECTS)}.", callback=_effect)
    ] = "read",
    tainted_effects: Annotated[
        str,
        typer.Option(
            help="What becomes of a call that writes or reaches outside once untrusted text steers or feeds it: "
            f"{', '.join(TAINTED_EFFECTS)}.",
            callback=_tainted_effects,
        ),
    ] = "ask",
    tool: Annotated[list[str] | None, typer.Option(help="A tool that may be used; may be repeated. None: all.")] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.001, max=86_400, help="Wall time of the run in seconds; else the service's.")
    ] = None,
    deadline: DeadlineSeconds = 60.0,
    session: Annotated[str, typer.Option(help="The conversation, whose state and turns are remembered.")] = "",
    user: Annotated[str, typer.Option(help="Whose preferences are remembered.")] = "",
    line: Annotated[str, typer.Option(help="The line of business; else `default`.")] = "",
    request_id: Annotated[str, typer.Option(help="The same id with the same task attaches to the run.")] = "",
    tenant: Tenant = None,
    verbose: VerboseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Start a run and show what happens: thoughts, where each argument comes from, calls, verdicts, the answer.

    A missing value is asked for on a terminal; elsewhere the command that gives
    it is shown.

    Exit code: 0 answered, 1 error, 2 usage, 3 needs input, 4 no tool, 5 failed,
    6 cancelled, 7 limit reached, 8 needs approval, 9 needs a person, 130 Ctrl-C.

    Example: [bold]taoloop run "Book a table for two tomorrow" --time-zone Europe/Berlin[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.cli.run_options import TaskOptions
    from taoloop.plan.task import TaintedEffects
    from taoloop.tools.signature import Effect
    from taoloop.wire.event_loop import run as run_loop

    task = TaskOptions(
        text=text,
        locale=locale,
        time_zone=time_zone,
        reference_time=reference_time,
        state=state,
        max_effect=Effect(max_effect),
        tainted_effects=TaintedEffects(tainted_effects),
        tools=tool or (),
        timeout_seconds=timeout,
        request_id=request_id,
        session=session,
        user=user,
        line=line,
    )
    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline, request_id=request_id)
    end = run_loop(_run(task, call, _Showing(as_json=as_json, is_verbose=verbose)))
    raise typer.Exit(end.exit_code)


async def _run(task_options: TaskOptions, call_options: CallOptions, showing: _Showing) -> RunEnd:
    import sys
    from contextlib import aclosing

    from taoloop.cli.calling import calling_loop
    from taoloop.cli.following import answer_by_asking, follow
    from taoloop.cli.run_options import task_of

    task = task_of(task_options)
    show = showing.shower()
    async with calling_loop(call_options) as (client, call):
        async with aclosing(client.run(task, call)) as events:
            end = await follow(events, show)
        if end.question is not None and sys.stdin.isatty() and not showing.as_json:
            end = await answer_by_asking(client, call, end, _ask, show)
    _tell_how_to_answer(end, call_options, as_json=showing.as_json)
    return end


def give_input(  # noqa: PLR0913 - the options of a command are its parameters
    run_id: RunId,
    value: Annotated[list[str], typer.Option(help="name=value, once for each value that is asked for.")],
    *,
    address: LoopAddress = None,
    deadline: DeadlineSeconds = 60.0,
    tenant: Tenant = None,
    verbose: VerboseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Give a waiting run the values that it asks for, and show how it goes on.

    A value is a text unless the parameter takes something else; then it is JSON.
    Exit codes are those of `run`.

    Example: [bold]taoloop input 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f --value name=Anna[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.wire.event_loop import run as run_loop

    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    showing = _Showing(as_json=as_json, is_verbose=verbose)
    raise typer.Exit(run_loop(_give_input(run_id, value, call, showing)).exit_code)


async def _give_input(run_id: str, pairs: list[str], call_options: CallOptions, showing: _Showing) -> RunEnd:
    from taoloop.cli.calling import calling_loop
    from taoloop.cli.following import RunEnd, answer
    from taoloop.cli.run_options import typed_values
    from taoloop.core.errors import NotWaiting

    async with calling_loop(call_options) as (client, call):
        summary = await client.get_run(run_id, call)
        question = summary.input_required
        if question is None:
            raise NotWaiting(f"Run {run_id} waits for no input.", metadata={"run_id": run_id})
        values = typed_values(pairs, question.fields)
        end = await answer(client, call, RunEnd(run_id, None, question), values, showing.shower())
    _tell_how_to_answer(end, call_options, as_json=showing.as_json)
    return end


def watch(  # noqa: PLR0913 - the options of a command are its parameters
    run_id: RunId,
    *,
    from_sequence: Annotated[int, typer.Option("--from", min=1, help="Number of the first event wanted.")] = 1,
    address: LoopAddress = None,
    deadline: DeadlineSeconds = 3600.0,
    tenant: Tenant = None,
    verbose: VerboseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show a run's events from the beginning until it ends or waits. Exit codes are those of `run`.

    Example: [bold]taoloop watch 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.wire.event_loop import run as run_loop

    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    showing = _Showing(as_json=as_json, is_verbose=verbose)
    raise typer.Exit(run_loop(_watch(run_id, from_sequence, call, showing)).exit_code)


async def _watch(run_id: str, from_sequence: int, call_options: CallOptions, showing: _Showing) -> RunEnd:
    from contextlib import aclosing

    from taoloop.cli.calling import calling_loop
    from taoloop.cli.following import follow

    async with (
        calling_loop(call_options) as (client, call),
        aclosing(client.watch(run_id, from_sequence, call)) as events,
    ):
        return await follow(events, showing.shower())


def runs(
    *,
    limit: Annotated[int, typer.Option(min=1, max=200, help="At most this many, newest first.")] = 20,
    outcome: Annotated[str, typer.Option(help="Only runs that ended so, such as answered or failed.")] = "",
    address: LoopAddress = None,
    deadline: DeadlineSeconds = 10.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """List the newest runs.

    Example: [bold]taoloop runs --outcome needs_input[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.task import Outcome
    from taoloop.wire.event_loop import run as run_loop

    if outcome and outcome not in list(Outcome):
        raise typer.BadParameter(f"{outcome!r} is not one of {', '.join(Outcome)}", param_hint="--outcome")
    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    run_loop(_runs(limit, outcome, call, as_json=as_json))


async def _runs(limit: int, outcome: str, call_options: CallOptions, *, as_json: bool) -> None:
    from taoloop.cli.calling import calling_loop
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import print_json, styled, table, table_output
    from taoloop.plan.running import ListRunsRequest
    from taoloop.plan.task import Outcome

    request = ListRunsRequest(outcome=Outcome(outcome) if outcome else None, page_size=limit)
    async with calling_loop(call_options) as (client, call):
        listed = (await client.list_runs(request, call)).runs
    if as_json:
        for summary in listed:
            print_json(record_json(summary))
        return
    shown = table("", ("run", "started", "outcome", "answer or what is missing"))
    for summary in listed:
        started = summary.started_at.isoformat(timespec="seconds") if summary.started_at else ""
        said = summary.answer.text if summary.answer else (summary.fault.message if summary.fault else "")
        if summary.input_required is not None and not said:
            said = ", ".join(field.pointer.lstrip("/") for field in summary.input_required.fields)
        state = summary.outcome.value if summary.outcome else "running"
        shown.add_row(*(styled(cell) for cell in (summary.run_id, started, state, said)))
    table_output().print(shown)


def cancel(
    run_id: RunId,
    *,
    reason: Annotated[str, typer.Option(help="Why, for the record.")] = "",
    address: LoopAddress = None,
    deadline: DeadlineSeconds = 10.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """End a run; ending an ended run changes nothing.

    Example: [bold]taoloop cancel 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f --reason "asked twice"[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.wire.event_loop import run as run_loop

    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    run_loop(_cancel(run_id, reason, call, as_json=as_json))


async def _cancel(run_id: str, reason: str, call_options: CallOptions, *, as_json: bool) -> None:
    from taoloop.cli.calling import calling_loop
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.plan.running import CancelRunRequest

    async with calling_loop(call_options) as (client, call):
        reply = await client.cancel_run(CancelRunRequest(run_id=run_id, reason=reason), call)
    outcome = reply.outcome.value if reply.outcome else "unknown"
    if as_json:
        print_json({"run_id": run_id, "outcome": outcome})
    else:
        output().print(styled(f"run {run_id}: {outcome}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Showing:
    """How events are shown."""

    as_json: bool
    is_verbose: bool

    def shower(self) -> Callable[[RunEvent], None]:
        """Return what shows one event."""
        from taoloop.cli.records import record_json
        from taoloop.cli.run_view import RunView
        from taoloop.cli.terminal import output, print_json

        if self.as_json:
            return lambda event: print_json(record_json(event))
        return RunView(output(), is_verbose=self.is_verbose).show


def _ask(question: str) -> str:
    return str(typer.prompt(question))


def _tell_how_to_answer(end: RunEnd, call: CallOptions, *, as_json: bool) -> None:
    from taoloop.cli.terminal import messages, styled

    if as_json:
        return
    at = f" --address {call.address}" if call.address else ""
    told = ""
    if end.exit_code is ExitCode.NEEDS_INPUT and end.question is not None:
        values = " ".join(f"--value {field.pointer.rsplit('/', 1)[-1]}=…" for field in end.question.fields)
        told = f"Answer with: taoloop input {end.run_id} {values}{at}"
    elif end.exit_code is ExitCode.NEEDS_APPROVAL:
        told = f"See what waits for leave with: taoloop approvals list --run {end.run_id}"
    elif end.exit_code is ExitCode.NEEDS_HUMAN:
        told = f"See what a person needs with: taoloop handovers list --run {end.run_id}{at}"
    if told:
        messages().print(styled(told, "yellow"))
