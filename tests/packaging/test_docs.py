"""What the pages name exists: files, headings, commands, options, targets, variables; and nothing of one machine."""

import fnmatch
import os
import re
from functools import cache
from pathlib import Path
from typing import cast

import pytest
import typer.core
import typer.main
from pydantic_settings import BaseSettings

from taoloop.cli.deployables import settings_classes
from taoloop.cli.main import app
from taoloop.cli.settings import CliSettings, ModelCommandSettings
from taoloop.client.settings import ClientSettings
from taoloop.core.settings import describe
from tests.packaging import checkout, pages

PAGES = pages.pages()
each_page = pytest.mark.parametrize("page", PAGES, ids=pages.name_of)

_PATH = re.compile(r"[\w.-]+(?:/[\w.*-]+)*/?")
_PATH_ENDS = (".py", ".md", ".lua", ".json", ".yaml", ".yml", ".toml", ".proto", ".txt", "/")
# Written by a reader or by a program, so that the checkout has none.
_MADE_LATER = {"bundle.json", "response.json", "plan.json", ".taoloop/"}
_NOT_OURS = {"node_modules", "__pycache__"}
_PLACES = ("/work/", "/root/", "/home/", "/Users/", "/tmp/", "../shared")
_HOSTS = ("pypi.org", "pythonhosted.org", "docker.io", "ghcr.io", "quay.io", "proxy.golang.org", "npmjs.org")


def typer_command(words: tuple[str, ...]) -> tuple[typer.core.TyperCommand | typer.core.TyperGroup, tuple[str, ...]]:
    """Return the command that the words name, and the words that follow its name.

    Raises:
        KeyError: There is no such command.
    """
    node = cast("typer.core.TyperCommand | typer.core.TyperGroup", typer.main.get_command(app))
    while isinstance(node, typer.core.TyperGroup) and words and not words[0].startswith("-"):
        node = cast("typer.core.TyperCommand | typer.core.TyperGroup", node.commands[words[0]])
        words = words[1:]
    return node, words


def make_targets() -> set[str]:
    """Return the targets that the Makefile lists."""
    return set(re.findall(r"^([a-z][a-z-]*):.*## ", (checkout.ROOT / "Makefile").read_text(), re.MULTILINE))


@cache
def tree() -> tuple[str, ...]:
    """Return every file and folder of the checkout that is not hidden, with `/` for the checkout itself."""
    found: list[str] = []
    for folder, names, file_names in os.walk(checkout.ROOT):
        names[:] = [name for name in names if not name.startswith(".") and name not in _NOT_OURS]
        at = folder.removeprefix(str(checkout.ROOT))
        found += [f"{at}/{name}" for name in (*names, *file_names)]
    return tuple(found)


def known_variables() -> set[str]:
    """Return every variable that a process or a command reads."""
    commands = (CliSettings, ModelCommandSettings, ClientSettings)
    classes: list[type[BaseSettings]] = [*settings_classes().values(), *commands]
    return {row.env for settings_class in classes for row in describe(settings_class)}


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for path, anchor in pages.links(page):
        target = (page.parent / path).resolve() if path else page
        is_there = target.exists() and target.is_relative_to(checkout.ROOT)
        if not is_there or (anchor and anchor not in pages.anchors(target)):
            broken.append(f"{path}#{anchor}")
    assert broken == []


@each_page
def test_commands_of_taoloop_exist_with_their_options(page: Path) -> None:
    wrong = []
    for command in pages.commands(page, "taoloop"):
        try:
            node, rest = typer_command(command.words)
        except KeyError:
            wrong.append(" ".join(command.words))
            continue
        known = {"-h", "--help"} | {name for each in node.params for name in (*each.opts, *each.secondary_opts)}
        options = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        wrong += [f"{' '.join(command.words)}: {option}" for option in sorted(options - known)]
    assert wrong == []


@each_page
def test_targets_of_make_exist(page: Path) -> None:
    targets = {word for command in pages.commands(page, "make") for word in command.words if "=" not in word}
    assert {word for word in targets if re.fullmatch(r"[a-z-]+", word)} - make_targets() == set()


@each_page
def test_variables_are_read_by_some_process(page: Path) -> None:
    known = known_variables()
    named = set(re.findall(r"\bTAOLOOP_[A-Z0-9_]*[A-Z0-9]\b", page.read_text()))
    maps = {f"{name}__" for name in known}
    assert {name for name in named - known if not name.startswith(tuple(maps))} == set()


@each_page
def test_files_named_in_code_exist(page: Path) -> None:
    named = {
        text
        for text in pages.code_lines(page)
        if _PATH.fullmatch(text) and text.endswith(_PATH_ENDS) and text not in _MADE_LATER
    }
    # `plan/check.py` is enough where the rest is said: any file or folder whose path ends so will do.
    assert {text for text in named if not fnmatch.filter(tree(), f"*/{text.rstrip('/')}")} == set()


@each_page
def test_page_names_no_machine_and_no_registry(page: Path) -> None:
    text = page.read_text()
    assert [place for place in (*_PLACES, *_HOSTS) if place in text] == []


def test_readme_stays_short() -> None:
    assert len((checkout.ROOT / "README.md").read_text().splitlines()) < 150


def test_decision_records_are_numbered_listed_and_whole() -> None:
    folder = checkout.ROOT / "docs" / "adr"
    records = sorted(folder.glob("0*.md"))
    listed = [path for path, _ in pages.links(folder / "README.md")]

    assert [path.name[:4] for path in records] == [f"{number:04}" for number in range(1, len(records) + 1)]
    assert listed == [path.name for path in records]
    for record in records:
        text = record.read_text()
        headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences", "Alternatives"], record.name
        assert re.match(rf"# {record.name[:4]}: .+\n\n\*\*Status:\*\* ", text), record.name


def test_every_page_of_docs_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    ahead = [checkout.ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in reached or page.suffix != ".md" or not page.is_file():
            continue
        reached.add(page)
        ahead += [(page.parent / path).resolve() for path, _ in pages.links(page) if path]
    assert {pages.name_of(page) for page in PAGES if "docs" in page.parts} - {
        pages.name_of(page) for page in reached
    } == set()
