"""`taoloop evaluate`: selection and routing are measured on generated cases, for people and for programs."""

from __future__ import annotations

import json

from tests.unit.cli.conftest import Invoke


def test_selection_is_measured_by_language_and_kind_of_request(invoke: Invoke) -> None:
    rows = json.loads(invoke("evaluate", "selection", "--tools", "60", "--count", "10", "--json").out)["rows"]
    assert [(row["language"], row["kind"]) for row in rows] == [
        ("en", "chain"), ("en", "named"), ("zh", "chain"), ("zh", "named"),
    ]  # fmt: skip
    assert all(0.0 <= row["recall"] <= 1.0 and row["tools"] >= 60 and row["requests"] == 5 for row in rows)


def test_selection_without_the_closure_loses_chains(invoke: Invoke) -> None:
    arguments = ("evaluate", "selection", "--tools", "60", "--count", "20", "--json")
    whole = json.loads(invoke(*arguments).out)["rows"][0]["whole"]
    by_words = json.loads(invoke(*arguments, "--max-produced", "0").out)["rows"][0]["whole"]
    assert by_words < whole


def test_routing_is_measured_for_every_kind_of_reply(invoke: Invoke) -> None:
    found = json.loads(invoke("evaluate", "routing", "--count", "20", "--json").out)
    assert set(found) == {"generated", "written"}
    for rows in found.values():
        assert {row["kind"] for row in rows} == {"plan", "ask", "none"}


def test_table_is_shown_for_people(invoke: Invoke) -> None:
    assert "all needed" in invoke("evaluate", "selection", "--tools", "60", "--count", "10").out
