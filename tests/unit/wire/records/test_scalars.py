"""Single values cross exactly or not at all."""

from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from taoloop.api.v1 import types_pb2
from taoloop.tools.signature import Effect
from taoloop.wire.records import scalars

_NANOS = 1_000_000_000
# Below 2**22 seconds a float tells nanoseconds apart.
_EXACT_NANOS = (1 << 22) * _NANOS


@given(st.integers(min_value=-_EXACT_NANOS, max_value=_EXACT_NANOS))
def test_durations_are_exact_to_the_nanosecond(nanoseconds: int) -> None:
    sign = -1 if nanoseconds < 0 else 1
    seconds, nanos = divmod(abs(nanoseconds), _NANOS)
    duration = Duration(seconds=sign * seconds, nanos=sign * nanos)
    assert Duration(**scalars.duration_fields(scalars.duration_seconds(duration))) == duration


@given(st.floats(min_value=-1e11, max_value=1e11))
def test_every_duration_written_is_valid(seconds: float) -> None:
    written = scalars.duration_fields(seconds)
    assert abs(written["nanos"]) < _NANOS
    assert written["seconds"] * written["nanos"] >= 0
    assert scalars.duration_seconds(Duration(**written)) == pytest.approx(seconds, abs=1e-9)


def test_fraction_that_rounds_up_carries() -> None:
    assert scalars.duration_fields(1.9999999999) == {"seconds": 2, "nanos": 0}
    assert scalars.duration_fields(-1.9999999999) == {"seconds": -2, "nanos": 0}


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -float("inf"), 4e11])
def test_duration_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="duration"):
        scalars.duration_fields(seconds)


@pytest.mark.parametrize("duration", [Duration(seconds=1, nanos=-1), Duration(nanos=_NANOS), Duration(seconds=1 << 40)])
def test_duration_with_impossible_members_is_refused(duration: Duration) -> None:
    with pytest.raises(ValueError, match="not a valid duration"):
        scalars.duration_seconds(duration)


@given(st.datetimes(timezones=st.timezones()))
def test_timestamps_are_exact_to_the_microsecond(moment: datetime) -> None:
    try:
        expected = moment.astimezone(UTC)
    except OverflowError:  # the first and the last day of the calendar
        return
    read = scalars.timestamp_moment(Timestamp(**scalars.timestamp_fields(moment)))
    assert read == expected
    assert read.tzinfo is UTC


def test_offset_does_not_change_the_moment() -> None:
    beijing = datetime(2026, 3, 1, 8, 0, tzinfo=timezone(timedelta(hours=8)))
    assert scalars.timestamp_fields(beijing) == scalars.timestamp_fields(datetime(2026, 3, 1, tzinfo=UTC))


def test_moment_without_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a time zone"):
        scalars.timestamp_fields(datetime(2026, 3, 1))  # noqa: DTZ001 - the point of the test


@pytest.mark.parametrize("timestamp", [Timestamp(nanos=-1), Timestamp(nanos=_NANOS), Timestamp(seconds=1 << 60)])
def test_timestamp_outside_of_the_calendar_is_refused(timestamp: Timestamp) -> None:
    with pytest.raises(ValueError, match="is not a"):
        scalars.timestamp_moment(timestamp)


def test_enum_values_correspond_by_name() -> None:
    numbers = scalars.enum_numbers(Effect, types_pb2.Effect.DESCRIPTOR)
    assert numbers[Effect.IDEMPOTENT_WRITE] == types_pb2.EFFECT_IDEMPOTENT_WRITE


def test_enum_that_lacks_a_value_is_refused() -> None:
    class Short(StrEnum):
        READ = "read"

    with pytest.raises(TypeError, match="does not have the values"):
        scalars.enum_numbers(Short, types_pb2.Effect.DESCRIPTOR)
