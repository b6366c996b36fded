"""`taoloop plan explain`: who would plan the request, and which tools a model would be offered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.cli.conftest import Invoke


def _explained(invoke: Invoke, *arguments: str) -> dict[str, Any]:
    done = invoke("plan", "explain", *arguments, "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_urgent_word_shows_as_the_route(invoke: Invoke) -> None:
    route = _explained(invoke, "where is it, asap")["route"]
    assert (route["planner"], route["reason"], route["word"]) == ("graph", "urgent_words", "asap")


def test_route_follows_the_settings_of_the_environment(monkeypatch: pytest.MonkeyPatch, invoke: Invoke) -> None:
    monkeypatch.setenv("TAOLOOP_THOUGHT__ROUTE__ENABLED", "false")
    assert _explained(invoke, "where is it")["route"]["reason"] == "switched_off"


def test_offered_tools_and_those_left_out_are_all_of_the_catalogue(
    monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    whole = _explained(invoke, "zzz")["selection"]
    assert whole["left_out"] == {}
    monkeypatch.setenv("TAOLOOP_THOUGHT__SELECT__MAX_FOUND", "1")
    monkeypatch.setenv("TAOLOOP_THOUGHT__SELECT__MAX_PRODUCED", "0")
    chosen = _explained(invoke, "where is my parcel")["selection"]
    assert len(chosen["tools"]) == 1
    assert {*chosen["tools"], *chosen["left_out"]} == set(whole["tools"])


def test_text_ends_with_the_route_and_the_offer(invoke: Invoke) -> None:
    text = invoke("plan", "explain", "where is it, asap").out
    assert 'route: graph (urgent_words "asap")' in text
    assert "a model would be offered" in text
