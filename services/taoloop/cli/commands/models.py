"""`taoloop model`: what a language model's server can do, beside what its profile says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption
from taoloop.cli.terminal import ExitCode

if TYPE_CHECKING:
    from taoloop.core.exact_json import JsonValue
    from taoloop.models.readiness.model import ProbeReport
    from taoloop.models.settings import ChatModelSettings

app = typer.Typer(help="Look at the server of a language model.", no_args_is_help=True, rich_markup_mode="rich")


@app.command("profiles")
def profiles(*, as_json: JsonOption = False) -> None:
    """List the profiles that come along, and what each says of a server.

    Example: [bold]taoloop model profiles[/bold]
    """
    from rich.table import Table

    from taoloop.cli.terminal import print_json, table_output
    from taoloop.models.profiles.loading import load_profile, named_profiles

    table = Table("profile", "structured output", "grammar", "context", "streams", "seed", "likelihoods")
    for profile in map(load_profile, named_profiles()):
        told: dict[str, JsonValue] = {
            "profile": profile.name,
            "structured_output": profile.structured_output.value,
            "takes_grammar": profile.takes_grammar,
            "context_tokens": profile.context_tokens,
            "streams": profile.streams,
            "takes_seed": profile.takes_seed,
            "max_top_logprobs": profile.max_top_logprobs,
        }
        if as_json:
            print_json(told)
        table.add_row(*(_cell(value) for value in told.values()))
    if not as_json:
        table_output().print(table)


@app.command("probe")
def probe(
    url: Annotated[str | None, typer.Argument(help="Base URL, such as http://127.0.0.1:8000/v1.")] = None,
    *,
    model: Annotated[str | None, typer.Option(help="The model's name on that server.")] = None,
    profile: Annotated[str | None, typer.Option(help="A named profile, or the path of a file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the server the questions of the readiness probe; what is left out is read from TAOLOOP_MODEL__….

    Exit code 0 when it is what the profile says, 1 when something differs or it is away.

    Example: [bold]taoloop model probe http://127.0.0.1:8000/v1 --model planner --profile vllm[/bold]
    """
    from taoloop.cli.settings import ModelCommandSettings
    from taoloop.core.clock import SystemClock
    from taoloop.core.settings import load_settings
    from taoloop.models.opening import probe_chat_model
    from taoloop.wire.event_loop import run as run_loop

    given = {"url": url, "model": model, "profile": profile}
    fixed = {name: value for name, value in given.items() if value is not None}
    settings = load_settings(ModelCommandSettings, {"model": fixed} if fixed else None).model
    report = run_loop(probe_chat_model(settings, SystemClock()))
    _print_json(settings, report) if as_json else _print(settings, report)
    raise typer.Exit(ExitCode.FAILED if report.mismatches else ExitCode.OK)


def _print(settings: ChatModelSettings, report: ProbeReport) -> None:
    from rich.table import Table

    from taoloop.cli.terminal import output, styled, table_output
    from taoloop.models.readiness.model import Capability

    differs = {one.capability: one for one in report.mismatches}
    table = Table("capability", "", "expected", "found", "what to do")
    for capability in Capability:
        one = differs.get(capability)
        if one is None:
            table.add_row(capability.value, styled("as expected" if report.is_usable else "not asked", "dim"))
            continue
        verdict = styled("refused", "red") if one.is_fatal else styled("differs", "yellow")
        table.add_row(capability.value, verdict, one.expected, one.found, one.remedy)
    table_output().print(table)
    used = report.profile
    rate = "" if report.tokens_per_second is None else f", {report.tokens_per_second:.0f} tokens a second"
    words = f"{settings.model}: {used.structured_output.value}, context {used.context} tokens{rate}"
    output().print(words if report.is_usable else f"{settings.model}: cannot be used")


def _print_json(settings: ChatModelSettings, report: ProbeReport) -> None:
    from decimal import Decimal

    from taoloop.cli.terminal import print_json

    rate = report.tokens_per_second
    print_json(
        {
            "model": settings.model,
            "is_usable": report.is_usable,
            "structured_output": report.profile.structured_output.value,
            "context_tokens": report.profile.context,
            "tokens_per_second": None if rate is None else Decimal(f"{rate:.1f}"),
            "mismatches": [
                {
                    "capability": one.capability.value,
                    "expected": one.expected,
                    "found": one.found,
                    "remedy": one.remedy,
                    "is_fatal": one.is_fatal,
                }
                for one in report.mismatches
            ],
        }
    )


def _cell(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "the server's" if value is None else str(value)
