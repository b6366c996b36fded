"""SQL statements taken apart into words: their named parameters, and whether they can only read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>--[^\n]*|/\*.*?\*/)
  | (?P<text>[eE]'(?:[^'\\]|''|\\.)*'|[bBnNxX]?'(?:[^']|'')*'|\$(?P<tag>[A-Za-z_]*)\$.*?\$(?P=tag)\$)
  | (?P<quoted>"(?:[^"]|"")*"|`[^`]*`)
  | (?P<cast>::)
  | (?<![:\w]):(?P<parameter>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<positional>\$[A-Za-z0-9_]*|%s)
  | (?P<number>[0-9][A-Za-z0-9_.]*)
  | (?P<word>[^\W\d][\w$]*)
  | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_READING: Final = frozenset({"SELECT", "WITH", "VALUES"})

_WRITING: Final = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "INTO"})
"""Words that write, create or lock wherever they stand in a statement that begins with a reading one."""

_UNENDED: Final = frozenset({"'", '"', "`"})


class StatementRefused(ValueError):
    """The text is not one statement with named parameters."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a statement is made of.

    Attributes:
        parameters: Names of its parameters in the order of their first use, each once.
        why_it_writes: How the statement can do more than read, a predicate such as `holds UPDATE`; empty if it
            cannot, as far as its words tell: a function that it calls may still write.
    """

    parameters: tuple[str, ...]
    why_it_writes: str = ""

    @property
    def reads_only(self) -> bool:
        """Tell whether no word of the statement writes."""
        return not self.why_it_writes


def read_statement(text: str) -> Statement:
    """Take a statement apart.

    >>> read_statement("SELECT state::text FROM orders WHERE id = :order_id -- AND :not_this").parameters
    ('order_id',)

    Raises:
        StatementRefused: A semicolon, a parameter by position, a text or comment that does not end, or nothing.
    """
    parameters: dict[str, None] = {}
    words: list[str] = []
    before = ""
    for token in _TOKEN.finditer(text):
        kind, content = token.lastgroup or "", token[0]
        _refuse(kind, content, text[token.start() : token.start() + 2])
        if kind == "parameter":
            parameters[token["parameter"]] = None
        elif kind == "word" and before != ".":
            words.append(content.upper())
        before = before if kind in {"space", "comment"} else content
    if not words:
        raise StatementRefused("the statement is empty")
    return Statement(tuple(parameters), _why_it_writes(words))


def with_parameters(text: str, written: Callable[[str], str]) -> str:
    """Return the statement with each `:name` written as its database wants it; texts and comments stay as they are.

    >>> with_parameters("SELECT ':id' FROM orders WHERE id = :id", lambda name: "$1")
    "SELECT ':id' FROM orders WHERE id = $1"

    Args:
        text: A statement that `read_statement` takes.
        written: Name of a parameter → how it is written.
    """
    tokens = _TOKEN.finditer(text)
    return "".join(written(each["parameter"]) if each.lastgroup == "parameter" else each[0] for each in tokens)


def _refuse(kind: str, content: str, start: str) -> None:
    if kind == "positional":
        raise StatementRefused(f"the parameter {content} has no name")
    if kind == "comment" and "/*" in content[2:]:
        # PostgreSQL nests comments and SQLite does not: where the comment ends must not depend on the database.
        raise StatementRefused("a comment stands inside a comment")
    if kind != "sign":
        return
    if content == ";":
        raise StatementRefused("a semicolon stands in the statement")
    if content in _UNENDED or start == "/*":
        raise StatementRefused(f"what begins with {start if start == '/*' else content} does not end")


def _why_it_writes(words: list[str]) -> str:
    if words[0] not in _READING:
        return f"begins with {words[0]}"
    found = next((word for word in words if word in _WRITING), None)
    return "" if found is None else f"holds {found}"
