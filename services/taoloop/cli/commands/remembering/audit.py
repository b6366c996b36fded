"""`taoloop audit`: the audit record of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import DeadlineSeconds, LoopAddress, Tenant

if TYPE_CHECKING:
    from taoloop.cli.calling import CallOptions
    from taoloop.core.exact_json import JsonValue


def audit(
    run_id: Annotated[str, typer.Argument(help="The run's id.")],
    *,
    address: LoopAddress = None,
    deadline: DeadlineSeconds = 10.0,
    tenant: Tenant = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON; without it, the same over several lines.")
    ] = False,
) -> None:
    """Print the audit record of a run, as JSON: who decided, what was called and permitted, what failed.

    It has our own ids, names, codes, counts and times alone: no words of users,
    no prompts, arguments, results or messages. A run that goes on is shown as
    far as it has come.

    Example: [bold]taoloop audit 0197f0c2a5b67c3d8e9f0a1b2c3d4e5f[/bold]
    """
    import json

    from taoloop.cli.calling import CallOptions
    from taoloop.cli.terminal import output, print_json
    from taoloop.wire.event_loop import run as run_loop

    record = run_loop(_record(run_id, CallOptions(address=address, tenant=tenant, deadline_seconds=deadline)))
    if as_json:
        print_json(record)
    else:
        output().print(json.dumps(record, indent=2), markup=False, highlight=False, soft_wrap=True)


async def _record(run_id: str, options: CallOptions) -> dict[str, JsonValue]:
    from contextlib import aclosing

    from taoloop.cli.calling import calling_loop
    from taoloop.loop.audit import audit_record

    async with calling_loop(options) as (client, call):
        last = (await client.get_run(run_id, call)).last_sequence
        events = []
        async with aclosing(client.watch(run_id, 1, call)) as watched:
            async for event in watched:
                events.append(event)
                if event.sequence >= last:
                    break
    return audit_record(run_id, events)
