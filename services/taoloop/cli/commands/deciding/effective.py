"""How the decision points are set in this environment: values without secrets, and where each comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from taoloop.cli.commands.deciding.points import POINTS, DecisionPoint, Setting, Switch
from taoloop.cli.deployables import DeployableName, settings_classes
from taoloop.core.exact_json import JsonValue
from taoloop.core.settings import describe, given_variables, load_settings, masked

Shown = str | int | float | bool | None

_PLACEHOLDER: Final = "."
"""Stands for a required setting that is not set, so that the others can be read."""


@dataclass(frozen=True, slots=True)
class Value:
    """What a setting is here.

    Attributes:
        value: Its value; a secret is masked.
        is_given: Whether the environment sets it; else it is the default.
    """

    value: Shown
    is_given: bool

    @property
    def origin(self) -> str:
        """Return `environment` or `default`."""
        return "environment" if self.is_given else "default"


class Environment:
    """The settings of every deployable, read once from the process's environment.

    Raises:
        ConfigurationError: A variable is set to something that its setting refuses; raised where it is first read.
    """

    @cached_property
    def _values(self) -> dict[tuple[DeployableName, str], Value]:
        values: dict[tuple[DeployableName, str], Value] = {}
        for name, settings_class in settings_classes().items():
            given = given_variables(settings_class)
            missing = [row.env for row in describe(settings_class) if row.is_required and row.env not in given]
            fixed: dict[str, Any] = {env.removeprefix("TAOLOOP_").lower(): _PLACEHOLDER for env in missing}
            for env, value in masked(load_settings(settings_class, fixed)).items():
                values[name, env] = Value(None if env in missing else value, env in given)
        return values

    def of(self, setting: Setting) -> Value:
        """Return what a setting is here.

        Raises:
            KeyError: There is no such setting.
        """
        return self._values[setting.deployable, setting.env]

    def is_on(self, switch: Switch) -> bool:
        """Tell whether a switch is on; a text that is empty is unset."""
        value = self.of(switch.setting).value
        return (None if value == "" else value) != switch.off

    def state(self, point: DecisionPoint) -> str:
        """Return `on`, `off` or `partly` by its switches, `always` without any."""
        off = [switch for switch in point.switches if not self.is_on(switch)]
        if any(switch.is_main for switch in off):
            return "off"
        return "always" if not point.switches else "partly" if off else "on"


def decisions(environment: Environment) -> list[JsonValue]:
    """Return every decision point with its effective settings, as JSON."""
    return [_point(point, environment) for point in POINTS]


def _point(point: DecisionPoint, environment: Environment) -> JsonValue:
    return {
        "number": point.number,
        "name": point.name,
        "question": point.question,
        "state": environment.state(point),
        "always": point.always,
        "lacks": point.lacks,
        "switches": [_switch(switch, environment) for switch in point.switches],
        "settings": list(_settings(point.settings, environment)),
        "metrics": [metric.name for metric in point.metrics],
    }


def _switch(switch: Switch, environment: Environment) -> JsonValue:
    shown = _setting(switch.setting, environment)
    return {**shown, "decides": switch.decides, "is_on": environment.is_on(switch), "off": switch.off,
            "without": switch.without}  # fmt: skip


def _settings(settings: Iterable[Setting], environment: Environment) -> Iterable[JsonValue]:
    return (_setting(setting, environment) for setting in settings)


def _setting(setting: Setting, environment: Environment) -> dict[str, JsonValue]:
    found = environment.of(setting)
    return {
        "env": setting.env,
        "deployable": setting.deployable.value,
        "value": found.value,
        "origin": found.origin,
    }
