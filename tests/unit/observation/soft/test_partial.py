"""A reply in the form of GraphQL that lists errors beside its data is partial: usable, named, and believed less."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import JsonValue
from taoloop.observation.soft.partial import RULE_ID, partial_answer
from taoloop.plan.observing import ObserveRequest
from tests.unit.observation.contracts import bare, observed, observer_of, result_of

ERROR: Any = {"message": "Field 'owner' is not there.", "path": ["repo", "owner"]}
PARTIAL: Any = {"data": {"repo": {"name": "x", "owner": None}}, "errors": [ERROR]}


def test_errors_beside_data_lower_the_confidence_and_the_data_stays() -> None:
    verdict = observed(PARTIAL, bare())

    assert verdict.valid
    assert verdict.data == PARTIAL
    assert verdict.confidence == pytest.approx(0.6 / 0.9)
    (failure,) = verdict.failures
    assert (failure.stage, failure.rule_id, failure.pointer) == ("soft", RULE_ID, "/errors/0/message")
    assert failure.actual == ERROR["message"]
    assert "a part of the data alone" in failure.message


def test_errors_with_null_for_data_say_so() -> None:
    found = partial_answer({"data": None, "errors": [ERROR, ERROR]})
    assert found is not None
    assert "no data: it lists 2 errors" in found.failure.message


def test_a_sound_reply_before_does_not_let_a_partial_one_pass() -> None:
    observer = observer_of(bare())

    def confidence(body: Any) -> float:
        return observer.observe(ObserveRequest(result=result_of(body, tool=bare().name))).confidence

    assert [confidence({"data": {}, "errors": []}) for _ in range(3)] == [1, 1, 1]  # from the second on at once
    assert confidence(PARTIAL) < 1


def test_words_that_surely_tell_of_a_failure_count_once() -> None:
    verdict = observed({"data": {}, "errors": [{"message": "401 Unauthorized"}]}, bare())
    assert [failure.rule_id for failure in verdict.failures] == ["auth_failed"]


@pytest.mark.parametrize(
    "body",
    [
        {"data": {}, "errors": []},
        {"data": {}, "errors": None},
        {"data": {}, "errors": ["x"]},
        {"data": {}, "errors": [{"title": "x"}]},
        {"data": {}, "errors": [ERROR], "code": 0},
        {"errors": [ERROR]},
        {"data": {}},
        [PARTIAL],
        None,
    ],
    ids=repr,
)
def test_another_form_is_left_to_the_contract(body: Any) -> None:
    assert partial_answer(body) is None


@given(
    st.fixed_dictionaries(
        {"data": st.none() | st.integers(), "errors": st.lists(st.none() | st.dictionaries(st.text(), st.text()))}
    )
)
def test_no_body_makes_it_raise(body: JsonValue) -> None:
    partial_answer(body)
