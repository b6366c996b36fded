"""When a job may be asked about again, and when its time is over: by the monotonic clock once it is known here."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from taoloop.action.ports import JobTicket
from taoloop.core.clock import Clock
from taoloop.tools.contract import JobTransport

MAX_JOBS: Final = 10_000
"""Jobs that are remembered; one that was forgotten is placed anew by its ticket's date."""


@dataclass(slots=True)
class JobTime:
    """The times of one job, in seconds of the monotonic clock.

    Attributes:
        due_at: When the next query may be made.
        ends_at: When the job's total time is over.
    """

    due_at: float
    ends_at: float


class JobTimes:
    """Knows the times of the jobs that this process has asked about.

    A ticket's date is of the wall clock, perhaps of another machine. It is read once, when the job is first seen
    here; from then on a clock that is set cannot move the job's end.

    Args:
        clock: Tells both times.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._times: OrderedDict[tuple[str, str], JobTime] = OrderedDict()

    def of(self, tool: str, form: JobTransport, ticket: JobTicket) -> JobTime:
        """Return the times of a job."""
        key = (tool, ticket.job_id)
        times = self._times.get(key)
        if times is None:
            age = max(0.0, (self._clock.now() - ticket.created_at).total_seconds())
            created = self._clock.monotonic() - age
            pause = 0.0 if ticket.state.is_final else form.poll_every_seconds
            times = self._times[key] = JobTime(due_at=created + pause, ends_at=created + form.total_seconds)
        self._times.move_to_end(key)
        while len(self._times) > MAX_JOBS:
            self._times.popitem(last=False)
        return times

    def forget(self, tool: str, job_id: str) -> None:
        """Drop a job that is over."""
        self._times.pop((tool, job_id), None)

    def __repr__(self) -> str:
        return f"JobTimes(jobs={len(self._times)})"
