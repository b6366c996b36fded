"""`taoloop tools mock`: plays the tools of a catalogue from their samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import CatalogueArgument, JsonOption
from taoloop.cli.terminal import ExitCode

if TYPE_CHECKING:
    from taoloop.testing.mock_tools import MockTools


def mock(
    catalogue: CatalogueArgument,
    *,
    listen: Annotated[str, typer.Option(help="host:port; port 0 takes a free one.")] = "127.0.0.1:8700",
    profile: Annotated[str, typer.Option(help="ok, or flaky: 20 % 504 and 10 % broken JSON.")] = "ok",
    seed: Annotated[int | None, typer.Option(help="Makes the faults repeatable.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Play every tool of a catalogue over HTTP from its samples until Ctrl-C.

    A call needs `X-Request-ID` and valid arguments, as with a real tool.

    Example: [bold]taoloop tools mock examples/customer-service --profile flaky --seed 7[/bold]
    """
    import asyncio

    from taoloop.core.errors import CatalogueInvalid
    from taoloop.testing.mock_tools import PROFILES, MockTools
    from taoloop.testing.tool_samples import SampleInvalid, read_samples
    from taoloop.tools.served_catalogue import read_catalogue
    from taoloop.wire.event_loop import run as run_loop

    if profile not in PROFILES:
        raise typer.BadParameter(f"{profile!r} is not one of {', '.join(PROFILES)}", param_hint="--profile")
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise typer.BadParameter("must be host:port", param_hint="--listen")
    loaded = read_catalogue(catalogue)
    try:
        samples = read_samples(catalogue if catalogue.is_dir() else catalogue.parent, loaded)
    except SampleInvalid as exc:
        raise CatalogueInvalid(str(exc)) from exc
    tools = MockTools(loaded, samples, PROFILES[profile], seed=seed, host=host, port=int(port))
    try:
        run_loop(_play(tools, listen, as_json=as_json))
    except asyncio.CancelledError:
        raise typer.Exit(ExitCode.INTERRUPTED) from None


async def _play(tools: MockTools, listen: str, *, as_json: bool) -> None:
    from contextlib import AsyncExitStack

    from taoloop.cli.signals import stop_signals
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.core.errors import ConfigurationError

    async with AsyncExitStack() as stack:
        stop = stack.enter_context(stop_signals(10.0))
        try:
            await stack.enter_async_context(tools)
        except OSError as exc:
            raise ConfigurationError(f"The address {listen} cannot be taken.", metadata={"listen": listen}) from exc
        if as_json:
            print_json({"address": tools.base_url, "bases": dict(tools.bases)})
        else:
            output().print(styled(f"the tools answer at {tools.base_url}; Ctrl-C stops them"))
        await stop.wait()
    if as_json:
        print_json({"calls": dict(tools.calls)})
    else:
        output().print(styled(f"stopped after {tools.calls.total()} calls"))
