"""`taoloop demo` as `make demo` runs it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import psutil

from tests.e2e.processes import CATALOGUE, json_lines, taoloop

_BETWEEN_TASKS: Final = "\n  - id: "
_README: Final = CATALOGUE.parent.parent / "README.md"


def rows(text: str) -> list[list[str]]:
    """Return a table's rows: task, what went wrong, what was done, outcome; wrapped lines are joined."""
    found: list[list[str]] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("│")[1:5]]
        if len(cells) == 4 and cells[0]:
            found.append(cells)
        elif len(cells) == 4:
            found[-1] = [f"{above} {cell}".strip() for above, cell in zip(found[-1], cells, strict=True)]
    return found


def test_demo_runs_every_task_as_expected_and_leaves_nothing_behind() -> None:
    done = taoloop("demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "17 of 17 tasks as expected" in done.stdout
    assert "is stopped; its data is removed" in done.stdout
    assert "worker killed with the thought in hand" in done.stdout
    assert "another worker makes the thought" in done.stdout
    assert done.stderr == ""
    shown = rows(_README.read_text())[1:]  # the first is the heading
    assert len(shown) == 10
    assert [row for row in shown if row not in rows(done.stdout)] == []
    started = [int(pid) for pid in re.findall(r"pid (\d+)", done.stdout)]
    assert len(started) == 2
    assert not any(psutil.pid_exists(pid) for pid in started)


def test_demo_as_json_lines_shows_every_event_of_every_task(tmp_path: Path) -> None:
    tasks = (CATALOGUE / "tasks.yaml").read_text().split(_BETWEEN_TASKS)
    few = tmp_path / "tasks.yaml"
    few.write_text(_BETWEEN_TASKS.join(tasks[:5]))  # what stands before the first, and four
    done = taoloop("demo", "--tasks", str(few), "--catalogue", str(CATALOGUE), "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = json_lines(done.stdout)
    assert lines[-1]["as_expected"] == lines[-1]["tasks"] == 4
    results = [line["result"] for line in lines if "result" in line]
    assert [result["outcomes"][-1] for result in results].count("ANSWERED") == 4
    events = [line["event"]["body"]["type"] for line in lines if "event" in line]
    assert {"run_started", "thought_made", "step_started", "action_returned", "result_observed", "run_finished"} <= set(
        events
    )


def test_demo_that_differs_from_the_file_fails() -> None:
    done = taoloop("demo", "--tasks", "nowhere.yaml")
    assert done.returncode == 1
    assert "INVALID_REQUEST" in done.stderr
    assert "Traceback" not in done.stderr
