"""What people may do with runs that wait for them, put together."""

from __future__ import annotations

from dataclasses import dataclass

from taoloop.core.clock import Clock
from taoloop.core.telemetry.metrics import Metrics
from taoloop.loop.host import RunHost
from taoloop.loop.people.desk import PeopleDesk
from taoloop.loop.people.expiry import Lapses, OnExpire
from taoloop.loop.people.handovers import HandoverDesk
from taoloop.loop.people.resting import RestingRuns
from taoloop.loop.ports import ActionPort, RunLog


@dataclass(frozen=True, slots=True)
class People:
    """Where people see what runs want of them, and answer.

    Attributes:
        desk: Takes values and decisions about leave.
        handovers: Shows and settles what is handed over.
        lapses: What becomes of questions that nobody answered.
    """

    desk: PeopleDesk
    handovers: HandoverDesk
    lapses: Lapses

    @classmethod
    def of(
        cls,
        host: RunHost,
        log: RunLog,
        action: ActionPort,
        metrics: Metrics,
        clock: Clock,
        on_expire: OnExpire = OnExpire.FAIL,
    ) -> People:
        """Return what serves the people of one host's runs.

        Args:
            host: Drives what goes on.
            log: Holds the events of every run.
            action: Keeps what persons decide.
            metrics: Counts what they do.
            clock: Tells the time.
            on_expire: What becomes of a step about which nobody decided in time.
        """
        runs = RestingRuns(host, log)
        lapses = Lapses(runs, on_expire, clock, metrics)
        return cls(PeopleDesk(runs, action, lapses), HandoverDesk(runs, log, metrics, clock), lapses)
