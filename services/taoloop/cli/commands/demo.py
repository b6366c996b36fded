"""`taoloop demo`: the whole loop on this machine, shown at work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption
from taoloop.cli.terminal import ExitCode

if TYPE_CHECKING:
    from taoloop.cli.demo.playing import TaskResult


def demo(
    *,
    tasks: Annotated[
        Path | None, typer.Option(help="File of tasks; else examples/customer-service/tasks.yaml of the checkout.")
    ] = None,
    catalogue: Annotated[Path | None, typer.Option(help="The tools; else the directory of the tasks.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Start everything on free ports, run the tasks of a file end to end, compare, and stop everything.

    No GPU, container or key is needed. Exit code 1 when any task differs from
    what the file expects.

    Example: [bold]taoloop demo --json[/bold]
    """
    from taoloop.cli.demo.tasks import find_tasks
    from taoloop.wire.event_loop import run as run_loop

    path = find_tasks(tasks)
    results = run_loop(_play(path, catalogue or path.parent, as_json=as_json))
    is_good = all(not result.deviations for result in results)
    raise typer.Exit(ExitCode.OK if is_good else ExitCode.FAILED)


async def _play(tasks_file: Path, catalogue: Path, *, as_json: bool) -> list[TaskResult]:
    import sys

    from taoloop.cli.demo.playing import Player
    from taoloop.cli.demo.showing import DemoView
    from taoloop.cli.demo.stage import demo_stage
    from taoloop.cli.demo.tasks import read_tasks
    from taoloop.core.clock import SystemClock
    from taoloop.core.logs import configure_logging
    from taoloop.core.settings import GrpcSettings
    from taoloop.wire.clients import loop_client

    configure_logging("critical", sys.stderr)  # what goes wrong in a demonstration is meant to, and is shown
    clock = SystemClock()
    tasks = read_tasks(tasks_file)
    view = DemoView(as_json=as_json)
    started = clock.monotonic()
    results: list[TaskResult] = []
    async with demo_stage(catalogue, clock) as stage:
        view.started(stage)
        async with loop_client(stage.stack.loop_address, GrpcSettings(), stage.stack.telemetry) as client:
            player = Player(client, stage, clock)
            for task in tasks:
                results.append(await player.play(task, view.task(task)))  # noqa: PERF401 - shown one by one
        view.finished(results)
    view.stopped(results, clock.monotonic() - started)
    return results
