"""Settings of what runs do while they wait for people."""

from __future__ import annotations

from pydantic import Field

from taoloop.core.settings import Seconds, SettingsGroup
from taoloop.loop.people.expiry import OnExpire
from taoloop.loop.people.wake_ups import ExpiryWarning
from taoloop.loop.people.waker import WakingTerms


class PeopleSettings(SettingsGroup):
    """What becomes of questions that nobody answers."""

    on_expire: OnExpire = Field(
        default=OnExpire.FAIL,
        description="What a run does when nobody decided about an approval in time: `fail` the step, `hand_over` the "
        "step to a person, or `ask_again` after another thought.",
    )
    warn_before_seconds: float = Field(
        default=3600.0,
        ge=0,
        le=30 * 86_400,
        description="How long before an approval lapses an event and a log line say so; at most half the time that "
        "the question is open. 0 says nothing.",
    )
    look_every_seconds: Seconds = Field(
        default=2.0, description="How often a host asks whether an approval has lapsed, or lapses soon."
    )

    def terms(self, timeout_seconds: float) -> WakingTerms:
        """Return how resting runs are looked at.

        Args:
            timeout_seconds: How long one call of a store or a service may take.
        """
        return WakingTerms(
            interval_seconds=self.look_every_seconds,
            timeout_seconds=timeout_seconds,
            warning=ExpiryWarning(seconds=self.warn_before_seconds),
        )
