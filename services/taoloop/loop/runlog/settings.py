"""Settings of the run log, of leases and of taking runs over."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from taoloop.core.settings import Seconds, SettingsGroup


class RunSettings(SettingsGroup):
    """How runs are kept, and who looks after them."""

    lease_seconds: float = Field(
        default=10.0,
        ge=1.0,
        le=600.0,
        description="How long after its host fell silent a run is taken over by another one; hosts renew each third.",
    )
    take_over_interval_seconds: Seconds = Field(
        default=1.0, description="How often a host looks for runs whose host fell silent."
    )
    max_take_overs: int = Field(
        default=3,
        ge=1,
        le=100,
        description="How often a run that gains nothing in between is taken over before it is ended as failed.",
    )
    open_retention_seconds: float = Field(
        default=604_800.0,
        ge=60.0,
        description="How long a run that goes on, or waits for a person, is kept after its last event.",
    )
    inline_event_bytes: int = Field(
        default=32 * 1024,
        ge=1024,
        le=1024 * 1024,
        description="Larger events are kept compressed, beside the stream of the run's events.",
    )
    max_event_bytes: int = Field(
        default=4 * 1024 * 1024,
        ge=64 * 1024,
        le=64 * 1024 * 1024,
        description="Largest event of a run; a run with a larger one ends with LIMIT_REACHED.",
    )

    @model_validator(mode="after")
    def _looks_more_often_than_leases_lapse(self) -> Self:
        if self.take_over_interval_seconds > self.lease_seconds:
            raise ValueError(
                f"take_over_interval_seconds ({self.take_over_interval_seconds:g}) must not be above "
                f"lease_seconds ({self.lease_seconds:g})"
            )
        return self
