"""Every stage is read from the environment under its own name, with the defaults of the stage itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from taoloop.core.errors import ConfigurationError
from taoloop.core.settings import load_settings
from taoloop.thought.pipeline.repairing import RepairRules
from taoloop.thought.planners.model.offer import ALL_MODES, Mode, Reason
from taoloop.thought.planners.model.questions import QuestionRules
from taoloop.thought.settings import ThoughtWorkerSettings
from taoloop.thought.stage_settings import RepairSettings, StageSettings


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setenv("TAOLOOP_CATALOGUE", str(tmp_path))
    return monkeypatch


def test_the_defaults_are_those_of_the_stages() -> None:
    plan, rules = StageSettings().plan, QuestionRules()

    assert RepairSettings().rules() == RepairRules()
    assert (plan.reason, plan.temperature, plan.top_p) == (rules.reason, rules.temperature, rules.top_p)
    assert (plan.max_output_tokens, plan.prompts) == (rules.max_output_tokens, rules.prompts.version)


def test_a_worker_reads_models_and_stages(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("TAOLOOP_MODEL__URL", "http://127.0.0.1:8000/v1")
    settings.setenv("TAOLOOP_STRONGER_MODEL__MODEL", "large")
    settings.setenv("TAOLOOP_THOUGHT__PLAN__REASON", "full")
    settings.setenv("TAOLOOP_THOUGHT__REPAIR__ATTEMPTS", "0")
    settings.setenv("TAOLOOP_THOUGHT__ROUTE__ENABLED", "false")
    settings.setenv("TAOLOOP_THOUGHT__AUTHORISE__MODES", '["ask"]')

    read = load_settings(ThoughtWorkerSettings)

    assert (read.model.url, read.stronger_model.model) == ("http://127.0.0.1:8000/v1", "large")
    assert read.stronger_model.url is None
    assert (read.thought.plan.reason, read.thought.repair.attempts) == (Reason.FULL, 0)
    assert not read.thought.route.enabled
    assert read.thought.authorise.authorisation().modes == {Mode.ASK, Mode.NONE}


def test_without_settings_there_is_no_model_and_every_mode(settings: pytest.MonkeyPatch) -> None:
    read = load_settings(ThoughtWorkerSettings)

    assert (read.model.url, read.stronger_model.url) == (None, None)
    assert read.thought.authorise.authorisation().modes == ALL_MODES


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PLAN__TEMPERATURE", "3"),
        ("PLAN__REASON", "loud"),
        ("PLAN__MAX_OUTPUT_TOKENS", "1"),
        ("REPAIR__ATTEMPTS", "11"),
        ("REPAIR__MARGIN_SECONDS", "-1"),
    ],
)
def test_a_value_out_of_bounds_is_told_by_its_variable(settings: pytest.MonkeyPatch, name: str, value: str) -> None:
    settings.setenv(f"TAOLOOP_THOUGHT__{name}", value)

    with pytest.raises(ConfigurationError, match=f"TAOLOOP_THOUGHT__{name}"):
        load_settings(ThoughtWorkerSettings)
