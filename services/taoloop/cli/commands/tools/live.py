"""`taoloop tools probe|off|on`, and the listing of a service: tools as they are now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import ActionAddress, CatalogueOption, DeadlineSeconds, JsonOption
from taoloop.cli.terminal import ExitCode

if TYPE_CHECKING:
    from taoloop.action.probe import ProbeReport
    from taoloop.cli.calling import CallOptions
    from taoloop.core.exact_json import JsonValue
    from taoloop.plan.acting import SwitchToolRequest, ToolSummary
    from taoloop.plan.task import ToolAvailability
    from taoloop.tools.catalogue import Catalogue

ToolName = Annotated[str, typer.Argument(help="The tool's name.")]
SwitchedBy = Annotated[str, typer.Option("--by", help="Who switches, for the record.")]


def probe(
    name: ToolName,
    *,
    catalogue: CatalogueOption = Path("examples/customer-service"),
    arguments: Annotated[str, typer.Option(help="JSON object of arguments; else those of the tool's sample.")] = "",
    watch: Annotated[
        float, typer.Option(min=0.0, max=600.0, help="How long an idle connection is watched for the server's close.")
    ] = 75.0,
    force: Annotated[
        bool, typer.Option("--force", help="Call a tool that writes, too: the call takes effect.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Call a tool's real endpoint and say what its contract should have: pool, timeout, TLS.

    A read is called twice, a write once and only with --force. Addresses, secrets and networks are those of the
    action service's settings. Exit code 1 if there was no whole answer, or if something should change.

    Example: [bold]taoloop tools probe look_up_rate --watch 5[/bold]
    """
    from taoloop.action.probe import Endpoint, probe_tool
    from taoloop.action.secrets import ConfiguredSecrets
    from taoloop.action.settings import ActionSettings
    from taoloop.action.transports.egress_guard import Egress
    from taoloop.cli.terminal import messages
    from taoloop.core.clock import SystemClock
    from taoloop.core.settings import load_settings
    from taoloop.tools.served_catalogue import read_catalogue
    from taoloop.tools.signature import Effect
    from taoloop.wire.event_loop import run as run_loop

    settings = load_settings(ActionSettings, {"catalogue": catalogue})
    loaded = read_catalogue(catalogue, settings.bases)
    contract = loaded.compiled(name).contract
    used = _probe_arguments(arguments, name, catalogue, loaded)
    endpoint = Endpoint(
        bases=loaded.bases,
        secrets=ConfiguredSecrets(settings.secrets, settings.secrets_dir),
        settings=settings.tool_http,
        egress=Egress(settings.egress.rules()),
    )
    if force and contract.effect is not Effect.READ:
        messages().print(f"{name} writes: this call takes effect.", style="yellow", markup=False)
    report = run_loop(probe_tool(contract, used, endpoint, SystemClock(), is_forced=force, watch_seconds=watch))
    _show_probe(report, as_json=as_json)
    raise typer.Exit(ExitCode.FAILED if report.fault is not None or report.advice else ExitCode.OK)


