"""The group `taoloop tools`: which command is whose."""

from __future__ import annotations

import typer

from taoloop.cli.commands.tools import (
    checking,
    drafting,
    drift,
    from_python,
    listing,
    live,
    lock,
    mocking,
    recording,
)

app = typer.Typer(help="Check, show, pack, play and record tool contracts.", no_args_is_help=True)
app.command("check")(checking.check)
app.command("list")(listing.list_tools)
app.command("show")(listing.show)
app.command("pack")(listing.pack)
app.command("mock")(mocking.mock)
app.command("from-python")(from_python.from_python)
app.command("lock")(lock.lock)
app.command("diff")(lock.diff)
app.command("probe")(live.probe)
app.command("record")(recording.record)
app.command("drift")(drift.drift)
app.command("off")(live.off)
app.command("on")(live.on)
app.add_typer(drafting.app, name="import")
