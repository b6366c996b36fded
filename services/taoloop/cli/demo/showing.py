"""What a demonstration shows: each task as it happens, a closing table, and that nothing is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from taoloop.cli.demo.playing import TaskResult
from taoloop.cli.demo.stage import DemoStage
from taoloop.cli.demo.tasks import DemoTask
from taoloop.cli.records import record_json
from taoloop.cli.run_view import RunView
from taoloop.cli.terminal import output, print_json, styled, table, table_output
from taoloop.plan.running import RunEvent


class DemoView:
    """Shows a demonstration to a person, or to a program as JSON lines.

    Args:
        as_json: Whether a program reads.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._console = output()

    def started(self, stage: DemoStage) -> None:
        """Say what runs and where."""
        stack = stage.stack
        assert stack.mock is not None
        parts = {
            "Valkey": f"{stack.valkey.url} (pid {stack.valkey.pid})",
            "mock tools": stack.mock.base_url,
            "action": stack.action_address,
            "observation": stack.observation_address,
            "thought, loop": stack.loop_address,
            "thought worker": f"a process of its own (pid {stage.worker.pid})",
        }
        if self._as_json:
            print_json({"started": dict(parts)})
            return
        self._console.print(styled("Started on this machine:", "bold"))
        for name, address in parts.items():
            self._console.print(styled(f"  {name:<23}{address}"))

    def task(self, demo_task: DemoTask) -> Callable[[RunEvent], None]:
        """Announce a task; return what shows its events."""
        if self._as_json:
            return lambda event: print_json({"task": demo_task.task_id, "event": record_json(event)})
        self._console.print()
        self._console.print(styled(f"{demo_task.task_id}: {demo_task.task.turns[-1].text}", "bold"))
        return RunView(self._console, "  ").show

    def finished(self, results: Sequence[TaskResult]) -> None:
        """Show what came of every task."""
        if self._as_json:
            for result in results:
                print_json({"task": result.task_id, "result": record_json(result)})
            return
        shown = table("", ("task", "what went wrong upstream", "what the loop did", "outcome", "ms", "as expected"))
        for result in results:
            as_expected = styled("yes", "green") if not result.deviations else styled("no", "bold red")
            cells = (
                result.task_id,
                "; ".join(result.went_wrong) or "nothing",
                "; ".join(result.was_done) or _plain(result),
                " then ".join(result.outcomes),
                f"{result.seconds * 1000:.0f}",
            )
            shown.add_row(*(styled(cell) for cell in cells), as_expected)
        self._console.print()
        table_output().print(shown)
        for result in results:
            for deviation in result.deviations:
                self._console.print(styled(f"{result.task_id}: {deviation}", "red"))

    def stopped(self, results: Sequence[TaskResult], seconds: float) -> None:
        """Say that everything is stopped, and whether all went as expected."""
        good = sum(not result.deviations for result in results)
        if self._as_json:
            print_json({"tasks": len(results), "as_expected": good, "seconds": round(seconds, 3), "stopped": True})
            return
        self._console.print(
            styled(
                f"{good} of {len(results)} tasks as expected in {seconds:.1f} s. Everything that was started (Valkey, "
                "mock tools, action, observation, thought, worker, loop) is stopped; its data is removed.",
                "green" if good == len(results) else "red",
            )
        )


def _plain(result: TaskResult) -> str:
    """Return what the loop did where nothing needed a reaction."""
    return f"calls {', '.join(result.tools)}" if result.tools else "calls nothing"
