"""Commands of `taoloop` run on a thread of this process, while what they talk to runs on its event loop."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

from taoloop.cli.main import app
from taoloop.cli.terminal import print_error
from taoloop.core.errors import TaoError


async def command(*arguments: str, **variables: str) -> tuple[int, str, str]:
    """Run one command beside this loop; return its exit code and what it printed to either stream."""
    return await asyncio.to_thread(_run, arguments, variables)


def _run(arguments: Sequence[str], variables: Mapping[str, str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with patch.dict(os.environ, variables), redirect_stdout(out), redirect_stderr(err):
        try:
            app(arguments, prog_name="taoloop")
        except SystemExit as ended:
            return int(ended.code or 0), out.getvalue(), err.getvalue()
        except TaoError as error:
            print_error(error)
            return 1, out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()
