"""`taoloop health`: asks a server how it is."""

from __future__ import annotations

from typing import Annotated

import typer

from taoloop.cli.options import JsonOption
from taoloop.cli.terminal import ExitCode


def health(
    address: Annotated[str, typer.Argument(help="host:port of the server.")],
    *,
    service: Annotated[
        str, typer.Option(help="Full name, such as taoloop.api.v1.LoopService; none asks for all.")
    ] = "",
    deadline: Annotated[float, typer.Option(min=0.001, max=600, help="Seconds to wait for the answer.")] = 3.0,
    as_json: JsonOption = False,
) -> None:
    """Ask a server by grpc.health.v1 how it is. Exit code 0 when it says SERVING, else 1.

    Example: [bold]taoloop health 127.0.0.1:7701 --service taoloop.api.v1.LoopService[/bold]
    """
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.core.calls import CallContext
    from taoloop.core.clock import SystemClock
    from taoloop.core.deadlines import Deadline
    from taoloop.wire.event_loop import run as run_loop
    from taoloop.wire.health_check import check_health

    call = CallContext(deadline=Deadline.after(deadline, SystemClock()))
    status = run_loop(check_health(address, service, call))
    is_serving = status == "SERVING"
    if as_json:
        print_json({"address": address, "service": service, "status": status})
    else:
        output().print(styled(status, "green" if is_serving else "red"))
    raise typer.Exit(ExitCode.OK if is_serving else ExitCode.FAILED)
