"""`taoloop effects`: what calls that write came to, and settling those of which nobody knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import ActionAddress, DeadlineSeconds, JsonOption, Tenant

if TYPE_CHECKING:
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.effects import EffectRecord, ListEffectsRequest, ReconcileEffectResponse

app = typer.Typer(help="See and settle what calls that write came to.", no_args_is_help=True)

EffectId = Annotated[str, typer.Argument(help="The effect's id.")]
PAGE_SIZE = 200
STATES = ("planned", "started", "succeeded", "failed", "unknown", "reconciled")


@app.command("list")
def list_effects(  # noqa: PLR0913 - the options of a command are its parameters
    *,
    run: Annotated[str, typer.Option(help="Only those of one run.")] = "",
    state: Annotated[str, typer.Option(help=f"Only those in one state: {', '.join(STATES)}.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="At most this many, newest first.")] = 50,
    address: ActionAddress = None,
    deadline: DeadlineSeconds = 10.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """List recorded effects, newest first; `--state unknown` lists what a person has to settle.

    Example: [bold]taoloop effects list --state unknown[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.effects import EffectState, ListEffectsRequest
    from taoloop.wire.event_loop import run as run_loop

    if state and state not in STATES:
        raise typer.BadParameter(f"{state!r} is not one of {', '.join(STATES)}", param_hint="--state")
    request = ListEffectsRequest(run_id=run, state=EffectState(state) if state else None)
    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    _show(run_loop(_pages(request, limit, call)), as_json=as_json)


@app.command()
def show(
    effect_id: EffectId,
    *,
    address: ActionAddress = None,
    deadline: DeadlineSeconds = 10.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Show one recorded effect.

    Example: [bold]taoloop effects show 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.wire.event_loop import run as run_loop

    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)
    _show([run_loop(_find(effect_id, call))], as_json=as_json)


@app.command()
def resolve(  # noqa: PLR0913 - the options of a command are its parameters
    effect_id: EffectId,
    *,
    took_place: Annotated[
        bool, typer.Option("--took-place/--did-not-take-place", help="What was found out about the effect.")
    ],
    by: Annotated[str, typer.Option("--by", help="Who says so.")],
    comment: Annotated[str, typer.Option(help="How it is known.")] = "",
    request_id: Annotated[str, typer.Option(help="The same id again changes nothing.")] = "",
    address: ActionAddress = None,
    deadline: DeadlineSeconds = 10.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Settle an effect whose outcome is unknown.

    Example: [bold]taoloop effects resolve 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f --took-place --by anna[/bold]
    """
    import uuid

    from taoloop.cli.calling import CallOptions
    from taoloop.plan.effects import ResolveEffectRequest
    from taoloop.wire.event_loop import run as run_loop

    request = ResolveEffectRequest(
        request_id=request_id or uuid.uuid4().hex,
        effect_id=effect_id,
        took_place=took_place,
        resolved_by=by,
        comment=comment,
    )
    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)

    async def resolved() -> EffectRecord:
        from taoloop.cli.calling import calling_action

        async with calling_action(call) as (client, context):
            return await client.resolve_effect(request, context)

    _show([run_loop(resolved())], as_json=as_json)


@app.command()
def reconcile(
    effect_id: EffectId,
    *,
    address: ActionAddress = None,
    deadline: DeadlineSeconds = 20.0,
    tenant: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Look an effect whose outcome is unknown up by the contract's `reconcile` tool; it never makes the write.

    Example: [bold]taoloop effects reconcile 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.cli.terminal import messages
    from taoloop.plan.effects import ReconcileEffectRequest
    from taoloop.wire.event_loop import run as run_loop

    call = CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)

    async def looked_up() -> ReconcileEffectResponse:
        from taoloop.cli.calling import calling_action

        async with calling_action(call) as (client, context):
            return await client.reconcile_effect(ReconcileEffectRequest(effect_id=effect_id), context)

    reply = run_loop(looked_up())
    _show([reply.effect] if reply.effect is not None else [], as_json=as_json)
    messages().print(reply.finding, markup=False)


async def _pages(request: ListEffectsRequest, limit: int, call: CallOptions) -> Sequence[EffectRecord]:
    """Return the effects of a listing, page by page, at most `limit` of them."""
    from taoloop.cli.calling import calling_action

    effects: list[EffectRecord] = []
    async with calling_action(call) as (client, context):
        while len(effects) < limit:
            page = replace(request, page_size=min(limit - len(effects), PAGE_SIZE))
            reply = await client.list_effects(page, context)
            effects.extend(reply.effects)
            if not reply.next_page_token:
                break
            request = replace(request, page_token=reply.next_page_token)
    return effects


async def _find(effect_id: str, call: CallOptions) -> EffectRecord:
    from taoloop.core.errors import InvalidRequest
    from taoloop.plan.effects import ListEffectsRequest

    found = await _pages(ListEffectsRequest(effect_id=effect_id), 1, call)
    if not found:
        raise InvalidRequest(f"There is no effect {effect_id}.", metadata={"effect_id": effect_id})
    return found[0]


def _show(effects: Sequence[EffectRecord], *, as_json: bool) -> None:
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import print_json, styled, table, table_output

    if as_json:
        for effect in effects:
            print_json(record_json(effect))
        return
    shown = table("", ("effect", "run", "step", "tool", "state", "changed", "took place", "settled by"))
    for effect in effects:
        changed = effect.updated_at.isoformat(timespec="seconds") if effect.updated_at else ""
        cells = (
            effect.effect_id,
            effect.run_id,
            effect.step_id,
            effect.tool,
            effect.state.value,
            changed,
            {None: "", True: "yes", False: "no"}[effect.took_place],
            effect.resolved_by,
        )
        shown.add_row(*(styled(cell) for cell in cells))
    table_output().print(shown)
