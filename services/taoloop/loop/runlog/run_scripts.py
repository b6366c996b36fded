"""The scripts of the run log and of the leases, each read once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from taoloop.wire.redis.script_batch import Script


@cache
def run_script(name: str) -> Script:
    """Return one of the scripts by the name of its file."""
    return Script(files("taoloop.loop.runlog").joinpath("scripts", f"{name}.lua").read_text(encoding="utf-8"))
