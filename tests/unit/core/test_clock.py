"""Rules of the machine's clock."""

from datetime import timedelta

from taoloop.core.clock import Clock, SystemClock


async def test_the_system_clock_is_aware_and_never_goes_back() -> None:
    clock: Clock = SystemClock()
    assert clock.now().utcoffset() == timedelta(0)
    before = clock.monotonic()
    await clock.sleep(-1)
    assert clock.monotonic() >= before
