"""Rules of comparing a run with what was expected."""

from __future__ import annotations

import pytest

from taoloop.cli.demo.playing import Part, deviations_of
from taoloop.cli.demo.tasks import Expectation
from taoloop.plan.running import InputRequired
from taoloop.plan.task import InputField, Outcome

ANSWERED = Part(run_id="r", outcome=Outcome.ANSWERED, tools=["a", "b"], answer="0.10 and more", requests={"a": 1})
WANTED = Expectation(outcomes=(Outcome.ANSWERED,), tools=("a", "b"), answer_contains=("0.10",))
ASKING = Part(
    run_id="r",
    outcome=Outcome.NEEDS_INPUT,
    question=InputRequired(input_id="i", fields=(InputField(pointer="/size", tool="a"),)),
)


def test_as_expected_has_no_deviation() -> None:
    assert deviations_of(ANSWERED, WANTED) == []
    assert deviations_of(ASKING, Expectation(outcomes=(Outcome.NEEDS_INPUT,), missing=("size",))) == []


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Expectation(outcomes=(Outcome.NO_TOOL,), tools=("a", "b")), "outcome answered, expected no_tool"),
        (Expectation(outcomes=(Outcome.ANSWERED,), tools=("b", "a")), "tools a, b, expected b, a"),
        (
            Expectation(outcomes=(Outcome.ANSWERED,), tools=("a", "b"), answer_contains=("0.1 ",)),
            "the answer lacks 0.1 ",
        ),
        (Expectation(outcomes=(Outcome.ANSWERED,), tools=("a", "b"), missing=("x",)), "asked for nothing, expected x"),
        (
            Expectation(outcomes=(Outcome.ANSWERED,), tools=("a", "b"), requests={"a": 2, "b": 0}),
            "1 requests to a, expected 2",
        ),
        (Expectation(outcomes=(Outcome.ANSWERED,), tools=("a", "b"), faults=("X",)), "no event tells X"),
    ],
)
def test_each_difference_is_named(wanted: Expectation, said: str) -> None:
    assert deviations_of(ANSWERED, wanted) == [said]
