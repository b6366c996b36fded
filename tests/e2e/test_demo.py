"""`taoloop demo` as `make demo` runs it."""

from __future__ import annotations

import re

import psutil

from tests.e2e.processes import json_lines, taoloop


def test_demo_runs_every_task_as_expected_and_leaves_nothing_behind() -> None:
    done = taoloop("demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "17 of 17 tasks as expected" in done.stdout
    assert "is stopped; its data is removed" in done.stdout
    assert "worker killed with the thought in hand" in done.stdout
    assert "another worker makes the thought" in done.stdout
    assert done.stderr == ""
    started = [int(pid) for pid in re.findall(r"pid (\d+)", done.stdout)]
    assert len(started) == 2
    assert not any(psutil.pid_exists(pid) for pid in started)


def test_demo_as_json_lines_shows_every_event_of_every_task() -> None:
    done = taoloop("demo", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = json_lines(done.stdout)
    assert lines[-1]["as_expected"] == lines[-1]["tasks"] == 17
    results = [line["result"] for line in lines if "result" in line]
    assert [result["outcomes"][-1] for result in results].count("ANSWERED") == 11
    events = [line["event"]["body"]["type"] for line in lines if "event" in line]
    assert {"run_started", "thought_made", "step_started", "action_returned", "result_observed", "run_finished"} <= set(
        events
    )


def test_demo_that_differs_from_the_file_fails(tmp_path: object) -> None:
    done = taoloop("demo", "--tasks", "nowhere.yaml")
    assert done.returncode == 1
    assert "INVALID_REQUEST" in done.stderr
    assert "Traceback" not in done.stderr
