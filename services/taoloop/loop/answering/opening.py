"""The answerer put together from its settings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from taoloop.core.clock import Clock
from taoloop.core.telemetry import Telemetry
from taoloop.loop.answering.answerer import Answerer
from taoloop.loop.answering.model_wording import ModelWording, WordingRules
from taoloop.loop.answering.settings import AnsweredBy, AnswerSettings
from taoloop.loop.ports import ObservationPort
from taoloop.models.opening import open_chat_model

PURPOSE = "answer"
"""What the model is used for; the label of its metrics."""


@asynccontextmanager
async def opened_answerer(
    settings: AnswerSettings, observation: ObservationPort, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[Answerer]:
    """Give the answerer of the settings; a model is opened only where it words answers.

    Raises:
        ConfigurationError: The model's profile cannot be used, or the library for HTTP is not installed.
    """
    with_templates = settings.by is not AnsweredBy.FACTS
    if settings.by is not AnsweredBy.MODEL:
        yield Answerer(observation, with_templates=with_templates, metrics=telemetry.metrics)
        return
    async with open_chat_model(settings.model, PURPOSE, telemetry, clock) as model:
        wording = None if model is None else ModelWording(model, rules_of(settings), clock)
        yield Answerer(observation, wording, metrics=telemetry.metrics)


def rules_of(settings: AnswerSettings) -> WordingRules:
    """Return how the model is asked under these settings."""
    return WordingRules(
        timeout_seconds=settings.model.timeout_seconds,
        margin_seconds=settings.margin_seconds,
        max_output_tokens=min(settings.max_output_tokens, settings.model.max_reply_tokens),
    )
