"""The written pages of the checkout and what stands in them: links, code, commands, tables, example files."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.packaging import checkout

_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
_EXAMPLE_FILE = re.compile(r"^<!-- file: (?P<name>\S+) -->\n```\w+\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=.*")
_SHELLS = {"sh", "bash", "shell", "console"}


def pages() -> list[Path]:
    """Return every page that a reader of the repository is meant to read."""
    top = [checkout.ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*top, *sorted((checkout.ROOT / "docs").rglob("*.md")), *sorted((checkout.ROOT / "examples").rglob("*.md"))]


def name_of(path: Path) -> str:
    """Return a page's name as a test's id."""
    return str(path.relative_to(checkout.ROOT))


def links(page: Path) -> Iterator[tuple[str, str]]:
    """Yield target and anchor of every link to a place in the checkout; either may be empty."""
    for target in _LINK.findall(_FENCE.sub("", page.read_text())):
        if "://" not in target and not target.startswith("mailto:"):
            path, _, anchor = target.partition("#")
            yield path, anchor


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", text)).strip().lower().replace(" ", "-") for text in headings}


def fenced(page: Path, language: str) -> list[str]:
    """Return the text of every block of a language."""
    return [block["text"] for block in _FENCE.finditer(page.read_text()) if block["language"] == language]


def code_lines(page: Path) -> Iterator[str]:
    """Yield every line of shell blocks without its comment, continued lines joined, and every piece of inline code."""
    text = page.read_text()
    for block in _FENCE.finditer(text):
        if block["language"] in _SHELLS:
            for line in block["text"].replace("\\\n", " ").splitlines():
                yield re.sub(r"(^|\s)#.*", "", line).strip().removeprefix("$ ")
    yield from _INLINE.findall(_FENCE.sub("", text))


class Command(NamedTuple):
    """A command as it stands in a page: its words after the program, pipes and redirections left out."""

    program: str
    words: tuple[str, ...]


def commands(page: Path, program: str) -> Iterator[Command]:
    """Yield the calls of a program in a page, with or without variables and a path before it."""
    for line in code_lines(page):
        for part in re.split(r"&&|\|\||;|\|(?=\s)|(?<=\s)>", line):
            try:
                words = shlex.split(part)
            except ValueError:  # a quotation that is no command
                continue
            while words and _ASSIGNMENT.fullmatch(words[0]):
                words.pop(0)
            if words and words[0].rpartition("/")[2] == program:
                yield Command(program, tuple(words[1:]))


def example_files(page: Path) -> dict[str, str]:
    """Return the files that a page spells out, by the name in the comment before each."""
    return {found["name"]: found["text"] for found in _EXAMPLE_FILE.finditer(page.read_text())}


def table_rows(page: Path, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, without its header; empty cells stay."""
    _, found, rest = page.read_text().partition(f"\n## {heading}\n")
    if not found:
        message = f"{name_of(page)} has no heading {heading}"
        raise ValueError(message)
    section = rest.partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows[2:]]