def off(
    name: ToolName,
    *,
    reason: Annotated[str, typer.Option(help="Why, for planners, callers and the record.")],
    by: SwitchedBy = "",
    address: ActionAddress = None,
    deadline: DeadlineSeconds = 10.0,
    as_json: JsonOption = False,
) -> None:
    """Switch a tool off for all replicas of the action service; they obey within seconds.

    Example: [bold]taoloop tools off place_order --reason "the gateway sends twice"[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.acting import SwitchToolRequest

    request = SwitchToolRequest(tool=name, off=True, reason=reason, switched_by=by)
    _switch(request, CallOptions(address=address, deadline_seconds=deadline), as_json=as_json)


def on(
    name: ToolName,
    *,
    by: SwitchedBy = "",
    address: ActionAddress = None,
    deadline: DeadlineSeconds = 10.0,
    as_json: JsonOption = False,
) -> None:
    """Switch a tool on again; one that a replica's own settings switch off stays off there.

    Example: [bold]taoloop tools on place_order[/bold]
    """
    from taoloop.cli.calling import CallOptions
    from taoloop.plan.acting import SwitchToolRequest

    request = SwitchToolRequest(tool=name, switched_by=by)
    _switch(request, CallOptions(address=address, deadline_seconds=deadline), as_json=as_json)


def show_served(address: str, *, as_json: bool) -> None:
    """Show the tools that an action service has, and whether each can be called now."""
    from taoloop.cli.calling import CallOptions
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import print_json, styled, table, table_output
    from taoloop.wire.event_loop import run as run_loop

    tools = run_loop(_served(CallOptions(address=address, deadline_seconds=10.0)))
    if as_json:
        for tool in tools:
            print_json(record_json(tool))
        return
    shown = table("", ("tool", "available", "effect", "reach", "trust", "description"))
    for tool in tools:
        words = availability_words(tool.availability)
        cells = (tool.name, words, tool.effect.value, tool.reach.value, tool.trust.value, tool.description)
        shown.add_row(*(styled(cell, "red" if cell is words and words != "yes" else "") for cell in cells))
    table_output().print(shown)


def availability_words(availability: ToolAvailability | None) -> str:
    """Return whether a tool can be called, and why not, such as `no, breaker_open until 12:00:30`."""
    if availability is None or availability.available:
        return "yes"
    until = f" until {availability.retry_at:%H:%M:%S}" if availability.retry_at is not None else ""
    return f"no, {availability.reason}{until}"


async def _served(call: CallOptions) -> tuple[ToolSummary, ...]:
    from taoloop.cli.calling import calling_action

    async with calling_action(call) as (client, context):
        return (await client.list_tools(context)).tools


def _switch(request: SwitchToolRequest, call: CallOptions, *, as_json: bool) -> None:
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.wire.event_loop import run as run_loop

    async def switched() -> ToolAvailability:
        from taoloop.cli.calling import calling_action

        async with calling_action(call) as (client, context):
            return await client.switch_tool(request, context)

    availability = run_loop(switched())
    if as_json:
        print_json(record_json(availability))
    else:
        output().print(styled(f"{request.tool}: available {availability_words(availability)}"))


def _probe_arguments(text: str, name: str, path: Path, catalogue: Catalogue) -> dict[str, JsonValue]:
    """Return the arguments that were given, or those of the tool's first sample, once they are valid.

    Raises:
        InvalidRequest: They are not valid, or there are none.
    """
    from taoloop.core.errors import InvalidRequest
    from taoloop.testing.tool_samples import read_samples
    from taoloop.tools.arguments import ArgumentsRefused, read_arguments

    if text:
        try:
            value = read_arguments(catalogue.compiled(name).parameters, text).value
        except ArgumentsRefused as exc:
            raise InvalidRequest(f"The arguments cannot be used: {exc}") from exc
        return dict(value)
    samples = read_samples(path if path.is_dir() else path.parent, catalogue).get(name, ())
    if not samples:
        raise InvalidRequest(f"{name} has no sample whose arguments could be used; give --arguments.")
    return dict(samples[0].sample.arguments)


def _show_probe(report: ProbeReport, *, as_json: bool) -> None:
    from taoloop.cli.records import record_json
    from taoloop.cli.terminal import output, print_json, styled, table, table_output

    if as_json:
        print_json(record_json(report))
        return
    console = output()
    if report.fault is not None:
        console.print(styled(f"{report.fault.code}: {report.fault.message} {report.fault.suggestion}", "red"))
    for label, words in _seen(report):
        console.print(styled(f"{label}:", "bold"), styled(words))
    if not report.advice:
        console.print(styled("The contract is as it should be." if report.fault is None else "", "green"))
        return
    shown = table("What should change", ("where", "now", "should be", "why"))
    for advice in report.advice:
        cells = (advice.pointer or "the server", advice.now, advice.should, advice.why)
        shown.add_row(*(styled(cell) for cell in cells))
    table_output().print(shown)


def _seen(report: ProbeReport) -> list[tuple[str, str]]:
    """Return what a probe saw, as label and words."""
    if report.fault is not None:
        return [("status", str(report.status_code))] if report.status_code else []
    again = f", on the kept connection {report.second_seconds:.3f} s" if report.second_seconds is not None else ""
    closes, announced = report.measured_keep_alive_seconds, report.announced_keep_alive_seconds
    kept = {None: "not known", True: "yes", False: "no"}[report.keeps_connections]
    if announced is not None:
        kept += f", announced for {announced:g} s"
    if closes is not None:
        kept += f", closed after {closes:.1f} s without use"
    elif report.watched_seconds:
        kept += f", still open after {report.watched_seconds:.1f} s without use"
    tls = "none"
    if report.tls is not None:
        expires = report.tls.certificate_expires_at
        tls = report.tls.version + (f", certificate until {expires:%Y-%m-%d}" if expires is not None else "")
    return [
        ("answer", f"{report.status_code}, {report.size_bytes} bytes in {report.first_seconds:.3f} s{again}"),
        ("connection is kept", kept),
        ("TLS", tls),
    ]
