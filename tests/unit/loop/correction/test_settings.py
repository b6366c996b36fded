"""The settings of the corrections become their rules."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from taoloop.loop.correction.machine import Reaction
from taoloop.loop.correction.settings import SWITCHED, CorrectionSettings


def test_everything_is_on_unless_a_setting_says_otherwise() -> None:
    assert CorrectionSettings().rules().switched_off == frozenset()
    assert CorrectionSettings(replan=False, ask=False).rules().switched_off == {Reaction.REPLAN, Reaction.ASK}


def test_without_corrections_none_of_those_with_a_switch_is_left() -> None:
    assert CorrectionSettings(enabled=False).rules().switched_off == frozenset(SWITCHED)


def test_pauses_and_times_are_those_of_the_settings() -> None:
    rules = CorrectionSettings(
        min_pause_seconds=0.2, max_pause_seconds=0.3, model_timeout_seconds=60.0, margin_seconds=5.0
    ).rules()

    assert (rules.min_pause_seconds, rules.max_pause_seconds) == (0.2, 0.3)
    assert (rules.model_timeout_seconds, rules.margin_seconds) == (60.0, 5.0)


def test_a_shortest_pause_above_the_longest_one_is_refused() -> None:
    with pytest.raises(ValidationError, match="min_pause_seconds is above max_pause_seconds"):
        CorrectionSettings(min_pause_seconds=1.0)
