"""`taoloop prompt`: shows the prompts of the language-model planner, and how two versions differ."""

from __future__ import annotations

import difflib
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption

if TYPE_CHECKING:
    from taoloop.core.exact_json import JsonValue
    from taoloop.thought.planners.model.prompts import Prompt, PromptSet

app = typer.Typer(help="Show the prompts of the language-model planner, and how versions differ.", no_args_is_help=True)

REASONS = ("full", "brief", "off")


@app.command()
def show(
    version: Annotated[
        str, typer.Argument(help="A version such as v1, or a folder with prompts; empty: the latest.")
    ] = "",
    *,
    catalogue: Annotated[
        Path | None, typer.Option(help="Catalogue whose tools are offered; with it the whole messages are shown.")
    ] = None,
    query: Annotated[str, typer.Option(help="The user's words, for the whole messages.")] = "",
    reasoning: Annotated[str, typer.Option(help=f"How much the model says first: {', '.join(REASONS)}.")] = "off",
    as_json: JsonOption = False,
) -> None:
    """Show a version with its hash, or the messages that a model gets for a request.

    Example: [bold]taoloop prompt show --catalogue examples/customer-service --query "..."[/bold]
    """
    from taoloop.cli.terminal import output, print_json

    prompts = _load(version)
    if catalogue is not None:
        _show_messages(_built(prompts, catalogue, query, reasoning), as_json=as_json)
        return
    if as_json:
        print_json({"version": prompts.version, "sha256": prompts.digest, "files": dict(prompts.texts)})
        return
    console = output()
    console.out(f"prompts {prompts.version} sha256 {prompts.digest}", highlight=False)
    for name, text in prompts.texts.items():
        console.out(f"--- {name}\n{text}", highlight=False)


@app.command()
def diff(
    left: Annotated[str, typer.Argument(help="A version, or a folder with prompts.")],
    right: Annotated[str, typer.Argument(help="Another one; empty: the latest version.")] = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """Show how two versions of the prompts differ, as a unified diff. Exit code 1 when they do.

    Example: [bold]taoloop prompt diff v1 my-prompts[/bold]
    """
    from taoloop.cli.terminal import ExitCode, output, print_json

    one, other = _load(left), _load(right)
    differences = {name: _difference(one, other, name) for name in one.texts}
    if as_json:
        print_json({"left": one.digest, "right": other.digest, "files": {**differences}})
    else:
        for line in chain.from_iterable(differences.values()):
            output().out(line, highlight=False)
    raise typer.Exit(ExitCode.OK if one.digest == other.digest else ExitCode.FAILED)


def _difference(one: PromptSet, other: PromptSet, name: str) -> list[JsonValue]:
    before, after = one.texts[name].splitlines(), other.texts[name].splitlines()
    names = (f"{one.version}/{name}", f"{other.version}/{name}")
    return [*difflib.unified_diff(before, after, *names, lineterm="")]


def _load(name: str) -> PromptSet:
    from taoloop.thought.planners.model.prompts import LATEST_VERSION, load_prompts, load_prompts_from

    folder = Path(name)
    return load_prompts_from(folder) if name and folder.is_dir() else load_prompts(name or LATEST_VERSION)


def _built(prompts: PromptSet, catalogue: Path, query: str, reasoning: str) -> Prompt:
    from taoloop.plan.task import Role, Turn
    from taoloop.plan.thinking import ThinkRequest
    from taoloop.thought.planners.model.offer import Offer, OfferedTool, Reason
    from taoloop.thought.planners.model.prompts import build_prompt
    from taoloop.tools.served_catalogue import read_catalogue

    if reasoning not in REASONS:
        raise typer.BadParameter(f"{reasoning!r} is not one of {', '.join(REASONS)}", param_hint="--reasoning")
    request = ThinkRequest(run_id="0" * 32, iteration=1, turns=(Turn(role=Role.USER, text=query),))
    tools = [OfferedTool.of(signature) for signature in read_catalogue(catalogue).signatures()]
    return build_prompt(prompts, Offer.of(tools, request), request, Reason(reasoning))


def _show_messages(prompt: Prompt, *, as_json: bool) -> None:
    from taoloop.cli.terminal import output, print_json

    if as_json:
        messages: list[JsonValue] = [
            {"role": message.role.value, "content": message.content} for message in prompt.messages
        ]
        print_json({"version": prompt.version, "sha256": prompt.digest, "messages": messages})
        return
    console = output()
    share = f"{prompt.stable_share:.0%} of it the same for every request"
    console.out(f"prompts {prompt.version} sha256 {prompt.digest}, about {prompt.estimated_tokens} tokens, {share}")
    for message in prompt.messages:
        console.out(f"--- {message.role.value}\n{message.content}", highlight=False)
