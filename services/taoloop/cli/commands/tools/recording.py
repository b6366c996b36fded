"""`taoloop tools record`: a redacted sample from a live call."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import CatalogueOption, JsonOption

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taoloop.core.exact_json import JsonValue
    from taoloop.evaluation.samples.exchanges import Exchange
    from taoloop.evaluation.samples.recording import Recording
    from taoloop.tools.catalogue import Catalogue
    from taoloop.tools.contract import ToolContract


def record(  # noqa: PLR0913 - the options of a command are its parameters
    name: Annotated[str, typer.Argument(help="The tool's name.")],
    *,
    arguments: Annotated[str, typer.Option(help="JSON object of arguments for the call.")],
    catalogue: CatalogueOption = Path("examples/customer-service"),
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The sample's file; else samples/NAME/recorded-N.json.")
    ] = None,
    replace: Annotated[
        list[str] | None,
        typer.Option(metavar="POINTER=JSON", help="A made-up value for a place of the sample; may be given again."),
    ] = None,
    allow_write: Annotated[
        bool, typer.Option("--allow-write", help="Call a tool that writes, too: the call takes effect.")
    ] = False,
    as_failure: Annotated[
        bool, typer.Option("--as-failure", help="Keep an answer that breaks its contract as a sample of that failure.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there already.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Call a tool's real endpoint once and write the exchange as a sample, redacted.

    Secrets and what the contract's [bold]redact[/bold] names are masked, in the arguments by made-up values; values of
    arguments that come back in the answer become [bold]{{arguments.NAME}}[/bold]. The sample states the verdict that
    the answer got. Nothing is written where the answer breaks its contract, or where redaction would make another
    answer of it. Addresses, secrets and networks are those of the action service's settings.

    Example: [bold]taoloop tools record look_up_rate --arguments '{"base": "EUR"}'[/bold]
    """
    from taoloop.cli.batch.writing import write_whole
    from taoloop.core.clock import SystemClock
    from taoloop.evaluation.samples.exchanges import RecordedObserver
    from taoloop.evaluation.samples.recording import recorded
    from taoloop.evaluation.samples.redacting import contract_redactor

    replacements = dict(_replacement(text) for text in replace or ())
    directory = catalogue if catalogue.is_dir() else catalogue.parent
    exchange, loaded = _live(name, arguments, catalogue, is_write_allowed=allow_write)
    contract = loaded.compiled(name).contract
    observer = RecordedObserver(loaded, SystemClock())
    made = recorded(exchange, observer, contract_redactor(contract), replacements, is_failure_meant=as_failure)
    path = out or _free_path(directory, name)
    write_whole(path, made.text, is_replacing=force)
    _show(made, exchange, path, _to_do(contract, directory, path), as_json=as_json)


def _live(name: str, text: str, path: Path, *, is_write_allowed: bool) -> tuple[Exchange, Catalogue]:
    """Call the tool once, through the transport of its kind.

    Raises:
        InvalidRequest: The arguments cannot be used, the tool writes, or no whole answer came.
        UnknownTool: There is none of this name.
    """
    from taoloop.action.settings import ActionSettings
    from taoloop.cli.commands.tools.live_calls import call_once
    from taoloop.cli.terminal import messages
    from taoloop.core.errors import InvalidRequest, UnknownTool
    from taoloop.core.settings import load_settings
    from taoloop.tools.served_catalogue import read_catalogue
    from taoloop.tools.signature import Effect
    from taoloop.wire.event_loop import run as run_loop

    settings = load_settings(ActionSettings, {"catalogue": path})
    loaded = read_catalogue(path, settings.bases)
    if name not in loaded:
        near = loaded.near(name)
        hint = f" Perhaps {', '.join(near)}." if near else ""
        raise UnknownTool(f"There is no tool {name}.{hint}", metadata={"tool": name, "candidates": ",".join(near)})
    tool = loaded.compiled(name)
    effect = tool.contract.effect
    if effect is not Effect.READ and not is_write_allowed:
        raise InvalidRequest(
            f"{name} has the effect {effect.value}: recording calls it, which takes effect. "
            "Give --allow-write if that is meant.",
            metadata={"tool": name, "effect": effect.value},
        )
    if effect is not Effect.READ:
        messages().print(f"{name} writes: this call takes effect.", style="yellow", markup=False)
    return run_loop(call_once(tool, text, settings, loaded)), loaded


def _replacement(text: str) -> tuple[str, JsonValue]:
    from taoloop.core.exact_json import JsonSyntaxError, loads

    pointer, is_given, value = text.partition("=")
    if not is_given or not pointer.startswith(("/request/arguments/", "/response/body")):
        message = f"{text!r} must be POINTER=JSON, such as /response/body/name='\"Ada\"'"
        raise typer.BadParameter(message, param_hint="--replace")
    try:
        return pointer, loads(value)
    except JsonSyntaxError as exc:
        message = f"{pointer}: {value!r} is not JSON ({exc.message}); a text needs its quotes"
        raise typer.BadParameter(message, param_hint="--replace") from exc


def _free_path(directory: Path, name: str) -> Path:
    folder = directory / "samples" / name
    numbers = (number for number in range(1, 100_000) if not (folder / f"recorded-{number}.json").exists())
    return folder / f"recorded-{next(numbers)}.json"


def _to_do(contract: ToolContract, directory: Path, path: Path) -> str:
    """Return what is left to do so that the contract names the sample; empty for nothing."""
    from taoloop.core.exact_json import dumps
    from taoloop.tools.loading.samples import sample_paths

    if any(each.resolve() == path.resolve() for each in sample_paths(contract, directory)):
        return ""
    if not path.resolve().is_relative_to(directory.resolve()):
        return f"It lies outside the catalogue: move it to {directory / 'samples' / contract.name}."
    named = path.resolve().relative_to(directory.resolve()).as_posix()
    return f"The contract does not name it yet; its spec needs:  samples: {dumps([*contract.samples, named])}"


def _show(made: Recording, exchange: Exchange, path: Path, to_do: str, *, as_json: bool) -> None:
    from taoloop.cli.run_view import fault_words
    from taoloop.cli.terminal import output, print_json, styled

    verdict = made.verdict
    placeholders: Mapping[str, JsonValue] = dict(made.placeholders)
    if as_json:
        print_json(
            {
                "sample": str(path),
                "tool": exchange.tool,
                "status": exchange.status_code,
                "valid": verdict.valid,
                "fault": "" if verdict.fault is None else verdict.fault.code,
                "masked": list(made.masked),
                "placeholders": dict(placeholders),
                "doubts": dict(made.doubts),
                "to_do": to_do,
            }
        )
        return
    console = output()
    seconds = exchange.response_time_seconds or 0.0
    head = f"{exchange.tool} answered {exchange.status_code} in {seconds:.3f} s: "
    console.print(styled(head + ("valid" if verdict.valid else f"not valid, {fault_words(verdict.fault)}"), "bold"))
    for pointer in made.masked:
        console.print(styled(f"  masked: {pointer}"))
    for pointer, argument in placeholders.items():
        console.print(styled(f"  placeholder: {pointer} is {{{{arguments.{argument}}}}}"))
    for pointer, kind in made.doubts.items():
        words = f"  kept: {pointer} looks like a {kind.replace('_', ' ')}; `redact: [{kind}]` in the contract masks it"
        console.print(styled(words, "yellow"))
    console.print(styled(f"{path} is written; read it before you commit it.", "green"))
    if to_do:
        console.print(styled(to_do))
