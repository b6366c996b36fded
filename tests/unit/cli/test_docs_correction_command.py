"""`taoloop docs correction`: the machine as it is in the code, for people and for programs."""

from __future__ import annotations

import json

import pytest

from taoloop.cli.commands.documenting.correction import correction_page
from taoloop.core.faults import FaultCode
from taoloop.loop.correction.classes import FaultClass
from taoloop.loop.correction.machine import EDGES, Need, Reaction
from tests.unit.cli.conftest import Invoke


def test_the_machine_is_drawn_with_every_edge(invoke: Invoke) -> None:
    result = invoke("docs", "correction")

    assert result.code == 0
    assert result.out.startswith("```mermaid\nflowchart LR\n")
    assert result.out.count(" -->|") == len(EDGES)
    assert result.out.count("| yes |") + result.out.count("| no |") > len(EDGES)


def test_one_kind_of_failure_is_drawn_alone(invoke: Invoke) -> None:
    output = invoke("docs", "correction", "--class", "tool_timeout").out

    assert '  TOOL_TIMEOUT -->|"1: retriable, first_attempt, calls, time"| retry' in output
    assert "TOOL_UNAVAILABLE" not in output


def test_programs_get_edges_codes_and_meanings(invoke: Invoke) -> None:
    found = json.loads(invoke("docs", "correction", "--json").out)

    assert len(found["edges"]) == len(EDGES)
    assert {code for each in found["classes"] for code in each["codes"]} == {code.value for code in FaultCode}
    assert found["edges"][0] == {
        "class": "TOOL_TIMEOUT",
        "reaction": "retry",
        "needs": ["retriable", "first_attempt", "calls", "time"],
        "before": "retried",
        "because": EDGES[0].because,
        "is_transient": True,
        "is_retry_useful": True,
        "is_told_to_user": False,
    }
    assert (set(found["reactions"]), set(found["needs"])) == (
        {each.value for each in Reaction},
        {each.value for each in Need},
    )


def test_a_kind_that_there_is_not_is_refused_with_those_that_there_are(invoke: Invoke) -> None:
    result = invoke("docs", "correction", "--class", "TIMEOUT")

    assert result.code != 0
    assert all(part in result.err for part in ("--class", "'TIMEOUT'", "TOOL_TIMEOUT"))


@pytest.mark.parametrize("kind", FaultClass)
def test_the_page_has_a_section_for_each_kind(kind: FaultClass) -> None:
    page = correction_page("<!-- generated -->")

    assert f"### {kind.value}\n\n{kind.meaning}\n" in page
