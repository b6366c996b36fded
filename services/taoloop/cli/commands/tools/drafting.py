"""`taoloop tools import`: drafts contracts from other descriptions of tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption
from taoloop.cli.terminal import ExitCode

if TYPE_CHECKING:
    from taoloop.core.exact_json import JsonValue
    from taoloop.tools.importing.openapi import OpenApiDocument

app = typer.Typer(help="Draft contracts from other descriptions of tools.", no_args_is_help=True)

OutOption = Annotated[Path | None, typer.Option("--out", "-o", help="Directory of the catalogue; none writes nothing.")]
ReplaceOption = Annotated[bool, typer.Option("--replace", help="Overwrite contracts that are there.")]
MaxToolsOption = Annotated[int, typer.Option("--max-tools", min=1, max=1000, help="Most tools of one import.")]


@app.command()
def openapi(  # noqa: PLR0913 - the options of a command are its parameters
    file: Annotated[Path, typer.Argument(metavar="FILE", help="OpenAPI 3.0, 3.1 or 3.2, in JSON or YAML.")],
    *,
    include: Annotated[
        list[str] | None,
        typer.Option(help="An operationId, METHOD /path or tag:NAME; * and ? stand for letters. May be repeated."),
    ] = None,
    out: OutOption = None,
    max_tools: MaxToolsOption = 50,
    base: Annotated[str, typer.Option(metavar="NAME=URL", help="Name and address of the server.")] = "",
    replace: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Draft a contract for each chosen operation; without --include, list the operations.

    Exit code 1 if something keeps a contract from loading or working: the report says what.

    Example: [bold]taoloop tools import openapi shop.yaml --include getOrder -o my-tools[/bold]
    """
    from taoloop.cli.importing.reporting import finish_import, refuse
    from taoloop.tools.importing.findings import ImportRefused
    from taoloop.tools.importing.openapi import draft_openapi, read_openapi

    name, _, url = base.partition("=")
    if base and not (name and url.startswith(("http://", "https://"))):
        raise typer.BadParameter("must be NAME=URL, with an http or https address", param_hint="--base")
    try:
        document = read_openapi(file)
        if not include:
            _list_operations(document, as_json=as_json)
            raise typer.Exit(ExitCode.OK)
        report = draft_openapi(document, include, max_tools=max_tools, base=(name, url))
    except ImportRefused as exc:
        raise refuse(exc.findings, as_json=as_json) from exc
    finish_import(report, out, name=next(iter(report.bases), "imported"), replace=replace, as_json=as_json)


def _list_operations(document: OpenApiDocument, *, as_json: bool) -> None:
    from taoloop.cli.terminal import output, print_json, styled, table, table_output
    from taoloop.tools.importing.naming import shortened

    operations = list(document.operations())
    if as_json:
        for each in operations:
            print_json(
                {
                    "id": each.id,
                    "method": each.method,
                    "path": each.path,
                    "tags": list(each.tags),
                    "summary": shortened(each.summary),
                }
            )
        return
    shown = table("", ("operation", "method and path", "tags", "summary"))
    for each in operations:
        shown.add_row(*(styled(cell) for cell in (each.id, each.title, ", ".join(each.tags), shortened(each.summary))))
    table_output().print(shown)
    advice = "Choose the few that users ask for: --include with an id, 'GET /path*' or tag:NAME, as often as needed."
    output().print(styled(f"{len(operations)} operations. {advice}"))


@app.command()
def mcp(  # noqa: PLR0913 - the options of a command are its parameters
    server: Annotated[str, typer.Argument(metavar="SERVER", help="http(s)://… or the command of a server, in quotes.")],
    *,
    include: Annotated[list[str] | None, typer.Option(help="Name of a tool; * and ? stand for letters.")] = None,
    out: OutOption = None,
    max_tools: MaxToolsOption = 50,
    base: Annotated[str, typer.Option(metavar="NAME", help="Name of the base for the server's address.")] = "mcp",
    replace: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Draft a contract for each chosen tool of a live MCP server; without --include, list its tools.

    What the server says of its tools' effects is a hint and no proof: it gives a default that a person must confirm.

    Example: [bold]taoloop tools import mcp https://tools.example/mcp --include 'search*' -o my-tools[/bold]
    """
    import shlex
    from urllib.parse import urlsplit

    from taoloop.cli.importing.reporting import finish_import, refuse, show_names
    from taoloop.cli.importing.servers import list_mcp_tools
    from taoloop.tools.importing.findings import ImportRefused
    from taoloop.tools.importing.mcp_tools import draft_mcp
    from taoloop.wire.event_loop import run as run_loop

    tools = run_loop(list_mcp_tools(server))
    if not include:
        show_names([(str(each["name"]), str(each.get("description", ""))) for each in tools], as_json=as_json)
        raise typer.Exit(ExitCode.OK)
    form: dict[str, JsonValue] = {"command": list(shlex.split(server))}
    bases: dict[str, str] = {}
    if server.startswith(("http://", "https://")):
        parts = urlsplit(server)
        bases = {base: f"{parts.scheme}://{parts.netloc}"}
        form = {"url": f"{{{{base.{base}}}}}{parts.path}"}
    try:
        report = draft_mcp(tools, form, include, max_tools=max_tools, bases=bases)
    except ImportRefused as exc:
        raise refuse(exc.findings, as_json=as_json) from exc
    finish_import(report, out, name="mcp-tools", replace=replace, as_json=as_json)


@app.command()
def grpc(  # noqa: PLR0913 - the options of a command are its parameters
    source: Annotated[
        str, typer.Argument(metavar="ADDRESS|DESCRIPTOR_SET", help="http(s)://host:port, or a file of descriptors.")
    ],
    *,
    service: Annotated[str, typer.Option(help="package.Service.")],
    include: Annotated[list[str] | None, typer.Option(help="Name of a method; * and ? stand for letters.")] = None,
    out: OutOption = None,
    max_tools: MaxToolsOption = 50,
    base: Annotated[str, typer.Option(metavar="NAME=URL", help="Name and address of the server.")] = "",
    replace: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Draft a contract for each chosen unary method of a gRPC service; without --include, list them.

    Example: [bold]taoloop tools import grpc http://127.0.0.1:50051 --service shop.v1.Orders --include 'Get*'[/bold]
    """
    from taoloop.cli.importing.reporting import finish_import, refuse, show_names
    from taoloop.cli.importing.servers import methods_of_server, methods_of_set
    from taoloop.tools.importing.findings import ImportRefused
    from taoloop.tools.importing.grpc_methods import GrpcPlace, draft_grpc
    from taoloop.tools.importing.hosts import UNKNOWN_BASE, likely_reach
    from taoloop.wire.event_loop import run as run_loop

    is_live = source.startswith(("http://", "https://"))
    name, _, url = base.partition("=")
    methods = run_loop(methods_of_server(source, service)) if is_live else methods_of_set(Path(source), service)
    if not include:
        show_names([(each.name, each.path) for each in methods], as_json=as_json)
        raise typer.Exit(ExitCode.OK)
    address = url or (source if is_live else UNKNOWN_BASE)
    place = GrpcPlace(
        base=name or "grpc",
        url=address.rstrip("/"),
        descriptor_set="" if is_live else Path(source).name,
        reach=likely_reach(address),
    )
    try:
        report = draft_grpc(methods, place, include, max_tools=max_tools)
    except ImportRefused as exc:
        raise refuse(exc.findings, as_json=as_json) from exc
    finish_import(report, out, name="grpc-tools", replace=replace, as_json=as_json)
