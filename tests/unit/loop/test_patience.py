"""How long a service that is away or full is borne with."""

from __future__ import annotations

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import (
    BackendUnavailable,
    BudgetExhausted,
    InvalidRequest,
    MessageTooLarge,
    QueueFull,
    TaoError,
    TooManyCalls,
)
from taoloop.loop.patience import Patience
from taoloop.testing.clock import FakeClock


class Service:
    """Answers in turn: an error is raised."""

    def __init__(self, *answers: TaoError | str) -> None:
        self.answers = list(answers)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        answer = self.answers.pop(0)
        if isinstance(answer, TaoError):
            raise answer
        return answer


async def asked(service: Service, seconds: float = 10.0, told: list[float] | None = None) -> tuple[str, float]:
    """Return the answer and the seconds that it took, with the longest waits that chance could draw."""
    clock = FakeClock(is_impatient=True)

    async def tell(_: TaoError, wait: float) -> None:
        if told is not None:
            told.append(wait)

    patience = Patience(clock=clock, between=lambda low, high: high)
    answer = await patience.with_service(service, Deadline.after(seconds, clock), tell)
    return answer, clock.monotonic()


async def test_a_service_that_is_away_is_asked_again_with_growing_pauses() -> None:
    away = BackendUnavailable("away")
    answer, seconds = await asked(Service(away, away, away, away, away, "here"))
    assert (answer, round(seconds, 6)) == ("here", 0.1 + 0.2 + 0.4 + 0.8 + 1.0)


@pytest.mark.parametrize(
    "full",
    [
        QueueFull("full", retry_after_seconds=2.0),
        TooManyCalls("full", retry_after_seconds=2.0),
        BudgetExhausted("spent", retry_after_seconds=2.0),
    ],
)
async def test_a_service_that_says_when_is_asked_then_and_the_wait_is_told(full: TaoError) -> None:
    told: list[float] = []
    answer, seconds = await asked(Service(full, "here"), told=told)
    assert (answer, round(seconds, 6)) == ("here", 2.2)
    assert told == [seconds]


async def test_a_wait_that_would_outlast_the_time_is_not_begun() -> None:
    service = Service(QueueFull("full", retry_after_seconds=2.0))
    with pytest.raises(QueueFull):
        await asked(service, seconds=2.0)
    assert service.calls == 1


async def test_a_service_that_stays_away_is_given_up_within_the_time() -> None:
    service = Service(*[BackendUnavailable("away")] * 20)
    with pytest.raises(BackendUnavailable):
        await asked(service, seconds=3.0)
    assert 4 <= service.calls <= 6


@pytest.mark.parametrize("error", [InvalidRequest("no"), MessageTooLarge("big"), QueueFull("full")])
async def test_what_no_wait_mends_is_not_asked_again(error: TaoError) -> None:
    service = Service(error, "here")
    with pytest.raises(type(error)):
        await asked(service)
    assert service.calls == 1


async def test_a_wait_of_no_seconds_is_a_short_one_all_the_same() -> None:
    full = QueueFull("full", retry_after_seconds=0.0)
    _, seconds = await asked(Service(full, full, "here"))
    assert 0.1 < seconds < 1.0
