"""The settings decide who words answers, and how a model is asked."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from taoloop.core.clock import SystemClock
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.answering.opening import opened_answerer, rules_of
from taoloop.loop.answering.settings import AnsweredBy, AnswerSettings
from taoloop.models.settings import ChatModelSettings, ProbeMode
from taoloop.testing.services import ScriptedObservation

MODEL = ChatModelSettings(
    url="http://127.0.0.1:1/v1", model="words", probe=ProbeMode.OFF, timeout_seconds=3.0, max_reply_tokens=64
)


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        (AnswerSettings(model=MODEL), "Answerer(None, with_templates=True)"),
        (AnswerSettings(by=AnsweredBy.FACTS, model=MODEL), "Answerer(None, with_templates=False)"),
        (AnswerSettings(by=AnsweredBy.MODEL, model=MODEL), "Answerer(ModelWording('words'), with_templates=True)"),
    ],
)
async def test_answers_are_worded_by_whom_the_settings_name(settings: AnswerSettings, shown: str) -> None:
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    async with opened_answerer(settings, ScriptedObservation(), telemetry, SystemClock()) as answerer:
        assert repr(answerer) == shown


@pytest.mark.parametrize(("asked_for", "longest"), [(512, 64), (32, 32)])
def test_the_model_is_asked_within_its_own_limits(asked_for: int, longest: int) -> None:
    rules = rules_of(AnswerSettings(by=AnsweredBy.MODEL, max_output_tokens=asked_for, margin_seconds=0.2, model=MODEL))
    assert (rules.timeout_seconds, rules.margin_seconds, rules.max_output_tokens) == (3.0, 0.2, longest)


def test_answers_of_a_model_need_its_address() -> None:
    with pytest.raises(ValidationError, match="TAOLOOP_ANSWER__MODEL__URL"):
        AnswerSettings(by=AnsweredBy.MODEL)
