"""The first thought about every task of the example catalogue: which tools, in which order, or which question."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from taoloop.core.exact_json import ABSENT
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.task import Permissions, ProvidedInput, Role, Turn
from taoloop.plan.thinking import NeedInput, Refusal, ThinkRequest
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.tools.loading import load_catalogue
from taoloop.tools.signature import Effect

EXAMPLE = Path(__file__).parents[5] / "examples" / "customer-service"


def _tasks() -> list[Any]:
    files = (EXAMPLE / "tasks.yaml", EXAMPLE / "tasks-more.yaml")
    return [task for file in files for task in YAML(typ="safe").load(file.read_text(encoding="utf-8"))["tasks"]]


@pytest.fixture(scope="module")
def example_planner() -> GraphPlanner:
    loaded = load_catalogue(EXAMPLE)
    assert loaded.catalogue is not None, loaded.findings
    return GraphPlanner(loaded.catalogue)


def _request(task: dict[str, Any], iteration: int = 1, inputs: tuple[ProvidedInput, ...] = ()) -> ThinkRequest:
    leave = task["permissions"]
    return ThinkRequest(
        run_id="0" * 32,
        iteration=iteration,
        turns=(Turn(role=Role.USER, text=task["text"]),),
        state=task.get("state", ABSENT),
        reference_time=datetime.fromisoformat(task["reference_time"]),
        time_zone=task["time_zone"],
        locale=task["locale"],
        permissions=Permissions(max_effect=Effect(leave["max_effect"]), allowed_tools=tuple(leave["allowed_tools"])),
        inputs=inputs,
    )


def _tools(outcome: object) -> list[str]:
    return [step.tool for step in outcome.steps] if isinstance(outcome, ThoughtPlan) else []


@pytest.mark.parametrize("task", _tasks(), ids=lambda task: task["id"])
def test_the_first_thought_is_the_expected_one(example_planner: GraphPlanner, task: dict[str, Any]) -> None:
    outcome = example_planner.plan(_request(task)).outcome
    expected = task["expect"]
    planned = expected.get("planned", expected["tools"])
    assert _tools(outcome) == planned
    if "missing" not in expected:
        assert isinstance(outcome, ThoughtPlan if planned else Refusal)
        return
    assert isinstance(outcome, NeedInput)
    assert [field.pointer.removeprefix("/") for field in outcome.fields] == expected["missing"]
    given = ProvidedInput(input_id=outcome.input_id, values=task["then"]["input"])
    resumed = example_planner.plan(_request(task, iteration=2, inputs=(given,))).outcome
    assert _tools(resumed) == task["then"]["expect"]["tools"]
