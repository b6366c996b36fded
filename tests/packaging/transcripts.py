"""Transcripts in pages: blocks of `console` whose commands of taoloop are run, and whose output is what they print.

`python -m tests.packaging.transcripts` writes the output of every such block anew.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from taoloop.cli.main import main as taoloop
from tests.packaging import checkout

PAGES = (checkout.ROOT / "docs" / "observing.md",)
_BLOCK = re.compile(
    r"^```console\n(?P<command>\$ (?:[^\n]*\\\n)*[^\n]*\n)(?P<output>.*?)^```", re.MULTILINE | re.DOTALL
)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Yield command and output of every transcript of a page."""
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield found["command"], found["output"]


def printed(command: str) -> str:
    """Run a command of taoloop in this process, in the checkout, and return what it prints on standard output."""
    words = shlex.split(command.removeprefix("$ ").replace("\\\n", " "))
    out = io.StringIO()
    before = Path.cwd()
    os.chdir(checkout.ROOT)
    try:
        with (
            mock.patch.object(sys, "argv", words),
            mock.patch.dict(os.environ, {"COLUMNS": "200", "NO_COLOR": "1"}),
            contextlib.redirect_stdout(out),
            contextlib.suppress(SystemExit),
        ):
            taoloop()
    finally:
        os.chdir(before)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def written_anew(text: str) -> str:
    """Return a page with the output of every transcript as it is now."""
    return _BLOCK.sub(lambda found: f"```console\n{found['command']}{printed(found['command'])}```", text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(written_anew(page.read_text(encoding="utf-8")), encoding="utf-8")
