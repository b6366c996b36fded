"""A process runs on uvloop."""

import asyncio

from taoloop.wire.event_loop import run


def test_main_runs_on_uvloop_and_gives_its_result() -> None:
    async def main() -> str:
        return type(asyncio.get_running_loop()).__module__

    assert run(main()).startswith("uvloop")
