"""Settings of the corrections: a switch for each reaction, and how much time one must have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from pydantic import Field, model_validator

from taoloop.core.settings import Seconds, SettingsGroup
from taoloop.loop.correction.machine import Reaction

SWITCHED: Final = (
    Reaction.RETRY,
    Reaction.FIX_INPUT,
    Reaction.FALLBACK,
    Reaction.CROSS_CHECK,
    Reaction.REPROMPT,
    Reaction.REPLAN,
    Reaction.ASK,
)
"""The reactions that have a switch; the others end a run, or follow from one of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionRules:
    """What holds for every correction.

    Attributes:
        switched_off: Reactions that are not taken.
        min_pause_seconds: Shortest pause before a call is made once more.
        max_pause_seconds: Longest one.
        call_seconds: What must be left of a run's time for another call.
        model_timeout_seconds: What a language model may take for a thought.
        margin_seconds: What must be left beside it, and for a thought without a model.
    """

    switched_off: frozenset[Reaction] = field(default_factory=frozenset)
    min_pause_seconds: float = 0.1
    max_pause_seconds: float = 0.5
    call_seconds: float = 0.5
    model_timeout_seconds: float = 10.0
    margin_seconds: float = 0.5


class CorrectionSettings(SettingsGroup):
    """What a run does about failures before it ends with them."""

    enabled: bool = Field(
        default=True, description="Whether failures are corrected; off: each ends its run, or goes to a person."
    )
    retry: bool = Field(default=True, description="Whether a call that was late is made once more.")
    fix_input: bool = Field(default=True, description="Whether words are replaced by a contract's vocabularies.")
    fallback: bool = Field(
        default=True, description="Whether a contract's fallback serves where the tool's own result cannot be used."
    )
    cross_check: bool = Field(
        default=True, description="Whether a contract's fallback is asked as well where a result is doubtful."
    )
    reprompt: bool = Field(
        default=True, description="Whether a language model thinks again, more strictly, after a malformed thought."
    )
    replan: bool = Field(default=True, description="Whether a failure is planned round by another thought.")
    ask: bool = Field(default=True, description="Whether the user is asked for another value.")
    min_pause_seconds: Seconds = Field(default=0.1, description="Shortest pause before a call is made once more.")
    max_pause_seconds: Seconds = Field(default=0.5, description="Longest pause before a call is made once more.")
    model_timeout_seconds: Seconds = Field(
        default=10.0,
        description="What a model may take for a thought, as TAOLOOP_MODEL__TIMEOUT_SECONDS of the worker has it: "
        "with less time and the margin left, none is asked again.",
    )
    margin_seconds: Seconds = Field(
        default=0.5, description="What must be left beside it, and what a thought without a model must have."
    )

    @model_validator(mode="after")
    def _check_pauses(self) -> CorrectionSettings:
        if self.min_pause_seconds > self.max_pause_seconds:
            raise ValueError("min_pause_seconds is above max_pause_seconds: lower it, or raise the other")
        return self

    def rules(self) -> CorrectionRules:
        """Return them as the corrections take them."""
        off = [reaction for reaction in SWITCHED if not (self.enabled and getattr(self, reaction.value))]
        return CorrectionRules(
            switched_off=frozenset(off),
            min_pause_seconds=self.min_pause_seconds,
            max_pause_seconds=self.max_pause_seconds,
            model_timeout_seconds=self.model_timeout_seconds,
            margin_seconds=self.margin_seconds,
        )
