"""`taoloop tools`: checks, shows, packs and plays tool contracts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import CatalogueArgument, CatalogueOption, JsonOption
from taoloop.cli.terminal import ExitCode

if TYPE_CHECKING:
    from taoloop.core.exact_json import JsonValue
    from taoloop.testing.mock_tools import MockTools
    from taoloop.tools.compiled import CompiledTool
    from taoloop.tools.loading import Finding

app = typer.Typer(help="Check, show, pack and play tool contracts.", no_args_is_help=True)


@app.command()
def check(catalogue: CatalogueArgument, *, as_json: JsonOption = False) -> None:
    """Check every contract and show all findings with place, cause and remedy. Exit code 1 on any error.

    Example: [bold]taoloop tools check examples/customer-service[/bold]
    """
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.tools.loading import Severity, load_catalogue

    loaded = load_catalogue(catalogue)
    errors = len(loaded.errors)
    for finding in loaded.findings:
        if as_json:
            print_json(_finding_json(finding))
        else:
            output().print(styled(finding, "red" if finding.severity is Severity.ERROR else "yellow"))
    if not as_json:
        warnings = len(loaded.findings) - errors
        good = f"{len(loaded.catalogue)} tools, " if loaded.catalogue is not None else ""
        digest = f", digest {loaded.catalogue.digest[:12]}" if loaded.catalogue is not None else ""
        summary = f"{good}{errors} error(s), {warnings} warning(s){digest}"
        output().print(styled(summary, "red" if errors else "green"))
    raise typer.Exit(ExitCode.FAILED if loaded.catalogue is None else ExitCode.OK)


@app.command("list")
def list_tools(
    catalogue: Annotated[
        Path | None,
        typer.Argument(metavar="[CATALOGUE]", help="Directory with catalogue.yaml, that file, or a bundle."),
    ] = None,
    *,
    address: Annotated[
        str | None, typer.Option(help="List what the action service at host:port has, and what can be called now.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the tools of a catalogue, or those of a service with their availability.

    Example: [bold]taoloop tools list examples/customer-service[/bold]
    """
    from taoloop.cli.commands.tools_live import show_served
    from taoloop.cli.terminal import print_json, styled, table, table_output
    from taoloop.tools.served_catalogue import read_catalogue

    if address is not None:
        show_served(address, as_json=as_json)
        return
    if catalogue is None:
        raise typer.BadParameter("give a catalogue, or a service by --address", param_hint="CATALOGUE")
    tools = list(read_catalogue(catalogue))
    if as_json:
        for tool in tools:
            print_json(_summary_json(tool))
        return
    shown = table("", ("tool", "effect", "reach", "trust", "timeout", "description"))
    for tool in tools:
        contract = tool.contract
        cells = (
            contract.name,
            contract.effect.value,
            contract.reach.value,
            contract.trust.value,
            f"{contract.timeout_seconds:g} s",
            contract.description,
        )
        shown.add_row(*(styled(cell) for cell in cells))
    table_output().print(shown)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The tool's name.")],
    *,
    catalogue: CatalogueOption = Path("examples/customer-service"),
    as_json: JsonOption = False,
) -> None:
    """Show one tool: its contract with every value that is in effect, and what a plan may refer to.

    Example: [bold]taoloop tools show my_tool --catalogue examples/customer-service[/bold]
    """
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.core.errors import UnknownTool
    from taoloop.tools.served_catalogue import read_catalogue

    loaded = read_catalogue(catalogue)
    if name not in loaded:
        near = loaded.near(name)
        hint = f" Perhaps {', '.join(near)}." if near else ""
        raise UnknownTool(f"There is no tool {name}.{hint}", metadata={"tool": name, "candidates": ",".join(near)})
    detail = _detail_json(loaded.compiled(name))
    if as_json:
        print_json(detail)
        return
    console = output()
    for label, value in detail.items():
        if value not in ("", None, [], {}):
            console.print(styled(f"{label}:", "bold"), _readable(value))


@app.command()
def pack(
    catalogue: CatalogueArgument,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The bundle's file; must end in .json.")],
    as_json: JsonOption = False,
) -> None:
    """Write the catalogue as one file with its digest, to be given to every service. Samples are not part of it.

    Example: [bold]taoloop tools pack examples/customer-service -o bundle.json[/bold]
    """
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.core.errors import InvalidRequest
    from taoloop.tools import bundle
    from taoloop.tools.served_catalogue import read_catalogue

    if out.suffix != ".json":
        raise typer.BadParameter("must end in .json, by which a bundle is known", param_hint="--out")
    loaded = read_catalogue(catalogue)
    text = bundle.pack(loaded)
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as exc:
        raise InvalidRequest(f"{out} cannot be written: {exc.strerror or exc}.", metadata={"path": str(out)}) from exc
    if as_json:
        print_json(
            {"bundle": str(out), "tools": len(loaded), "digest": loaded.digest, "size_bytes": len(text.encode())}
        )
    else:
        output().print(styled(f"{out}: {len(loaded)} tools, digest {loaded.digest}"))


@app.command()
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
        raise typer.BadParameter(f"one of {', '.join(PROFILES)}", param_hint="--profile")
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


def _finding_json(finding: Finding) -> JsonValue:
    from taoloop.cli.records import record_json

    # A program wants the place of every finding, also where it is the first of the file.
    return {**record_json(finding), "line": finding.line, "column": finding.column}


def _summary_json(tool: CompiledTool) -> dict[str, JsonValue]:
    contract = tool.contract
    return {
        "name": contract.name,
        "description": contract.description,
        "use_when": contract.use_when,
        "avoid_when": contract.avoid_when,
        "effect": contract.effect.value,
        "reach": contract.reach.value,
        "trust": contract.trust.value,
        "timeout_seconds": contract.timeout_seconds,
        "contract_digest": contract.digest,
    }


def _detail_json(tool: CompiledTool) -> dict[str, JsonValue]:
    from taoloop.tools.contract import HttpTransport

    contract = tool.contract
    transport = contract.transport
    if isinstance(transport, HttpTransport):
        call = f"{transport.method} {transport.url}"
    else:
        call = type(transport).__name__ if transport is not None else ""
    observe = contract.observe
    return {
        **_summary_json(tool),
        "transport": call,
        "empty": contract.empty.value,
        "known_errors": [rule.code for rule in contract.errors],
        "max_latency_seconds": observe.max_latency_seconds,
        "weight": observe.weight,
        "rules": [f"{rule.id} ({rule.severity.value})" for rule in observe.rules],
        "exposed": list(observe.expose) if observe.expose is not None else ["everything"],
        "parameters": dict(contract.parameters),
        "output_schema": tool.output_schema,
        "answer": dict(contract.answer),
        "samples": list(contract.samples),
    }


def _readable(value: JsonValue) -> str:
    from rich.markup import escape

    from taoloop.core.exact_json import dumps

    return escape(value if isinstance(value, str) else dumps(value))
