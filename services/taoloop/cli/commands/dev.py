"""`taoloop dev`: everything in one process, for a developer's machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from taoloop.testing.stack import DevStack, StackOptions

_STOP_SECONDS = 20.0
"""A stack stops in two; what takes longer hangs."""


def dev(  # noqa: PLR0913 - the options of a command are its parameters
    catalogue: Annotated[Path, typer.Argument(help="Directory with catalogue.yaml, or that file.")] = Path(
        "examples/customer-service"
    ),
    *,
    ephemeral: Annotated[bool, typer.Option("--ephemeral", help="Keep nothing from one start to the next.")] = False,
    data: Annotated[Path, typer.Option("--data", help="Where runs and effects are kept.")] = Path(".taoloop"),
    mock: Annotated[bool, typer.Option(help="Play the tools from their samples; else call the real ones.")] = True,
    profile: Annotated[str, typer.Option(help="How the mock tools behave: ok or flaky.")] = "ok",
    seed: Annotated[int | None, typer.Option(help="Makes the mock tools' faults repeatable.")] = None,
    ports: Annotated[
        int | None, typer.Option("--ports", min=0, max=0, help="0 takes free ports instead of 7701 and those after.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the addresses as one line of JSON.")] = False,
) -> None:
    """Run every service in this process, over real gRPC on loopback, until Ctrl-C.

    Valkey, an effect ledger in SQLite, the mock tools and a planner come with
    it: no container, no GPU, no key. Ctrl-C is the way to stop it: exit code 0.

    Example: [bold]taoloop dev examples/customer-service[/bold]
    """
    import asyncio

    from taoloop.testing.mock_tools import PROFILES
    from taoloop.testing.stack import StackOptions, StackPorts
    from taoloop.wire.event_loop import run as run_loop

    if profile not in PROFILES:
        raise typer.BadParameter(f"{profile!r} is not one of {', '.join(PROFILES)}", param_hint="--profile")
    options = StackOptions(
        catalogue=catalogue,
        data_directory=None if ephemeral else data,
        ports=None if ports == 0 else StackPorts(),
        is_mocked=mock,
        mock_profile=PROFILES[profile],
        mock_seed=seed,
    )
    try:
        run_loop(_serve(options, as_json=as_json))
    except asyncio.CancelledError:
        raise typer.Exit(130) from None


async def _serve(options: StackOptions, *, as_json: bool) -> None:
    import sys

    from taoloop.cli.settings import CliSettings
    from taoloop.cli.signals import stop_signals
    from taoloop.cli.terminal import messages
    from taoloop.core.logs import configure_logging
    from taoloop.core.settings import load_settings
    from taoloop.testing.stack import dev_stack

    configure_logging(load_settings(CliSettings).log_level, sys.stderr)
    with stop_signals(_STOP_SECONDS) as stop:
        async with dev_stack(options) as stack:
            _announce(stack, as_json=as_json)
            await stop.wait()
            messages().print("stopping")
        messages().print("stopped; nothing is left running")


def addresses(stack: DevStack) -> dict[str, str]:
    """Return where the parts of a stack are, by name."""
    return {
        "loop": stack.loop_address,
        "thought": stack.thought_address,
        "action": stack.action_address,
        "observation": stack.observation_address,
        "metrics": f"http://{stack.metrics_address}/metrics",
        "valkey": stack.valkey.url,
        "tools": stack.mock.base_url if stack.mock is not None else "",
        "catalogue": str(stack.catalogue),
        "data": str(stack.data_directory),
    }


def _announce(stack: DevStack, *, as_json: bool) -> None:
    from taoloop.cli.terminal import output, print_json, styled

    shown = addresses(stack)
    if as_json:
        print_json(dict(shown))
        return
    console = output()
    console.print(styled("taoloop is up", "bold green"))
    for name, address in shown.items():
        if address:
            console.print(styled(f"  {name:<12}{address}"))
    console.print(styled("Next:", "bold"))
    at = "" if stack.loop_address.endswith(":7701") else f" --address {stack.loop_address}"
    console.print(styled(f'  taoloop run "…"{at}'))
    console.print(styled(f"  taoloop runs{at}"))
    console.print(styled(f"  taoloop tools list {stack.catalogue}"))
    console.print(styled("Ctrl-C stops everything."))
