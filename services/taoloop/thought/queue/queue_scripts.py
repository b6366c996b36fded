"""The queue's scripts, each read once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from taoloop.wire.redis.script_batch import Script


@cache
def queue_script(name: str) -> Script:
    """Return one of the queue's scripts by the name of its file."""
    return Script(files("taoloop.thought.queue").joinpath("scripts", f"{name}.lua").read_text(encoding="utf-8"))
