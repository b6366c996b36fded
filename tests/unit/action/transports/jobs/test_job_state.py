"""Rules of reading what a tool says about a job."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.action.transports.jobs.job_state import (
    LONGEST_ID,
    Created,
    JobProtocolError,
    read_created,
    read_queried,
    read_result,
)
from taoloop.core.exact_json import JsonValue
from taoloop.tools.contract import JobState
from tests.unit.action.transports.jobs.job_contracts import FORM, created, queried


def test_creation_and_query_are_read_at_their_own_places() -> None:
    assert read_created(FORM, created("j-1", "pending")) == Created("j-1", JobState.PENDING)
    assert read_queried(FORM, queried("running"), "j-1", JobState.PENDING) is JobState.RUNNING


def test_the_shape_of_the_creation_is_no_answer_to_a_query() -> None:
    with pytest.raises(JobProtocolError):
        read_queried(FORM, created(), "j-1", JobState.PENDING)
    with pytest.raises(JobProtocolError):
        read_created(FORM, queried())


@pytest.mark.parametrize(
    ("word", "state"),
    [("pending", JobState.PENDING), ("processing", JobState.RUNNING), (1, JobState.RUNNING), (0, JobState.PENDING)],
)
def test_each_word_of_the_contract_stands_for_its_state(word: JsonValue, state: JobState) -> None:
    assert read_queried(FORM, queried(word), "j-1", JobState.PENDING) is state


@pytest.mark.parametrize(
    "word", ["", " ", None, "Running", "done", "1", True, False, Decimal("1.0"), 2, [], {}, ["running"]]
)
def test_another_word_is_a_fault_at_once(word: JsonValue) -> None:
    with pytest.raises(JobProtocolError, match="none that the contract knows"):
        read_queried(FORM, queried(word), "j-1", JobState.PENDING)


@pytest.mark.parametrize("body", [None, [], "running", 1, {}, {"data": None}, {"data": {}}, {"status": "running"}])
def test_a_missing_field_is_a_fault_at_once(body: JsonValue) -> None:
    with pytest.raises(JobProtocolError):
        read_queried(FORM, body, "j-1", JobState.PENDING)
    with pytest.raises(JobProtocolError):
        read_created(FORM, body)


@pytest.mark.parametrize("job_id", ["", "  ", None, True, Decimal("1.5"), [], {}, "x" * (LONGEST_ID + 1)])
def test_an_id_is_a_text_or_an_integer(job_id: JsonValue) -> None:
    with pytest.raises(JobProtocolError):
        read_created(FORM, created(job_id))


def test_an_integer_id_is_kept_exactly() -> None:
    assert read_created(FORM, created(20260310000000001)).job_id == "20260310000000001"
    assert read_queried(FORM, queried(job_id=7), "7", JobState.PENDING) is JobState.RUNNING


def test_a_creation_without_a_declared_state_is_pending() -> None:
    form = replace(FORM, created_status=None)
    assert read_created(form, {"data": {"task": {"id": "a"}}}) == Created("a", JobState.PENDING)


def test_an_answer_about_another_job_is_a_fault() -> None:
    with pytest.raises(JobProtocolError, match="another job"):
        read_queried(FORM, queried(job_id="j-2"), "j-1", JobState.PENDING)
    assert read_queried(replace(FORM, queried_id=None), queried(job_id="j-2"), "j-1", JobState.PENDING)


def test_a_job_may_go_back_to_the_queue_and_what_is_over_stays_over() -> None:
    assert read_queried(FORM, queried("pending"), "j-1", JobState.RUNNING) is JobState.PENDING
    assert read_queried(FORM, queried("succeeded"), "j-1", JobState.SUCCEEDED) is JobState.SUCCEEDED
    with pytest.raises(JobProtocolError, match="was succeeded and is said to be running"):
        read_queried(FORM, queried("running"), "j-1", JobState.SUCCEEDED)


def test_the_result_is_read_at_its_place() -> None:
    assert read_result(FORM, queried("succeeded", result={"n": 3})) == {"n": 3}
    assert read_result(replace(FORM, result=""), {"n": 3}) == {"n": 3}
    with pytest.raises(JobProtocolError, match="no result"):
        read_result(FORM, queried("succeeded"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["data", "task", "id", "status"]), inner)
    ),
    max_leaves=10,
)


@given(JSON)
def test_any_value_is_a_reading_or_a_protocol_fault(body: JsonValue) -> None:
    for read in (lambda: read_created(FORM, body), lambda: read_queried(FORM, body, "j-1", JobState.RUNNING)):
        with contextlib.suppress(JobProtocolError):
            assert read() is not None
