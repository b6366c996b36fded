"""`taoloop handovers`: what runs leave to people, with all that is needed, and saying what became of it."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import DeadlineSeconds, JsonOption, LoopAddress, Tenant

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from taoloop.cli.calling import CallOptions
    from taoloop.core.calls import CallContext
    from taoloop.plan.running import HandoverDecision
    from taoloop.plan.running.handovers import DecideHandoverRequest, DecideHandoverResponse, Handover, OpenHandover
    from taoloop.wire.clients import LoopClient

app = typer.Typer(help="See and settle what runs hand over to a person.", no_args_is_help=True)

PAGE_SIZE = 200

HandoverId = Annotated[
    str, typer.Argument(metavar="HANDOVER", help="The handover's id; or that of its run, where just one is open.")
]
RunOption = Annotated[str, typer.Option("--run", help="Its run; else it is looked for among the open ones.")]
By = Annotated[str, typer.Option("--by", help="Who decides; else the user of this machine.")]
Comment = Annotated[str, typer.Option(help="Why, for the record.")]
RequestId = Annotated[str, typer.Option(help="The same id again changes nothing.")]


@app.command("list")
def list_handovers(
    *,
    run: Annotated[str, typer.Option(help="Only those of one run.")] = "",
    limit: Annotated[
        int, typer.Option(min=1, max=100_000, help="At most this many, those of the newest run first.")
    ] = 50,
    address: LoopAddress = None,
    deadline: DeadlineSeconds = 10.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """List what waits for a person, newest run first.

    Example: [bold]taoloop handovers list[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.wire.event_loop import run as run_loop

    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    _show_open(run_loop(_listed(run, limit, call)), as_json=as_json)


@app.command()
def show(
    handover_id: HandoverId,
    *,
    run: RunOption = "",
    address: LoopAddress = None,
    deadline: DeadlineSeconds = 10.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a person needs who takes over: the request, the plan, what was done and found, and what can be done.

    Example: [bold]taoloop handovers show 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.cli.commands.people.handover_view import print_handover
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import output, print_json
    from taoloop.wire.event_loop import run as run_loop

    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    handover = run_loop(_got(handover_id, run, call))
    if as_json:
        print_json(record_json(handover))
    else:
        print_handover(output(), handover)


@app.command()
def answer(  # noqa: PLR0913 - the options of a command are its parameters
    handover_id: HandoverId,
    *,
    text: Annotated[str, typer.Option(help="What the user is told.")],
    data: Annotated[
        Path | None, typer.Option(help="JSON file with the answer as data, where the task wants its answer so.")
    ] = None,
    run: RunOption = "",
    by: By = "",
    comment: Comment = "",
    request_id: RequestId = "",
    address: LoopAddress = None,
    deadline: DeadlineSeconds = 60.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Answer the user in the run's place; the run has answered then.

    The first decision stands. Exit code: 0 taken, 1 an error or another
    decision, which is shown.

    Example: [bold]taoloop handovers answer 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f --text "It arrives on Monday."[/bold]
    """
    from taoloop.cli.calling import CallOptions, read_json_file
    from taoloop.core.exact_json import ABSENT
    from taoloop.plan.running import HandoverDecision
    from taoloop.plan.running.handovers import DecideHandoverRequest

    request = DecideHandoverRequest(
        request_id=request_id,
        handover_id=handover_id,
        run_id=run,
        decision=HandoverDecision.ANSWERED,
        decided_by=by or getpass.getuser(),
        comment=comment,
        answer_text=text,
        answer_data=ABSENT if data is None else read_json_file(data, "answer's data"),
    )
    _decide(request, CallOptions(address=address, tenant=tenant, deadline_seconds=deadline), as_json=as_json)


@app.command()
def resume(  # noqa: PLR0913 - the options of a command are its parameters
    handover_id: HandoverId,
    *,
    run: RunOption = "",
    by: By = "",
    comment: Annotated[str, typer.Option(help="What is different now; the next thought is told.")] = "",
    request_id: RequestId = "",
    address: LoopAddress = None,
    deadline: DeadlineSeconds = 60.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Let the run think again, once what was in its way is gone.

    The first decision stands. Exit code: 0 taken, 1 an error or another
    decision, which is shown. `taoloop watch` follows the run.

    Example: [bold]taoloop handovers resume 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f --comment "The shop is up again."[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.running import HandoverDecision

    request = _request(handover_id, HandoverDecision.RESUMED, run, by, comment, request_id)
    _decide(request, CallOptions(address=address, tenant=tenant, deadline_seconds=deadline), as_json=as_json)


@app.command()
def close(  # noqa: PLR0913 - the options of a command are its parameters
    handover_id: HandoverId,
    *,
    run: RunOption = "",
    by: By = "",
    comment: Comment = "",
    request_id: RequestId = "",
    address: LoopAddress = None,
    deadline: DeadlineSeconds = 60.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """End the run as failed: nothing more is done.

    The first decision stands. Exit code: 0 taken, 1 an error or another
    decision, which is shown.

    Example: [bold]taoloop handovers close 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f --comment "The customer called off."[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.running import HandoverDecision

    request = _request(handover_id, HandoverDecision.CLOSED, run, by, comment, request_id)
    _decide(request, CallOptions(address=address, tenant=tenant, deadline_seconds=deadline), as_json=as_json)


def _request(
    handover_id: str, decision: HandoverDecision, run: str, by: str, comment: str, request_id: str
) -> DecideHandoverRequest:
    from taoloop.plan.running.handovers import DecideHandoverRequest

    return DecideHandoverRequest(
        request_id=request_id,
        handover_id=handover_id,
        run_id=run,
        decision=decision,
        decided_by=by or getpass.getuser(),
        comment=comment,
    )


def _decide(request: DecideHandoverRequest, call: CallOptions, *, as_json: bool) -> None:
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import ExitCode, output, print_json, styled
    from taoloop.wire.event_loop import run as run_loop

    reply = run_loop(_decided(request, call))
    outcome = reply.outcome
    is_heard = outcome is not None and outcome.decision is request.decision
    if as_json:
        print_json(record_json(reply))
    elif outcome is not None:
        by = f" by {outcome.decided_by}" if outcome.decided_by else ""
        stands = "" if is_heard else "; that stands"
        output().print(styled(f"handover {outcome.handover_id} is {outcome.decision.value}{by}{stands}"))
        output().print(
            styled(f"follow run {reply.run_id} by: taoloop watch {reply.run_id} --from {reply.next_sequence}")
        )
    if not is_heard:
        raise typer.Exit(ExitCode.FAILED)


async def _decided(request: DecideHandoverRequest, call: CallOptions) -> DecideHandoverResponse:
    import uuid
    from dataclasses import replace

    from taoloop.cli.calling import calling_loop

    async with calling_loop(call) as (client, context):
        run_id, handover_id = await _named(client, request.handover_id, request.run_id, context)
        wanted = replace(
            request, request_id=request.request_id or uuid.uuid4().hex, run_id=run_id, handover_id=handover_id
        )
        return await client.decide_handover(wanted, context)


async def _got(handover_id: str, run: str, call: CallOptions) -> Handover:
    from taoloop.cli.calling import calling_loop

    async with calling_loop(call) as (client, context):
        return await client.get_handover(*await _named(client, handover_id, run, context), context)


async def _named(client: LoopClient, name: str, run: str, context: CallContext) -> tuple[str, str]:
    """Return run and handover that the user means by a handover's id, or by that of its run.

    Raises:
        UnknownHandover: No open handover has this id, and no run.
    """
    from taoloop.core.errors import UnknownHandover

    if run:
        return run, "" if name == run else name
    async for each in _open_ones(client, "", context):
        if each.required is not None and each.required.handover_id == name:
            return each.run_id, name
        if each.run_id == name:
            return name, ""
    raise UnknownHandover(
        f"No open handover is {name}, and no run that waits for a person. One that is decided needs --run.",
        metadata={"handover_id": name},
    )


async def _listed(run: str, limit: int, call: CallOptions) -> list[OpenHandover]:
    from taoloop.cli.calling import calling_loop

    found: list[OpenHandover] = []
    async with calling_loop(call) as (client, context):
        async for each in _open_ones(client, run, context):
            found.append(each)
            if len(found) == limit:
                break
    return found


async def _open_ones(client: LoopClient, run: str, context: CallContext) -> AsyncIterator[OpenHandover]:
    """Yield the open handovers, page by page."""
    from taoloop.plan.running.handovers import ListHandoversRequest

    token = ""
    while True:
        request = ListHandoversRequest(run_id=run, page_size=PAGE_SIZE, page_token=token)
        page = await client.list_handovers(request, context)
        for each in page.handovers:
            yield each
        token = page.next_page_token
        if not token:
            return


def _show_open(handovers: Sequence[OpenHandover], *, as_json: bool) -> None:
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import print_json, styled, table, table_output

    if as_json:
        for each in handovers:
            print_json(record_json(each))
        return
    shown = table("", ("handover", "run", "since", "step", "why"))
    for each in handovers:
        required = each.required
        if required is None:
            continue
        since = each.opened_at.isoformat(timespec="seconds") if each.opened_at else ""
        fault = f"{required.fault.code}: {required.fault.message}" if required.fault is not None else required.reason
        cells = (required.handover_id, each.run_id, since, required.step_id or "all", fault)
        shown.add_row(*(styled(cell) for cell in cells))
    table_output().print(shown)
