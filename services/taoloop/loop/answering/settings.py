"""Settings of answers: who words them, and where the language model is that may."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, model_validator

from taoloop.core.settings import SettingsGroup
from taoloop.models.settings import ChatModelSettings


class AnsweredBy(StrEnum):
    """Who words answers."""

    TEMPLATE = "template"
    """The templates of the tools' contracts, and the facts where a tool has none."""
    FACTS = "facts"
    """Nobody: the facts are listed."""
    MODEL = "model"
    """A language model, whose text is checked; the templates and the facts where it gives none that holds."""


class AnswerSettings(SettingsGroup):
    """How answers are worded."""

    by: AnsweredBy = Field(
        default=AnsweredBy.TEMPLATE,
        description="Who words answers: `template`, `facts`, or `model`, whose text is used only where every value in "
        "it occurs in the observations.",
    )
    max_output_tokens: int = Field(
        default=512,
        ge=16,
        le=16_384,
        description="Longest answer of the model, in its tokens; its own limit bounds it too.",
    )
    margin_seconds: float = Field(
        default=0.5,
        ge=0.0,
        le=3600.0,
        description="The model is asked only when its own timeout and this much of the run's time are left.",
    )
    model: ChatModelSettings = Field(
        default_factory=ChatModelSettings, description="The language model that words answers; used with `by: model`."
    )

    @model_validator(mode="after")
    def _has_its_model(self) -> AnswerSettings:
        if self.by is AnsweredBy.MODEL and self.model.url is None:
            raise ValueError("answers by `model` need its address; set TAOLOOP_ANSWER__MODEL__URL")
        return self
