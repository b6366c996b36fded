"""What a reply's length is estimated from is read off the request."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT
from taoloop.models.ports import ChatMessage, ChatRequest, Role
from taoloop.plan.task import Role as TurnRole
from taoloop.plan.task import Turn
from taoloop.plan.thinking import CompletedStep, ThinkRequest
from taoloop.thought.budgets.model import features_of

ASKED = ChatRequest(messages=(ChatMessage(Role.USER, "hi"),), max_tokens=77, temperature=0.2, attempt=2)


def request(*results: Any, tainted: bool = False) -> ThinkRequest:
    completed = tuple(
        CompletedStep(step_id=f"1.t{number}", tool="find", exposed=result) for number, result in enumerate(results)
    )
    turns = (Turn(role=TurnRole.USER, text="a"), Turn(role=TurnRole.ASSISTANT, text="b"))
    return ThinkRequest(run_id="r", iteration=2, turns=turns, completed=completed, tainted_context=tainted)


def test_the_request_the_sampling_and_the_offer_are_in_the_features() -> None:
    features = features_of(request(tainted=True), ASKED, prompt_tokens=900, tools=9)
    assert (features.prompt_tokens, features.tools, features.max_tokens, features.attempt) == (900, 9, 77, 2)
    assert (features.history_turns, features.has_retrieval, features.temperature) == (2, True, 0.2)


@pytest.mark.parametrize(
    ("result", "depth", "longest"),
    [
        ("plain", 0, 5),
        (12, 0, 0),
        ({}, 1, 0),
        ({"a": "xyz"}, 1, 3),
        ({"a": ["long long", {"b": "x"}]}, 3, 9),
        (["first one", ["x", []]], 3, 9),
        (ABSENT, 0, 0),
    ],
)
def test_depth_and_longest_string_are_those_of_the_results(result: Any, depth: int, longest: int) -> None:
    features = features_of(request(result), ASKED, prompt_tokens=1, tools=1)
    assert (features.result_depth, features.longest_string) == (depth, longest)


def test_the_deepest_and_the_longest_of_several_results_count() -> None:
    features = features_of(request({"a": {"b": 1}}, "a longer text"), ASKED, prompt_tokens=1, tools=1)
    assert (features.result_depth, features.longest_string) == (2, 13)
