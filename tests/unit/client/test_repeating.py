"""When a call is made again, after which pause, and when it is given up."""

from random import Random

import pytest
from prometheus_client import CollectorRegistry

from taoloop.client.repeating import Pauses, Repeats
from taoloop.core import errors
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import TaoError
from taoloop.core.telemetry import Metrics
from taoloop.testing.clock import FakeClock

PAUSES = Pauses(first_seconds=0.1, longest_seconds=2.0)


class Ground:
    """A clock that does not wait, and calls that fail as told."""

    def __init__(self) -> None:
        self.clock = FakeClock(is_impatient=True)
        self.registry = CollectorRegistry()
        self.repeats = Repeats(PAUSES, Metrics(self.registry), self.clock, Random(7))
        self.calls = 0

    async def call(self, *failures: TaoError, seconds: float = 60.0) -> str:
        waiting = list(failures)

        async def once() -> str:
            self.calls += 1
            if waiting:
                raise waiting.pop(0)
            return "answered"

        return await self.repeats.until_answered("Submit", once, Deadline.after(seconds, self.clock))


def away(retry_after_seconds: float | None = None) -> errors.BackendUnavailable:
    return errors.BackendUnavailable("away", retry_after_seconds=retry_after_seconds)


@pytest.mark.parametrize(
    "error",
    [
        away(),
        away(1.0),
        errors.RunConflict("faster"),
        errors.QueueFull("full", retry_after_seconds=1.0),
        errors.TooManyRuns("full", retry_after_seconds=1.0),
        errors.BudgetExhausted("spent", retry_after_seconds=1.0),
    ],
    ids=repr,
)
async def test_call_that_may_succeed_later_is_made_again(error: TaoError) -> None:
    ground = Ground()
    assert await ground.call(error, error) == "answered"
    assert ground.calls == 3
    labels = {"rpc": "Submit", "reason": error.reason}
    assert ground.registry.get_sample_value("taoloop_client_repeats_total", labels) == 2


@pytest.mark.parametrize(
    "error",
    [
        errors.DeadlineExceeded("late", retry_after_seconds=1.0),
        errors.InvalidRequest("wrong"),
        errors.MessageTooLarge("big", retry_after_seconds=1.0),
        errors.QueueFull("full, and nobody says for how long"),
        errors.BudgetExhausted("spent"),
        errors.NotWaiting("nothing is asked"),
        errors.UnknownRun.of("r"),
        errors.InternalError("broken"),
    ],
    ids=repr,
)
async def test_call_that_would_fail_again_is_not_repeated(error: TaoError) -> None:
    ground = Ground()
    with pytest.raises(type(error)) as caught:
        await ground.call(error)
    assert caught.value is error
    assert ground.calls == 1


async def test_server_is_left_alone_for_as_long_as_it_asks() -> None:
    for seed in range(50):
        ground = Ground()
        ground.repeats = Repeats(PAUSES, Metrics(), ground.clock, Random(seed))
        await ground.call(errors.QueueFull("full", retry_after_seconds=5.0))
        assert 5.0 <= ground.clock.monotonic() <= 6.0


async def test_pauses_double_up_to_the_longest() -> None:
    ground = Ground()
    longest = [0.0] * 12
    for seed in range(200):
        repeats = Repeats(PAUSES, Metrics(), ground.clock, Random(seed))
        for failures in range(1, 13):
            before = ground.clock.monotonic()
            await repeats.wait("Watch", away(), failures, Deadline.after(60.0, ground.clock))
            longest[failures - 1] = max(longest[failures - 1], ground.clock.monotonic() - before)
    for failures, seconds in enumerate(longest, 1):
        bound = min(0.1 * 2 ** (failures - 1), 2.0)
        assert 0.9 * bound < seconds <= bound


async def test_call_is_not_repeated_when_the_pause_would_outlast_its_time() -> None:
    ground = Ground()
    with pytest.raises(errors.QueueFull):
        await ground.call(errors.QueueFull("full", retry_after_seconds=5.0), seconds=4.0)
    assert ground.calls == 1
    assert ground.clock.monotonic() == 0.0


async def test_service_that_stays_away_is_reported_as_such_when_the_time_is_over() -> None:
    ground = Ground()
    with pytest.raises(errors.BackendUnavailable):
        await ground.call(*[away()] * 1000, seconds=10.0)
    assert 5 < ground.calls < 100
    assert ground.clock.monotonic() <= 10.0
