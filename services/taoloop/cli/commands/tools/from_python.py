"""`taoloop tools from-python`: contracts of Python functions, written from their signatures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taoloop.cli.options import JsonOption


def from_python(
    functions: Annotated[list[str], typer.Argument(metavar="PACKAGE.MODULE:FUNCTION…", help="Functions to offer.")],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Directory of the catalogue; none writes nothing.")
    ] = None,
    path: Annotated[Path, typer.Option(help="Where modules are looked for before the installed ones.")] = Path(),
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite contracts that are there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the contract of each function: parameters and response by its annotations, words by its docstring.

    Importing a function runs the code of its module.

    Example: [bold]taoloop tools from-python prices:price_of --path src[/bold]
    """
    import sys

    from taoloop.cli.importing.reporting import finish_import, refuse
    from taoloop.tools.importing.findings import ImportRefused, ImportReport
    from taoloop.tools.importing.python_functions import draft_function

    sys.path.insert(0, str(path.resolve()))
    try:
        drafts = tuple(draft_function(each) for each in functions)
    except ImportRefused as exc:
        raise refuse(exc.findings, as_json=as_json) from exc
    finally:
        sys.path.remove(str(path.resolve()))
    finish_import(ImportReport(drafts=drafts), out, name="python-tools", replace=replace, as_json=as_json)
