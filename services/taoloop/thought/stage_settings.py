"""Settings of a thought's stages, those of the language model among them: each with its switch and its limits."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from taoloop.core.settings import Seconds, SettingsGroup
from taoloop.thought.pipeline.repairing import RepairRules
from taoloop.thought.pipeline.settings import PipelineSettings
from taoloop.thought.planners.known import SummaryRules
from taoloop.thought.planners.model.offer import Reason
from taoloop.thought.planners.model.questions import DEFAULT_MAX_TOKENS

_REPAIR: Final = RepairRules()
_SUMMARY: Final = SummaryRules()


class ModelPlanSettings(SettingsGroup):
    """How a language model is asked for a plan."""

    enabled: bool = Field(default=True, description="Whether a model plans; off: the graph planner alone.")
    reason: Reason = Field(
        default=Reason.BRIEF, description="How much a model says before it decides: `full`, `brief` or `off`."
    )
    prompts: str = Field(
        default="v1",
        min_length=1,
        max_length=1000,
        description="Version of the prompts, or the path of a folder of your own, which has a `/`.",
    )
    temperature: float = Field(default=0.05, ge=0.0, le=2.0, description="Temperature; 0 takes the likeliest token.")
    top_p: float = Field(default=1.0, gt=0.0, le=1.0, description="Share of the likely tokens that is chosen from.")
    max_output_tokens: int = Field(
        default=DEFAULT_MAX_TOKENS,
        ge=16,
        le=16_384,
        description="Longest reply, where the form of the reply itself allows a longer one.",
    )
    reserve_seconds: Seconds = Field(
        default=0.25, description="Time before the caller's deadline that models do not get, so that a reply arrives."
    )


class RepairSettings(SettingsGroup):
    """Whether a model whose plan has faults is told them and asked again."""

    enabled: bool = Field(default=True, description="Whether it is asked again; off: the next planner takes over.")
    attempts: int = Field(
        default=_REPAIR.attempts, ge=0, le=10, description="How often one model is asked again for one thought."
    )
    margin_seconds: float = Field(
        default=_REPAIR.margin_seconds,
        ge=0.0,
        le=3600.0,
        description="It is asked again only when its own timeout and this much are left.",
    )

    def rules(self) -> RepairRules:
        """Return them as repairing takes them."""
        return RepairRules(is_on=self.enabled, attempts=self.attempts, margin_seconds=self.margin_seconds)


class StallSettings(SettingsGroup):
    """Whether a thought that repeats the one before it is stopped."""

    enabled: bool = Field(default=True, description="Whether it is a fault, so that the next planner takes over.")


class SummariseSettings(SettingsGroup):
    """When a run has made calls enough, so that it is answered with what is known."""

    enabled: bool = Field(default=True, description="Whether that ever holds; off: the run's own limits end it.")
    after_calls: int = Field(
        default=_SUMMARY.after_calls,
        ge=0,
        le=10_000,
        description="After more calls of tools than this in a run no more are planned where results are there, save "
        "round the first plan that failed or with an answer of the user's that no call has used.",
    )

    def rules(self) -> SummaryRules:
        """Return them as planners take them."""
        return SummaryRules(is_on=self.enabled, after_calls=self.after_calls)


class StageSettings(PipelineSettings):
    """The stages of a thought; the check of plans has no switch."""

    plan: ModelPlanSettings = Field(default_factory=ModelPlanSettings, description="How a model is asked for a plan.")
    repair: RepairSettings = Field(default_factory=RepairSettings, description="When a model is asked again.")
    stall: StallSettings = Field(default_factory=StallSettings, description="When a thought stands still.")
    summarise: SummariseSettings = Field(
        default_factory=SummariseSettings, description="When a run is answered with what is known."
    )
