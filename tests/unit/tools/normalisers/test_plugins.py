"""Plug-ins of other packages make values; whatever they do wrong is a refusal."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT
from taoloop.observation.normalising import compile_normaliser
from taoloop.tools.contract import NormaliseRule, Observe
from taoloop.tools.loading import load_catalogue
from taoloop.tools.normalisers import plugins
from taoloop.tools.output_schema import derive
from taoloop.values.refusals import RefusalCode, ValueRefused
from tests.unit.tools.contracts import document, write_catalogue


def shout(value: Any, options: Mapping[str, Any]) -> Any:
    return value.upper() + options.get("mark", "")


shout.result_schema = {"type": "string", "maxLength": 9}  # type: ignore[attr-defined]


def spoil(value: Any, options: Any) -> Any:
    value["spoilt"] = True
    options["spoilt"] = True
    return value["a"]


def leave(_value: Any, _options: Any) -> Any:
    raise ValueRefused(RefusalCode.AMBIGUOUS, "Two readings.", ("1", "2"))


class EntryPoint:
    """An installed entry point."""

    def __init__(self, name: str, load: Callable[[], Any]) -> None:
        self.name = name
        self.load = load


def missing() -> Any:
    raise ImportError("no such module")


INSTALLED: dict[str, Callable[[], Any]] = {
    "shout": lambda: shout,
    "spoil": lambda: spoil,
    "leave": lambda: leave,
    "broken": missing,
    "text": lambda: "no function",
    "fails": lambda: lambda value, _options: value / 0,
    "odd": lambda: lambda _value, _options: object(),
    "bad_schema": type("Bad", (), {"result_schema": {"type": "txt"}, "__call__": lambda *_: 1}),
}


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def entry_points(group: str, name: str | None = None) -> list[EntryPoint]:
        assert group == "taoloop.normalisers"
        return [EntryPoint(each, load) for each, load in INSTALLED.items() if name in {None, each}]

    monkeypatch.setattr(plugins, "entry_points", entry_points)


def applied(plugin: str, value: Any, **options: Any) -> tuple[Any, list[tuple[str, str, str]]]:
    rule = NormaliseRule(field="/v", to="/w", plugin=plugin, options=options)
    normaliser = compile_normaliser(Observe(normalise=(rule,)))
    assert normaliser is not None
    made, outcome = normaliser.apply({"v": value})
    return made, [(each.failure.pointer, each.failure.rule_id, each.failure.message) for each in outcome.flaws]


def test_plug_in_makes_the_value_with_its_options() -> None:
    assert applied("shout", "hello", mark="!") == ({"w": "HELLO!"}, [])


def test_plug_in_gets_a_copy_of_value_and_options() -> None:
    value = {"a": 1}

    assert applied("spoil", value, b=2)[0] == {"w": 1}
    assert value == {"a": 1}


@pytest.mark.parametrize(
    ("plugin", "value", "code", "message"),
    [
        ("leave", 1, "ambiguous", "Two readings."),
        ("shout", 5, "unreadable", "The plug-in failed with AttributeError."),
        ("fails", 5, "unreadable", "The plug-in failed with ZeroDivisionError."),
        ("odd", 5, "unreadable", "The plug-in returned what is no JSON."),
        ("shout", "much too long", "unreadable", "The plug-in returned what its result_schema does not allow."),
        ("broken", 1, "unreadable", "ImportError"),
        ("text", 1, "unreadable", "cannot be called"),
        ("nobody", 1, "unreadable", "no installed entry points"),
    ],
)
def test_whatever_a_plug_in_does_wrong_is_a_refusal(plugin: str, value: Any, code: str, message: str) -> None:
    made, refusals = applied(plugin, value)

    assert made is ABSENT
    ((place, rule_id, text),) = refusals
    assert (place, rule_id) == ("/v", code)
    assert message in text


def test_output_schema_is_what_the_plug_in_says_of_itself() -> None:
    response = {"type": "object", "properties": {"v": {"type": ["string", "null"]}, "u": {"type": "string"}}}
    rules = (
        NormaliseRule(field="/v", to="/v", plugin="shout"),
        NormaliseRule(field="/u", to="/u", plugin="spoil"),
    )
    output: Any = derive(response, Observe(normalise=rules)).schema

    assert output["properties"] == {"v": {"type": ["string", "null"], "maxLength": 9}, "u": True}


@pytest.mark.parametrize(
    ("plugin", "code", "word"),
    [
        ("shuot", "UNKNOWN_PLUGIN", "shout"),
        ("broken", "PLUGIN", "Correct"),
        ("bad_schema", "PLUGIN", "Correct"),
    ],
)
def test_plug_in_that_cannot_be_used_is_a_finding(tmp_path: Path, plugin: str, code: str, word: str) -> None:
    value = document(spec__observe={"normalise": [{"field": "/eta", "plugin": plugin}]})
    (found,) = load_catalogue(write_catalogue(tmp_path, value)).errors

    assert (found.code, found.pointer) == (code, "/spec/observe/normalise/0/plugin")
    assert word in found.remedy
