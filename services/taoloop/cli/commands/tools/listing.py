"""`taoloop tools list|show|pack`: what a catalogue holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import CatalogueArgument, CatalogueOption, JsonOption

if TYPE_CHECKING:
    from taoloop.core.exact_json import JsonValue


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
    from taoloop.cli.commands.tools.live import show_served
    from taoloop.cli.commands.tools.showing import summary_json
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
            print_json(summary_json(tool.contract))
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


def show(
    name: Annotated[str, typer.Argument(help="The tool's name.")],
    *,
    catalogue: CatalogueOption = Path("examples/customer-service"),
    as_json: JsonOption = False,
) -> None:
    """Show one tool: its contract with every value that is in effect, and what a plan may refer to.

    Example: [bold]taoloop tools show my_tool --catalogue examples/customer-service[/bold]
    """
    from taoloop.cli.commands.tools.showing import detail_json
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.core.errors import UnknownTool
    from taoloop.tools.served_catalogue import read_catalogue

    loaded = read_catalogue(catalogue)
    if name not in loaded:
        near = loaded.near(name)
        hint = f" Perhaps {', '.join(near)}." if near else ""
        raise UnknownTool(f"There is no tool {name}.{hint}", metadata={"tool": name, "candidates": ",".join(near)})
    detail = detail_json(loaded.compiled(name))
    if as_json:
        print_json(detail)
        return
    console = output()
    for label, value in detail.items():
        if value not in ("", None, [], {}):
            console.print(styled(f"{label}:", "bold"), _readable(value))


def pack(
    catalogue: CatalogueArgument,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The bundle's file; must end in .json.")],
    as_json: JsonOption = False,
) -> None:
    """Write the catalogue as one file with its digest, to be given to every service.

    Samples are not part of it; the fields, types and values that they show are, by which drift is found.

    Example: [bold]taoloop tools pack examples/customer-service -o bundle.json[/bold]
    """
    from taoloop.cli.batch.writing import write_whole
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.tools import bundle
    from taoloop.tools.seen import read_seen
    from taoloop.tools.served_catalogue import read_catalogue

    if out.suffix != ".json":
        raise typer.BadParameter("must end in .json, by which a bundle is known", param_hint="--out")
    loaded = read_catalogue(catalogue)
    text = bundle.pack(loaded, read_seen(catalogue, loaded))
    write_whole(out, text)
    if as_json:
        print_json(
            {"bundle": str(out), "tools": len(loaded), "digest": loaded.digest, "size_bytes": len(text.encode())}
        )
    else:
        output().print(styled(f"{out}: {len(loaded)} tools, digest {loaded.digest}"))


def _readable(value: JsonValue) -> str:
    from rich.markup import escape

    from taoloop.core.exact_json import dumps

    return escape(value if isinstance(value, str) else dumps(value))
