"""The records that the planner writes, and the sentences that people read."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.plan.model import ThoughtPlan
from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.thought.planners.graph.calls import wording
from taoloop.thought.planners.graph.calls.model import Missing
from taoloop.thought.planners.graph.index import PlannerIndex
from taoloop.thought.planners.graph.records import input_id
from taoloop.tools.catalogue import Catalogue


def test_a_question_is_named_by_run_thought_tool_and_parameter() -> None:
    name = input_id("r", 1, "tool", "/a")
    assert name == input_id("r", 1, "tool", "/a")
    others = {input_id("s", 1, "tool", "/a"), input_id("r", 2, "tool", "/a"), input_id("r", 1, "tool", "/b")}
    assert name not in others
    assert len(others) == 3


def test_a_writing_step_waits_for_what_the_user_named_before_it(planner: GraphPlanner, ask: Any) -> None:
    text = 'When does the North branch open tomorrow? Send the note "hi" to ann@example.org'
    outcome = planner.plan(ask(text)).outcome
    assert isinstance(outcome, ThoughtPlan)
    assert [(step.tool, step.depends_on) for step in outcome.steps] == [
        ("opening_hours", ()),
        ("notify_reader", ("1.t1",)),
    ]


@pytest.mark.parametrize("reason", list(InputReason))
@pytest.mark.parametrize("is_chinese", [True, False])
def test_each_question_names_its_parameter(catalogue: Catalogue, reason: InputReason, is_chinese: bool) -> None:
    tool = PlannerIndex(catalogue.signatures()).get("list_loans")
    assert tool is not None
    question = wording.question(Missing(tool, tool.slots[0], reason), is_chinese=is_chinese)
    assert "reader_id" in question
    assert "RD-10442" not in question  # an example is no answer


def test_the_question_is_put_in_the_language_of_the_request(planner: GraphPlanner, ask: Any) -> None:
    chinese = planner.plan(ask("上个月借了哪些书？")).outcome
    english = planner.plan(ask("Which books were borrowed last month?", locale="en-GB")).outcome
    assert chinese.fields[0].question.startswith("请提供")  # type: ignore[union-attr]  # both are questions
    assert english.fields[0].question.startswith("Please give")  # type: ignore[union-attr]
