"""What goes to the terminal: text for people on a console, JSON lines for programs, errors as one line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from taoloop.cli.viewing.visible_text import visible

if TYPE_CHECKING:
    from taoloop.core.errors import TaoError
    from taoloop.core.exact_json import JsonValue


class ExitCode(IntEnum):
    """What a command's exit status means; the outcomes of a run start at 3."""

    OK = 0
    """Done; a run was answered; what was checked is in order."""
    FAILED = 1
    """An error, or what was checked is not in order."""
    USAGE = 2
    """The command line is wrong."""
    NEEDS_INPUT = 3
    """The run waits for a value."""
    NO_TOOL = 4
    """No tool serves the request."""
    RUN_FAILED = 5
    """The run could not be completed."""
    CANCELLED = 6
    """The run was cancelled."""
    LIMIT_REACHED = 7
    """A limit ended the run."""
    NEEDS_APPROVAL = 8
    """A step of the run waits for leave."""
    NEEDS_HUMAN = 9
    """A person has to take over."""
    INTERRUPTED = 130
    """Ctrl-C."""


def output() -> Console:
    """Return the console of standard output; colours only on a terminal and without NO_COLOR."""
    return Console(file=sys.stdout, highlight=False, soft_wrap=True)


def table_output() -> Console:
    """Return the console for tables, which are as wide as the terminal or, elsewhere, as their content needs."""
    console = Console(file=sys.stdout, highlight=False)
    return console if console.is_terminal else Console(file=sys.stdout, highlight=False, width=200)


def messages() -> Console:
    """Return the console of standard error."""
    return Console(file=sys.stderr, highlight=False, soft_wrap=True)


def print_json(value: JsonValue) -> None:
    """Write one value as one line of JSON and hand it on at once, so that a pipe sees it when it happens."""
    from taoloop.core.exact_json import dumps

    sys.stdout.write(dumps(value) + "\n")
    sys.stdout.flush()


def print_error(error: TaoError) -> None:
    """Write an error as one line: its reason, what happened, and what to do."""
    message = _one_line(error.message)
    end = "" if message.endswith((".", "!", "?", "。")) else "."
    line = Text.assemble((f"{error.reason}: ", "bold red"), (message + end, "red"), f" {error.remedy}")
    messages().print(line)


def table(title: str, columns: Sequence[str]) -> Table:
    """Return an empty table in the one style of all commands; cells are `Text`, so that nothing in them is markup."""
    made = Table(title=title or None, title_justify="left", header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def styled(text: object, style: str = "") -> Text:
    """Return text that is shown as it is, whatever brackets it holds; what a terminal would obey becomes escapes."""
    return Text("\n".join(map(visible, str(text).split("\n"))), style)


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))
