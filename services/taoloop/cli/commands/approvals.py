"""`taoloop approvals`: calls that wait for a person's leave, and giving or denying it."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import ActionAddress, DeadlineSeconds, JsonOption, Tenant

if TYPE_CHECKING:
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.effects import ApprovalDecision, ApprovalRecord, ApprovalState, DecideApprovalRequest

app = typer.Typer(help="See and decide what waits for a person's leave.", no_args_is_help=True)

STATES = ("open", "approved", "rejected", "expired", "cancelled")
PAGE_SIZE = 200

ApprovalId = Annotated[str, typer.Argument(help="The approval's id.")]
By = Annotated[str, typer.Option("--by", help="Who decides; else the user of this machine.")]
Comment = Annotated[str, typer.Option(help="Why, for the record.")]
RequestId = Annotated[str, typer.Option(help="The same id again changes nothing.")]
LoopAddress = Annotated[
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
        raise typer.BadParameter(f"one of {', '.join(STATES)} or all", param_hint="--state")
    wanted = None if state == "all" else ApprovalState(state)
    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    _show(run_loop(_listed(run, wanted, limit, call)), as_json=as_json)


@app.command()
def approve(  # noqa: PLR0913 - the options of a command are its parameters
    approval_id: ApprovalId,
    *,
    by: By = "",
    comment: Comment = "",
    request_id: RequestId = "",
    address: ActionAddress = None,
    loop_address: LoopAddress = None,
    deadline: DeadlineSeconds = 60.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Let a call be made, once; its run goes on.

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
    loop_address: LoopAddress = None,
    deadline: DeadlineSeconds = 60.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Forbid a call; its run goes on without it.

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
    from taoloop.cli.terminal import output, print_json
    from taoloop.wire.event_loop import run as run_loop

    holds, run_id = run_loop(_decided(request, call, loop_address))
    if as_json:
        print_json({"approval_id": request.approval_id, "decision": holds.value, "run_id": run_id})
        return
    goes_on = f"run {run_id} goes on" if run_id else "its caller may make the call again"
    output().print(f"{request.approval_id} is {holds.value}; {goes_on}", markup=False)


async def _decided(
    request: DecideApprovalRequest, call: CallOptions, loop_address: str | None
) -> tuple[ApprovalDecision, str]:
    """Decide by the loop, whose run then goes on; without a run of that name, by the executor itself.

    Returns:
        What holds, and the run that goes on; empty for none.
    """
    from dataclasses import replace

    from taoloop.cli.calling import calling_action, calling_loop
    from taoloop.core.errors import InvalidRequest, UnknownRun
    from taoloop.plan.effects import ListApprovalsRequest
    from taoloop.plan.running import LoopServiceDecideApprovalRequest

    async with calling_action(call) as (client, context):
        found = await client.list_approvals(ListApprovalsRequest(approval_id=request.approval_id), context)
        if not found.approvals:
            message = f"There is no approval {request.approval_id}."
            raise InvalidRequest(message, metadata={"approval_id": request.approval_id})
        asked = LoopServiceDecideApprovalRequest(
            request_id=request.request_id,
            run_id=found.approvals[0].run_id,
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
    from taoloop.core.exact_json import ABSENT, dumps

    if as_json:
        for approval in approvals:
            print_json(record_json(approval))
        return
    shown = table("", ("approval", "run", "step", "tool", "arguments", "state", "expires", "decided by"))
    for approval in approvals:
        expires = approval.expires_at.isoformat(timespec="seconds") if approval.expires_at else ""
        cells = (
            approval.approval_id,
            approval.run_id,
            approval.step_id,
            approval.tool,
            "" if approval.arguments is ABSENT else dumps(approval.arguments),
            approval.state.value,
            expires,
            approval.decided_by,
        )
        shown.add_row(*(styled(cell) for cell in cells))
    table_output().print(shown)
