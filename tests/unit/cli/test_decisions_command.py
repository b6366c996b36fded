"""`taoloop decisions`: the table names real settings and metrics, and tells how they are set here."""

from __future__ import annotations

import json

import pytest

from taoloop.cli.commands.deciding.effective import Environment
from taoloop.cli.commands.deciding.points import POINTS, DecisionPoint, Setting, Switch
from taoloop.cli.deployables import settings_classes
from taoloop.core.errors import ConfigurationError
from taoloop.core.settings import describe
from taoloop.core.telemetry.names.metrics import METRICS
from tests.unit.cli.conftest import Invoke

SWITCHES = [switch for point in POINTS for switch in point.switches]
KNOWN = {Setting(name, row.env): row for name, each in settings_classes().items() for row in describe(each)}


def test_there_are_seven_points_in_order() -> None:
    assert [point.number for point in POINTS] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name)
def test_every_setting_exists_for_who_is_said_to_read_it(point: DecisionPoint) -> None:
    named = [*(switch.setting for switch in point.switches), *point.settings]
    assert [setting for setting in named if setting not in KNOWN] == []
    assert len(named) == len(set(named))


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name)
def test_every_point_is_watched_by_metrics_of_the_registry(point: DecisionPoint) -> None:
    assert point.metrics
    assert set(point.metrics) <= set(METRICS)


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name)
def test_point_has_a_switch_or_says_what_lacks_or_that_it_is_always_on(point: DecisionPoint) -> None:
    assert point.always
    assert point.switches or point.lacks


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.setting.env)
def test_every_switch_can_be_switched_off(switch: Switch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(switch.setting.env, "" if switch.off is None else str(switch.off).lower())
    assert not Environment().is_on(switch)


ON = {"TAOLOOP_MODEL__URL": "http://127.0.0.1:9/v1", "TAOLOOP_STRONGER_MODEL__URL": "http://127.0.0.1:9/v1",
      "TAOLOOP_OBSERVATION_VALIDATOR__URL": "http://127.0.0.1:9/v1", "TAOLOOP_BOARD__TOOLS_OFF": '{"a": "b"}',
      "TAOLOOP_THOUGHT__AUTHORISE__TOOLS": '["a"]', "TAOLOOP_APPROVAL__WHEN": "true",
      "TAOLOOP_MEMORY__SUMMARISER__URL": "http://127.0.0.1:9/v1", "TAOLOOP_MEMORY__STRICT_LINES": "true",
      "TAOLOOP_MEMORY__WARM__URL": "sqlite+aiosqlite:///m.sqlite", "TAOLOOP_ANSWER__BY": "model"}  # fmt: skip
NEEDED = {"TAOLOOP_ANSWER__BY": {"TAOLOOP_ANSWER__MODEL__URL": "http://127.0.0.1:9/v1"}}
"""What a switch cannot be on without."""


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.setting.env)
def test_every_switch_can_be_switched_on(switch: Switch, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = NEEDED.get(switch.setting.env, {})
    for name, value in {**ON, **needed}.items():
        if name == switch.setting.env or name in needed:
            monkeypatch.setenv(name, value)
    assert Environment().is_on(switch)


def _point(number: int) -> DecisionPoint:
    return POINTS[number - 1]


def test_planning_is_off_without_a_model_and_on_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Environment().state(_point(1)) == "off"
    monkeypatch.setenv("TAOLOOP_MODEL__URL", ON["TAOLOOP_MODEL__URL"])
    assert Environment().state(_point(1)) == "partly"
    monkeypatch.setenv("TAOLOOP_STRONGER_MODEL__URL", ON["TAOLOOP_MODEL__URL"])
    assert Environment().state(_point(1)) == "on"
    monkeypatch.setenv("TAOLOOP_THOUGHT__ROUTE__ENABLED", "false")
    assert Environment().state(_point(1)) == "off"


def test_value_tells_whether_the_environment_or_the_default_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = _point(3).settings[1]
    assert setting.env == "TAOLOOP_THOUGHT__SELECT__MAX_FOUND"
    default = Environment().of(setting)
    monkeypatch.setenv(setting.env, "9")
    assert (Environment().of(setting).value, Environment().of(setting).origin) == (9, "environment")
    assert (default.value, default.origin) == (12, "default")


def test_group_that_is_set_as_one_variable_gives_its_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAOLOOP_THOUGHT__SELECT", '{"max_found": 7}')
    found = Environment().of(_point(3).settings[1])
    assert (found.value, found.origin) == (7, "environment")


def test_secret_part_of_an_address_is_not_shown(monkeypatch: pytest.MonkeyPatch, invoke: Invoke) -> None:
    monkeypatch.setenv("TAOLOOP_MODEL__URL", "http://user:hidden-word@127.0.0.1:9/v1")
    for arguments in (("decisions",), ("decisions", "--json")):
        done = invoke(*arguments)
        assert done.code == 0
        assert "127.0.0.1:9" in done.out
        assert "hidden-word" not in done.out + done.err


def test_json_holds_every_point_with_values_and_origins(invoke: Invoke) -> None:
    points = json.loads(invoke("decisions", "--json").out)["decision_points"]
    assert [point["number"] for point in points] == [1, 2, 3, 4, 5, 6, 7]
    route = next(each for each in points[0]["switches"] if each["env"] == "TAOLOOP_THOUGHT__ROUTE__ENABLED")
    assert (route["is_on"], route["value"], route["origin"], route["off"]) == (True, True, "default", False)
    assert route["without"]
    assert "taoloop_thought_routes_total" in points[0]["metrics"]


def test_one_point_is_shown_alone(invoke: Invoke) -> None:
    assert len(json.loads(invoke("decisions", "--point", "6", "--json").out)["decision_points"]) == 1
    text = invoke("decisions", "--point", "6").out
    assert "6 Token control" in text
    assert "1 Planning" not in text


def test_text_says_what_is_not_in_this_version(invoke: Invoke) -> None:
    text = invoke("decisions").out
    assert "not in this version: No archive" in text
    assert "2 Memory: on, without " in text


def test_value_that_no_service_would_start_with_is_an_error(monkeypatch: pytest.MonkeyPatch, invoke: Invoke) -> None:
    monkeypatch.setenv("TAOLOOP_THOUGHT__ROUTE__MIN_FIT", "7")
    done = invoke("decisions")
    assert done.code == 1
    assert "TAOLOOP_THOUGHT__ROUTE__MIN_FIT" in done.err
    with pytest.raises(ConfigurationError):
        Environment().state(_point(1))
