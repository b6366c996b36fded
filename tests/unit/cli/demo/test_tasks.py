"""Rules of the file of tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from taoloop.cli.demo.tasks import find_tasks, read_tasks
from taoloop.core.errors import InvalidRequest
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.task import Outcome

TASK = """
tasks:
  - id: a
    language: en
    text: "Do it"
    reference_time: "2026-03-10T09:00:00+08:00"
    time_zone: UTC
    locale: en
    permissions: {max_effect: write, allowed_tools: [x]}
    expect: {outcome: [ANSWERED, NO_TOOL], tools: [x], answer_contains: [12]}
"""

TROUBLED = (
    TASK
    + """    upstream: [{tool: x, status: 503, body: {error: away}}, {tool: y, hang: true}]
    kill_worker: true
    then: {decide: rejected, expect: {outcome: FAILED, requests: {x: 0}, faults: [APPROVAL_REJECTED]}}
"""
)


def test_a_task_is_read_with_what_it_expects(tmp_path: Path) -> None:
    path = tmp_path / "tasks.yaml"
    path.write_text(TASK, encoding="utf-8")
    (task,) = read_tasks(path)
    assert (task.task_id, task.task.turns[0].text, task.task.locale) == ("a", "Do it", "en")
    assert task.expect.outcomes == (Outcome.ANSWERED, Outcome.NO_TOOL)
    assert (task.expect.tools, task.expect.answer_contains) == (("x",), ("12",))


def test_trouble_and_a_decision_are_read(tmp_path: Path) -> None:
    path = tmp_path / "tasks.yaml"
    path.write_text(TROUBLED, encoding="utf-8")
    (task,) = read_tasks(path)
    assert [(fault.tool, fault.reply.status, fault.reply.is_hanging) for fault in task.upstream] == [
        ("x", 503, False),
        ("y", 200, True),
    ]
    assert task.upstream[0].reply.body == {"error": "away"}
    assert task.kills_worker
    assert task.then is not None
    assert (task.then.values, task.then.decision) == (None, ApprovalDecision.REJECTED)
    assert (dict(task.then.expect.requests), task.then.expect.faults) == ({"x": 0}, ("APPROVAL_REJECTED",))


@pytest.mark.parametrize("text", ["", "tasks: [{id: a}]", "tasks: {", "tasks: [1]", TASK.replace("NO_TOOL", "MAYBE")])
def test_another_form_is_refused_with_the_path(text: str, tmp_path: Path) -> None:
    path = tmp_path / "tasks.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidRequest, match=r"tasks\.yaml cannot be used"):
        read_tasks(path)


def test_a_given_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="no file of tasks"):
        find_tasks(tmp_path / "tasks.yaml")


def test_without_one_the_example_of_the_checkout_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_tasks(find_tasks(None))
