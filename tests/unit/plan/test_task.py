"""What thoughts consume adds up."""

from __future__ import annotations

from taoloop.plan.task import Usage


def test_what_two_consumed_is_added_part_by_part() -> None:
    one = Usage(input_tokens=1, output_tokens=2, model_calls=3, tool_calls=4, iterations=5, cached_input_tokens=6)
    other = Usage(
        input_tokens=10, output_tokens=20, model_calls=30, tool_calls=40, iterations=50, cached_input_tokens=60
    )

    assert one.plus(other) == Usage(
        input_tokens=11, output_tokens=22, model_calls=33, tool_calls=44, iterations=55, cached_input_tokens=66
    )


def test_no_time_and_some_time_is_some_time() -> None:
    some = Usage(model_time_seconds=1.5)

    assert Usage().plus(Usage()).model_time_seconds is None
    assert Usage().plus(some).model_time_seconds == some.plus(Usage()).model_time_seconds == 1.5
    assert some.plus(some).model_time_seconds == 3.0
