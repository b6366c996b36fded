"""What a task must be to be run, and what is filled in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taoloop.core.errors import InvalidRequest
from taoloop.loop.acceptance import MAX_TURN_CHARACTERS, accept
from taoloop.loop.limits import RunLimits
from taoloop.plan.task import Limits, Permissions, Role, Task, Turn
from taoloop.testing.clock import FakeClock
from taoloop.tools.signature import Effect

LIMITS = RunLimits(
    max_iterations=5, max_wall_time_seconds=30.0, max_tokens=1000, max_calls_per_tool=10, max_result_bytes=10_000
)
ASK = Turn(role=Role.USER, text="where is my order")
CLOCK = FakeClock()


def accepted(task: Task | None) -> Task:
    return accept(task, LIMITS, CLOCK, "f" * 32)


def test_defaults_are_filled_in() -> None:
    task = accepted(Task(turns=(ASK,)))

    assert (task.request_id, task.time_zone, task.locale, task.state) == ("f" * 32, "UTC", "en", {})
    assert task.permissions == Permissions(max_effect=Effect.READ)
    assert task.reference_time == CLOCK.now()
    assert task.limits == LIMITS.as_record()


def test_names_of_any_script_are_taken() -> None:
    task = Task(turns=(ASK,), session_id="会话 1", user_id="anna@example.com", business_line="hr_2-b")

    assert accepted(task).user_id == "anna@example.com"


def test_turns_are_stored_without_marks_that_nobody_sees() -> None:
    said = (Turn(role=Role.ASSISTANT, text="Which\u2028order?"), Turn(role=Role.USER, text="A\u200b-17\u202e"))

    assert [turn.text for turn in accepted(Task(turns=said)).turns] == ["Which\norder?", "A-17"]


def test_the_script_of_the_request_decides_the_language_where_the_caller_does_not() -> None:
    assert accepted(Task(turns=(Turn(role=Role.USER, text="查 order 1"),))).locale == "zh"


def test_a_limit_below_zero_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidRequest) as refused:
        accepted(Task(turns=(ASK,), limits=Limits(max_iterations=-5, max_wall_time_seconds=-0.5)))

    assert [each.field for each in refused.value.violations] == [
        "task.limits.max_iterations",
        "task.limits.max_wall_time",
    ]
    assert "-5" in str(refused.value)


def test_limits_are_cut_to_what_the_service_allows() -> None:
    wanted = Limits(max_iterations=99, max_wall_time_seconds=1.0, max_calls_per_tool=0)

    limits = accepted(Task(turns=(ASK,), limits=wanted)).limits

    assert limits is not None
    assert (limits.max_iterations, limits.max_wall_time_seconds, limits.max_calls_per_tool) == (5, 1.0, 10)


@pytest.mark.parametrize(
    ("task", "field"),
    [
        (None, "task"),
        (Task(), "task.turns"),
        (Task(turns=(ASK, Turn(role=Role.ASSISTANT, text="hm"))), "task.turns[1].role"),
        (Task(turns=(ASK,), session_id="s" * 129), "task.session_id"),
        (Task(turns=(ASK,), session_id="s\0"), "task.session_id"),
        (Task(turns=(ASK,), user_id="anna\n"), "task.user_id"),
        (Task(turns=(ASK,), business_line="Sales"), "task.business_line"),
        (Task(turns=(ASK,), business_line="a" * 65), "task.business_line"),
        (Task(turns=(ASK,) * 101), "task.turns"),
        (Task(turns=(Turn(role=Role.USER, text="x" * (MAX_TURN_CHARACTERS + 1)),)), "task.turns[0].text"),
        (Task(turns=(ASK,), request_id="a b"), "task.request_id"),
        (Task(turns=(ASK,), request_id="x" * 129), "task.request_id"),
        (Task(turns=(ASK,), request_id="订单"), "task.request_id"),
        (Task(turns=(ASK,), state=[1]), "task.state_json"),
        (Task(turns=(ASK,), time_zone="Mars/Olympus"), "task.time_zone"),
        (Task(turns=(ASK,), time_zone="../etc/passwd"), "task.time_zone"),
        (Task(turns=(ASK,), locale="no such tag"), "task.locale"),
        (Task(turns=(ASK,), output_schema=5), "task.output_schema_json"),
        (Task(turns=(ASK,), output_schema={"type": "no-such-type"}), "task.output_schema_json"),
    ],
)
def test_a_field_at_fault_is_named(task: Task | None, field: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        accepted(task)

    assert [violation.field for violation in refused.value.violations] == [field]


def test_all_faults_come_at_once() -> None:
    with pytest.raises(InvalidRequest) as refused:
        accepted(replace(Task(), request_id="a b", time_zone="x", locale="!"))

    assert len(refused.value.violations) == 4
