"""Options that several commands have, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, one value a line, instead of text.")]
VerboseOption = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show each step's exact input and output, and all else that an event holds."),
]
LoopAddress = Annotated[
    str | None,
    typer.Option("--address", help="Where the loop service is; else TAOLOOP_LOOP_ADDRESS, else 127.0.0.1:7701."),
]
ActionAddress = Annotated[
    str | None,
    typer.Option("--address", help="Where the action service is; else TAOLOOP_ACTION_ADDRESS, else 127.0.0.1:7702."),
]
Tenant = Annotated[str | None, typer.Option(help="Whose runs; else TAOLOOP_TENANT, else `default`.")]
DeadlineSeconds = Annotated[
    float, typer.Option("--deadline", min=0.001, max=86_400, help="How long the whole call may take, in seconds.")
]
CatalogueArgument = Annotated[
    Path, typer.Argument(metavar="CATALOGUE", help="Directory with catalogue.yaml, that file, or a bundle.")
]
CatalogueOption = Annotated[
    Path, typer.Option("--catalogue", help="Directory with catalogue.yaml, that file, or a bundle.")
]
