"""`taoloop approvals`: calls that wait for a person's leave, and giving or denying it."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import ActionAddress, DeadlineSeconds, JsonOption, Tenant

if TYPE_CHECKING:
    from datetime import datetime

    from taoloop.cli.calling import CallOptions
    from taoloop.core.calls import CallContext
    from taoloop.plan.effects import ApprovalDecision, ApprovalRecord, ApprovalState, DecideApprovalRequest
    from taoloop.wire.clients import ActionClient

app = typer.Typer(help="See and decide what waits for a person's leave.", no_args_is_help=True)

STATES = ("open", "approved", "rejected", "expired", "cancelled")
PAGE_SIZE = 200

ApprovalId = Annotated[str, typer.Argument(help="The approval's id.")]
By = Annotated[str, typer.Option("--by", help="Who decides; else the user of this machine.")]
Comment = Annotated[str, typer.Option(help="Why, for the record.")]
RequestId = Annotated[str, typer.Option(help="The same id again changes nothing.")]
BesideLoopAddress = Annotated[
    str | None,
    typer.Option("--loop-address", help="Where the loop service is; else TAOLOOP_LOOP_ADDRESS, else 127.0.0.1:7701."),
]


@app.command("list")
def list_approvals(  # noqa: PLR0913 - the options of a command are its parameters
    *,
    run: Annotated[str, typer.Option(help="Only those of one run.")] = "",
    state: Annotated[str, typer.Option(help=f"Only those in one state: {', '.join(STATES)}; `all` for any.")] = "open",
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="At most this many, newest first.")] = 50,
    address: ActionAddress = None,
    deadline: DeadlineSeconds = 10.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """List the calls that wait for leave, newest first.

    Example: [bold]taoloop approvals list[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.effects import ApprovalState
    from taoloop.wire.event_loop import run as run_loop

    if state not in {*STATES, "all"}:
        raise typer.BadParameter(f"{state!r} is not one of {', '.join(STATES)} or all", param_hint="--state")
    wanted = None if state == "all" else ApprovalState(state)
    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    _show(run_loop(_listed(run, wanted, limit, call)), as_json=as_json)


@app.command()
def show(
    approval_id: ApprovalId,
    *,
    address: ActionAddress = None,
    loop_address: BesideLoopAddress = None,
    deadline: DeadlineSeconds = 10.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Show one approval: the call, why leave is needed, how much time is left, and what was decided.

    Example: [bold]taoloop approvals show 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.wire.event_loop import run as run_loop

    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    approval, reason = run_loop(_found(approval_id, call, loop_address))
    _show_one(approval, reason, as_json=as_json)


@app.command()
def approve(  # noqa: PLR0913 - the options of a command are its parameters
    approval_id: ApprovalId,
    *,
    by: By = "",
    comment: Comment = "",
    request_id: RequestId = "",
    address: ActionAddress = None,
    loop_address: BesideLoopAddress = None,
    deadline: DeadlineSeconds = 60.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Let a call be made, once; its run goes on.

    The first decision stands. Exit code: 0 approved, 1 an error or another decision, which is shown.

    Example: [bold]taoloop approvals approve 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f --by anna[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.effects import ApprovalDecision

    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    request = _request(approval_id, ApprovalDecision.APPROVED, by, comment, request_id)
    _decide(request, call, loop_address, as_json=as_json)


@app.command()
def reject(  # noqa: PLR0913 - the options of a command are its parameters
    approval_id: ApprovalId,
    *,
    by: By = "",
    comment: Comment = "",
    request_id: RequestId = "",
    address: ActionAddress = None,
    loop_address: BesideLoopAddress = None,
    deadline: DeadlineSeconds = 60.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Forbid a call; its run goes on without it.

    The first decision stands. Exit code: 0 rejected, 1 an error or another decision, which is shown.

    Example: [bold]taoloop approvals reject 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f --by anna --comment "too much"[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.effects import ApprovalDecision

    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    request = _request(approval_id, ApprovalDecision.REJECTED, by, comment, request_id)
    _decide(request, call, loop_address, as_json=as_json)


def _request(
    approval_id: str, decision: ApprovalDecision, by: str, comment: str, request_id: str
) -> DecideApprovalRequest:
    import uuid

    from taoloop.plan.effects import DecideApprovalRequest

    return DecideApprovalRequest(
        request_id=request_id or uuid.uuid4().hex,
        approval_id=approval_id,
        decision=decision,
        decided_by=by or getpass.getuser(),
        comment=comment,
    )


def _decide(request: DecideApprovalRequest, call: CallOptions, loop_address: str | None, *, as_json: bool) -> None:
    from taoloop.cli.terminal import ExitCode, output, print_json
    from taoloop.wire.event_loop import run as run_loop

    holds, run_id = run_loop(_decided(request, call, loop_address))
    is_heard = holds is request.decision
    if as_json:
        print_json({"approval_id": request.approval_id, "decision": holds.value, "run_id": run_id})
    else:
        goes_on = f"run {run_id} goes on" if run_id else "its caller may make the call again"
        output().print(
            f"{request.approval_id} is {holds.value}; {goes_on if is_heard else 'that stands'}", markup=False
        )
    if not is_heard:
        raise typer.Exit(ExitCode.FAILED)


async def _decided(
    request: DecideApprovalRequest, call: CallOptions, loop_address: str | None
) -> tuple[ApprovalDecision, str]:
    """Decide by the loop, whose run then goes on; without a run of that name, by the executor itself.

    Returns:
        What holds, and the run that goes on; empty for none.
    """
    from dataclasses import replace

    from taoloop.cli.calling import calling_action, calling_loop
    from taoloop.core.errors import UnknownRun
    from taoloop.plan.running import LoopServiceDecideApprovalRequest

    async with calling_action(call) as (client, context):
        found = await _record(client, request.approval_id, context)
        asked = LoopServiceDecideApprovalRequest(
            request_id=request.request_id,
            run_id=found.run_id,
            approval_id=request.approval_id,
            decision=request.decision,
            decided_by=request.decided_by,
            comment=request.comment,
        )
        try:
            async with calling_loop(replace(call, address=loop_address)) as (loop, loop_context):
                reply = await loop.decide_approval(asked, loop_context)
        except UnknownRun:
            return (await client.decide_approval(request, context)).decision, ""
        return reply.decision or request.decision, asked.run_id


async def _record(client: ActionClient, approval_id: str, context: CallContext) -> ApprovalRecord:
    from taoloop.core.errors import InvalidRequest
    from taoloop.plan.effects import ListApprovalsRequest

    found = await client.list_approvals(ListApprovalsRequest(approval_id=approval_id), context)
    if not found.approvals:
        raise InvalidRequest(f"There is no approval {approval_id}.", metadata={"approval_id": approval_id})
    return found.approvals[0]


async def _found(approval_id: str, call: CallOptions, loop_address: str | None) -> tuple[ApprovalRecord, str]:
    """Return an approval, and why its run says that it is needed; empty where it says nothing."""
    from dataclasses import replace

    from taoloop.cli.calling import calling_action, calling_loop
    from taoloop.core.errors import BackendUnavailable, DeadlineExceeded, UnknownRun

    async with calling_action(call) as (client, context):
        approval = await _record(client, approval_id, context)
    try:
        async with calling_loop(replace(call, address=loop_address)) as (loop, loop_context):
            waiting = (await loop.get_run(approval.run_id, loop_context)).approvals_required
    except (UnknownRun, BackendUnavailable, DeadlineExceeded):  # asked for without a loop, or its loop is away
        return approval, ""
    return approval, next((each.reason for each in waiting if each.approval_id == approval_id), "")


async def _listed(run: str, state: ApprovalState | None, limit: int, call: CallOptions) -> Sequence[ApprovalRecord]:
    from taoloop.cli.calling import calling_action
    from taoloop.plan.effects import ListApprovalsRequest

    approvals: list[ApprovalRecord] = []
    token = ""
    async with calling_action(call) as (client, context):
        while len(approvals) < limit:
            page = ListApprovalsRequest(
                run_id=run, state=state, page_size=min(limit - len(approvals), PAGE_SIZE), page_token=token
            )
            reply = await client.list_approvals(page, context)
            approvals.extend(reply.approvals)
            token = reply.next_page_token
            if not token:
                break
    return approvals


def _show(approvals: Sequence[ApprovalRecord], *, as_json: bool) -> None:
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import print_json, styled, table, table_output

    if as_json:
        for approval in approvals:
            print_json(record_json(approval))
        return
    columns = ("approval", "run", "step", "tool", "arguments", "state", "expires", "time left", "decided by")
    shown = table("", columns)
    for approval in approvals:
        cells = (
            approval.approval_id,
            approval.run_id,
            approval.step_id,
            approval.tool,
            _arguments(approval),
            approval.state.value,
            _moment(approval.expires_at),
            _time_left(approval),
            approval.decided_by,
        )
        shown.add_row(*(styled(cell) for cell in cells))
    table_output().print(shown)


def _show_one(approval: ApprovalRecord, reason: str, *, as_json: bool) -> None:
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import output, print_json, styled

    if as_json:
        known = record_json(approval)
        assert isinstance(known, dict)
        print_json({**known, "reason": reason})
        return
    decided = f"{approval.decided_by}, {_moment(approval.decided_at)}" if approval.decided_by else ""
    lines = {
        "approval": approval.approval_id,
        "run": approval.run_id,
        "step": approval.step_id,
        "tool": approval.tool,
        "arguments": _arguments(approval),
        "why": reason,
        "state": approval.state.value,
        "asked": _moment(approval.requested_at),
        "expires": _moment(approval.expires_at),
        "time left": _time_left(approval),
        "decided by": decided,
        "comment": approval.comment,
        "effect": approval.effect_id,
    }
    for name, value in lines.items():
        if value:
            output().print(styled(f"{name:>10}  {value}"))


def _arguments(approval: ApprovalRecord) -> str:
    from taoloop.core.exact_json import ABSENT, dumps

    return "" if approval.arguments is ABSENT else dumps(approval.arguments)


def _moment(moment: datetime | None) -> str:
    return moment.isoformat(timespec="seconds") if moment is not None else ""


def _time_left(approval: ApprovalRecord) -> str:
    """Return how long somebody has to decide, or to use the leave; empty where nothing is waited for."""
    from taoloop.cli.commands.people.durations import in_words
    from taoloop.core.clock import SystemClock
    from taoloop.plan.effects import ApprovalState

    is_unused = approval.state is ApprovalState.APPROVED and not approval.effect_id
    if approval.expires_at is None or not (approval.state is ApprovalState.OPEN or is_unused):
        return ""
    return in_words((approval.expires_at - SystemClock().now()).total_seconds())
