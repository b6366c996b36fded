"""`taoloop serve`: runs deployables until they are told to stop."""

from __future__ import annotations

from typing import Annotated

import typer

_STOP_FACTOR = 2.5
"""Servers and what is behind them may each take the grace period; what takes longer hangs."""
NAMES = ("thought", "loop", "action", "observation", "thought-worker")


def _known(names: list[str]) -> list[str]:
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise typer.BadParameter(f"{', '.join(unknown)}: there are {', '.join(NAMES)}")
    if len(set(names)) != len(names):
        raise typer.BadParameter("each name once")
    return names


def serve(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help=f"One or more of {', '.join(NAMES)}.", callback=_known),
    ],
) -> None:
    """Run one or more services in this process until SIGTERM or SIGINT.

    Settings come from variables TAOLOOP_… (docs/configuration.md). Names with
    the same listen address share a port. The first signal turns readiness off
    and lets work in progress end (exit code 0); a second one stops at once.

    Example: [bold]TAOLOOP_CATALOGUE=catalogue taoloop serve thought loop[/bold]
    """
    import asyncio
    import sys

    from taoloop.cli.deployables import DeployableName, deployable
    from taoloop.cli.process import serve_until
    from taoloop.cli.signals import stop_signals
    from taoloop.core.clock import SystemClock
    from taoloop.core.logs import configure_logging
    from taoloop.wire.event_loop import run as run_loop

    deployables = [deployable(DeployableName(name)) for name in names]
    configure_logging(deployables[0].settings.log_level, sys.stderr)

    async def serving() -> None:
        with stop_signals(_STOP_FACTOR * deployables[0].settings.shutdown_grace_seconds) as stop:
            await serve_until(stop, deployables, SystemClock())

    try:
        run_loop(serving())
    except asyncio.CancelledError:
        raise typer.Exit(130) from None
