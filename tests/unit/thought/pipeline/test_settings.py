"""Settings of the stages: their defaults are the rules' own, and each variable changes its rule."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from taoloop.thought.pipeline.authorising import Authorisation
from taoloop.thought.pipeline.routing import RoutingRules
from taoloop.thought.pipeline.rungs import EmptyPlanPolicy
from taoloop.thought.pipeline.selecting import SelectionRules
from taoloop.thought.pipeline.settings import AuthoriseSettings, RouteSettings, SelectSettings
from taoloop.thought.planners.model.offer import ALL_MODES, Mode


def test_defaults_of_the_settings_are_those_of_the_rules() -> None:
    rules, default = RouteSettings().rules(), RoutingRules()
    assert (rules.is_on, rules.max_input_tokens, rules.max_failures, rules.empty_plan, rules.thresholds) == (
        default.is_on,
        default.max_input_tokens,
        default.max_failures,
        default.empty_plan,
        default.thresholds,
    )
    assert SelectSettings().rules() == SelectionRules()
    assert AuthoriseSettings().authorisation() == Authorisation(modes=ALL_MODES)


def test_words_of_one_language_replace_its_own_and_leave_the_others() -> None:
    urgent = RouteSettings.model_validate({"urgent_words": {"en": ["pronto"], "de": ["sofort"]}}).rules().urgent
    assert [urgent.find(text) for text in ("pronto", "bitte sofort", "马上", "asap")] == [
        "pronto",
        "sofort",
        "马上",
        "",
    ]


def test_negations_are_set_by_language_too() -> None:
    settings = RouteSettings.model_validate(
        {"urgent_words": {"de": ["sofort"]}, "negation_words": {"de": ["nicht"], "zh": []}}
    )
    urgent = settings.rules().urgent
    assert urgent.find("nicht sofort") == ""
    assert urgent.find("不用马上") == "马上"


@pytest.mark.parametrize("words", [{"en": [" "]}, {"en": ["x" * 61]}, {"en": ["x"] * 501}])
def test_words_that_cannot_be_meant_are_refused(words: dict[str, list[str]]) -> None:
    with pytest.raises(ValidationError):
        RouteSettings.model_validate({"urgent_words": words})


def test_thresholds_and_policies_reach_the_rules() -> None:
    rules = RouteSettings.model_validate(
        {"min_fit": 0.1, "min_arguments": 0.2, "min_missing": 0.3, "fit_of_none": 0.4, "empty_plan": "single_step"}
    ).rules()
    thresholds = rules.thresholds
    assert (thresholds.fit, thresholds.arguments, thresholds.missing, thresholds.none) == (0.1, 0.2, 0.3, 0.4)
    assert rules.empty_plan is EmptyPlanPolicy.SINGLE_STEP


def test_saying_that_no_tool_fits_cannot_be_forbidden() -> None:
    assert AuthoriseSettings.model_validate({"modes": ["ask"]}).authorisation().modes == {Mode.ASK, Mode.NONE}


def test_a_white_list_of_no_mode_is_refused() -> None:
    with pytest.raises(ValidationError):
        AuthoriseSettings.model_validate({"modes": []})
