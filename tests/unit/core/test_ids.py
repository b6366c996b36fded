"""Rules of ids."""

import uuid
from datetime import UTC, datetime

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.ids import is_id, new_id

MOMENT = datetime(2026, 3, 1, 9, 30, 0, 123_000, tzinfo=UTC)


class _StoppedClock(SystemClock):
    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        return self._moment


@pytest.mark.parametrize("filler", [b"\x00", b"\xff", b"\xa5"])
def test_an_id_is_a_uuid_of_version_7_with_the_clock_and_the_random_bits(filler: bytes) -> None:
    made = uuid.UUID(new_id(_StoppedClock(MOMENT), lambda count: filler * count))
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert made.int >> 80 == int(MOMENT.timestamp() * 1000)
    assert made.int & 0xFF == filler[0]
    assert (made.int >> 64) & 0xFFF == int((filler * 2).hex()[:3], 16)


def test_ids_sort_by_time_and_differ() -> None:
    early = new_id(_StoppedClock(MOMENT))
    late = new_id(_StoppedClock(MOMENT.replace(microsecond=124_000)))
    assert early < late
    assert is_id(early)
    assert new_id(_StoppedClock(MOMENT)) != early


@pytest.mark.parametrize("text", ["", "0" * 31, "0" * 33, "A" * 32, "0" * 32 + "\n", str(uuid.UUID(int=7)), "g" * 32])
def test_other_texts_are_no_ids(text: str) -> None:
    assert not is_id(text)
