"""Written families: what their notation says, and that the planner's cases of them keep their own tools."""

import pytest

from taoloop.core.exact_json import dumps, loads
from taoloop.evaluation.planning.cases import case_of
from taoloop.evaluation.planning.scoring import score
from taoloop.evaluation.planning.written.cases import families, written
from taoloop.evaluation.planning.written.notation import read_family
from taoloop.tools.schemas import CompiledSchema

FAMILY = """
family shore en
T tides.find | Find tides. @write | harbour:string! Name of the harbour. ; days:integer=1 Days. ; at:{x:number! X ; y:number Y} Place. -> high:number Height.
R Tides of Cork{days: for 3 days}{harbour?:}
C tides.find | harbour=Cork | "Cork, Ireland" ; days?=3
N Sell my boat. @ tides.find
"""  # noqa: E501 - a tool stands on one line


def test_the_notation_gives_tools_requests_and_refusals() -> None:
    family = read_family(FAMILY)
    parameters = family.tools["tides.find"]["parameters"]
    assert parameters["required"] == ["harbour"]
    assert parameters["properties"]["days"] == {"type": "integer", "description": "Days.", "default": 1}
    assert parameters["properties"]["at"]["required"] == ["x"]
    assert family.tools["tides.find"]["returns"]["properties"]["high"]["type"] == "number"
    request = family.requests[0]
    assert request.text == "Tides of Cork for 3 days"
    assert request.gaps == {"days": "Tides of Cork"}
    assert request.calls[0].arguments == {"harbour": ["Cork", "Cork, Ireland"], "days": [3]}
    assert request.calls[0].optional == ("days",)
    assert family.refused == [("Sell my boat.", ("tides.find",))]


def test_a_line_of_no_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown line"):
        read_family("family shore en\nX what is this")


def test_no_family_is_both_fitted_and_kept_for_judging() -> None:
    fitted = {family.name for family in families(is_held_out=False)}
    kept = {family.name for family in families(is_held_out=True)}
    assert fitted
    assert kept
    assert not fitted & kept


@pytest.mark.parametrize("is_held_out", [False, True])
def test_every_written_case_can_be_planned_and_its_own_calls_are_right(*, is_held_out: bool) -> None:
    for record in written(1, is_held_out=is_held_out):
        case = case_of(loads(dumps(record)))  # type: ignore[arg-type]  # a record is an object
        tools = {tool["name"]: tool for tool in case.tools}
        for tool in case.tools:
            CompiledSchema.compile(tool["parameters"])
        if case.kind == "plan":
            steps = [{**step, "args": _first(step["args"])} for step in case.expected["steps"]]
            assert {step["tool"] for step in steps} <= tools.keys()
            assert score(case, {"kind": "plan", "steps": steps}).is_right, case.query
        elif case.kind == "ask":
            assert case.expected["fields"]


def _first(arguments: dict[str, object]) -> dict[str, object]:
    return {name: _plain(value[0]) if isinstance(value, list) else value for name, value in arguments.items()}


def _plain(value: object) -> object:
    if isinstance(value, dict) and "$fields" in value:
        return {name: _plain(options[0]) for name, options in value["$fields"].items()}
    return value


def test_the_same_seed_gives_the_same_cases() -> None:
    assert dumps(list(written(3, is_held_out=True))) == dumps(list(written(3, is_held_out=True)))
