"""The answer to a run's question: taken when it fits, refused by name when it does not."""

from __future__ import annotations

import pytest

from taoloop.core.errors import InvalidRequest, NotWaiting
from taoloop.core.exact_json import Json
from taoloop.loop.people.inputs import accept_input, find_repeat
from taoloop.loop.people.waits import Waits
from taoloop.loop.state import RunState
from taoloop.plan.running import InputRequired, ProvideInputRequest
from taoloop.plan.task import InputField, ProvidedInput

ASKED = "a" * 32
QUESTION = InputRequired(
    input_id=ASKED,
    fields=(
        InputField(pointer="/order_id", tool="track", schema={"type": "string", "minLength": 12}),
        InputField(pointer="/address/city", tool="track", schema={"type": "string"}),
    ),
)


def waiting() -> RunState:
    return RunState("1" * 32, question=QUESTION, last_sequence=3)


def answered(taken: ProvidedInput) -> RunState:
    """Return a run that took an answer by its fifth event, and has done more since."""
    return RunState("1" * 32, inputs=(taken,), waits=Waits(said_at={ASKED: 5}), last_sequence=7)


def given(values: Json, input_id: str = ASKED) -> ProvideInputRequest:
    return ProvideInputRequest(run_id="1" * 32, input=ProvidedInput(input_id=input_id, values=values))


@pytest.mark.parametrize(
    "values",
    [
        {"order_id": "123456789012", "city": "北京"},
        {"/order_id": "123456789012", "/address/city": "北京"},
    ],
)
def test_values_are_placed_where_the_arguments_have_them(values: Json) -> None:
    taken = accept_input(waiting(), given(values))

    assert taken.values == {"order_id": "123456789012", "address": {"city": "北京"}}


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ([], ["input.values_json"]),
        ({}, ["input.values_json/order_id", "input.values_json/address/city"]),
        ({"order_id": "short", "city": "x"}, ["input.values_json/order_id"]),
        ({"order_id": "123456789012", "city": "x", "extra": 1}, ["input.values_json/extra"]),
        ({"order_id": 5, "city": 6}, ["input.values_json/order_id", "input.values_json/address/city"]),
    ],
)
def test_every_value_at_fault_is_named(values: Json, fields: list[str]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        accept_input(waiting(), given(values))

    assert [violation.field for violation in refused.value.violations] == fields


def test_an_answer_to_no_question_is_refused() -> None:
    with pytest.raises(NotWaiting):
        accept_input(RunState("1" * 32), given({}))


def test_an_answer_to_another_question_is_refused_and_names_the_open_one() -> None:
    with pytest.raises(NotWaiting, match=ASKED):
        accept_input(waiting(), given({}, input_id="b" * 32))


def test_the_same_answer_again_is_a_repeat() -> None:
    taken = ProvidedInput(input_id=ASKED, values={"order_id": "123456789012", "address": {"city": "x"}})
    state = answered(taken)

    assert find_repeat(state, given({"/order_id": "123456789012", "/address/city": "x"})) == 5
    assert find_repeat(state, given({"/order_id": "999999999999", "/address/city": "x"})) is None


def test_an_answer_is_kept_without_marks_that_nobody_sees_and_its_repeat_is_known() -> None:
    dirty = given({"/order_id": "1234\u200b56789012\u202e", "/address/city": "北京"})
    taken = accept_input(waiting(), dirty)

    assert taken.values == {"order_id": "123456789012", "address": {"city": "北京"}}
    assert find_repeat(answered(taken), dirty) == 5
