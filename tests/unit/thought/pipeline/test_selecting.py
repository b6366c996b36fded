"""Selection: what is offered, in which order, and why the rest is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.evaluation.selection.cases import market
from taoloop.plan.task import Permissions, Role, ToolAvailability, Turn
from taoloop.plan.thinking import CompletedStep, ThinkRequest
from taoloop.thought.pipeline.selecting import LeftOut, SelectionRules, Selector
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import Effect, ToolSignature

TEXT = {"type": "string"}


def _object(*names: str, **more: Any) -> dict[str, Any]:
    properties = {**dict.fromkeys(names, TEXT), **more}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _tool(
    name: str, description: str, needs: Mapping[str, Any], gives: Mapping[str, Any], **more: Any
) -> ToolSignature:
    return ToolSignature(name=name, description=description, parameters=needs, returns=gives, **more)


CHAIN = (
    _tool("cancel_parcel", "Cancels a parcel.", _object("docket_key"), _object("status"), effect=Effect.WRITE),
    _tool("read_entry", "Reads the current entry.", _object("holder_key"), _object("docket_key")),
    _tool("resolve", "Turns digits into a handle.", _object("digits"), _object("holder_key")),
)
OTHERS = tuple(
    _tool(f"show_{word}", f"Shows the {word} of the town.", _object("street"), _object("note"))
    for word in ("museum", "harbour", "theatre", "station", "market", "library", "garden", "bridge", "castle", "mill")
)
CATALOGUE = Catalogue.from_signatures([*CHAIN, *OTHERS])
WRITING = Permissions(max_effect=Effect.WRITE)


def _request(text: str = "cancel the parcel", permissions: Permissions | None = WRITING, **more: Any) -> ThinkRequest:
    turns = (Turn(role=Role.USER, text=text),)
    return ThinkRequest(run_id="r", iteration=1, turns=turns, permissions=permissions, **more)


def _names(request: ThinkRequest, rules: SelectionRules, limit: int | None = None) -> list[str]:
    return [tool.name for tool in Selector(CATALOGUE, rules).select(request, limit).tools]


SMALL = SelectionRules(max_found=3, max_produced=3)


def test_catalogue_with_room_for_all_is_offered_whole() -> None:
    assert _names(_request("zzz"), SelectionRules()) == [tool.name for tool in CATALOGUE.signatures()]


def test_words_of_the_request_find_its_tools() -> None:
    assert "show_harbour" in _names(_request("show me the harbour", Permissions()), SMALL)


def test_producers_of_what_is_needed_are_offered_although_nobody_names_them() -> None:
    selection = Selector(CATALOGUE, SMALL).select(_request())
    names = {tool.name for tool in selection.tools}
    assert {"cancel_parcel", "read_entry", "resolve"} <= names
    assert selection.needed_by["read_entry"] == "cancel_parcel"
    assert selection.needed_by["resolve"] == "read_entry"


def test_producers_are_followed_no_deeper_than_the_bound() -> None:
    names = _names(_request(), replace(SMALL, max_depth=1))
    assert "read_entry" in names
    assert "resolve" not in names


def test_no_more_producers_are_offered_than_the_bound() -> None:
    selection = Selector(CATALOGUE, replace(SMALL, max_produced=1)).select(_request())
    assert [*selection.needed_by] == ["read_entry"]
    assert selection.left_out["resolve"] is LeftOut.NO_ROOM


def test_order_is_the_catalogues_whatever_found_the_tools() -> None:
    there = [tool.name for tool in CATALOGUE.signatures()]
    for text in ("cancel the parcel", "the mill and the bridge", "bridge, mill, museum"):
        names = _names(_request(text), SMALL)
        assert names == [name for name in there if name in names]


def test_every_tool_is_offered_or_left_out_with_a_reason() -> None:
    selection = Selector(CATALOGUE, SMALL).select(_request("the museum, the harbour, the theatre and the mill"))
    offered = {tool.name for tool in selection.tools}
    assert offered.isdisjoint(selection.left_out)
    assert offered | selection.left_out.keys() == set(CATALOGUE.tools)


@pytest.mark.parametrize(
    ("request_", "rules", "reason"),
    [
        (_request(permissions=Permissions()), SMALL, LeftOut.EFFECT),
        (_request(permissions=None), SMALL, LeftOut.EFFECT),
        (_request(permissions=replace(WRITING, allowed_tools=("resolve",))), SMALL, LeftOut.NOT_PERMITTED),
        (_request(availability=(ToolAvailability(tool="cancel_parcel", available=False),)), SMALL, LeftOut.UNAVAILABLE),
        (_request(), replace(SMALL, allowed_tools=frozenset({"resolve"})), LeftOut.NOT_WHITELISTED),
        (_request("the museum"), SMALL, LeftOut.NOT_FOUND),
    ],
)
def test_tool_that_may_not_be_used_is_left_out_with_its_reason(
    request_: ThinkRequest, rules: SelectionRules, reason: LeftOut
) -> None:
    selection = Selector(CATALOGUE, rules).select(request_)
    assert selection.left_out["cancel_parcel"] is reason


def test_tool_beyond_the_places_is_left_out_for_want_of_room() -> None:
    text = "the museum, the harbour, the theatre, the station and the mill"
    reasons = Selector(CATALOGUE, SelectionRules(max_found=2, max_produced=0)).select(_request(text)).left_out
    assert [*reasons.values()].count(LeftOut.NO_ROOM) >= 3


def test_blocked_tool_is_offered_neither_by_words_nor_as_a_producer() -> None:
    away = (ToolAvailability(tool="read_entry", available=False),)
    names = _names(_request(availability=away), SMALL)
    assert "read_entry" not in names
    assert "resolve" not in names


def test_switched_off_selection_offers_all_that_may_be_used() -> None:
    rules = SelectionRules(is_on=False, max_found=1, max_produced=0)
    assert len(_names(_request(), rules)) == len(CATALOGUE)
    assert "cancel_parcel" not in _names(_request(permissions=Permissions()), rules)


def test_limit_of_the_caller_bounds_all_tools_together() -> None:
    names = _names(_request(), SMALL, limit=2)
    assert len(names) == 2
    assert "cancel_parcel" in names
    assert len(_names(_request(), SelectionRules(is_on=False), limit=4)) == 4


def test_earlier_turn_finds_tools_where_the_last_one_says_nothing() -> None:
    turns = (Turn(role=Role.USER, text="cancel the parcel"), Turn(role=Role.USER, text="yes, do it"))
    assert "cancel_parcel" in _names(replace(_request(), turns=turns), SMALL)


def test_tool_of_a_completed_step_can_be_called_again() -> None:
    done = CompletedStep(step_id="1.t1", tool="resolve", exposed={"holder_key": "k"})
    assert "resolve" in _names(_request("yes", completed=(done,)), SMALL)


def test_request_without_words_is_offered_nothing_that_has_no_room() -> None:
    assert _names(ThinkRequest(run_id="r", iteration=1), SMALL) == []


def test_code_finds_the_tools_whose_pattern_it_keeps() -> None:
    code = {"type": "string", "pattern": "^QX-[0-9]{5}$"}
    tools = [*OTHERS, _tool("fetch", "Fetches one.", _object(reference=code), _object("status"))]
    selection = Selector(Catalogue.from_signatures(tools), SMALL).select(_request("QX-12345 please"))
    assert "fetch" in [tool.name for tool in selection.tools]


def test_clause_that_only_leads_up_takes_few_places() -> None:
    text = "I was at the museum, the harbour and the theatre. Please cancel the parcel."
    assert "cancel_parcel" in _names(_request(text), replace(SMALL, max_found=5))


BIG = market(3, 120, 10, is_chinese=False)
BIG_SELECTOR = Selector(Catalogue.from_signatures(BIG.tools), SelectionRules())


@settings(max_examples=60)
@given(st.text(max_size=300) | st.sampled_from([case.request.turns[0].text for case in BIG.cases]), st.integers(1, 30))
def test_any_text_is_offered_bounded_known_tools_and_the_same_ones_again(text: str, limit: int) -> None:
    request = _request(text)
    selection = BIG_SELECTOR.select(request, limit)
    assert len(selection.tools) <= min(limit, 20)
    assert {*selection.needed_by} <= {tool.name for tool in selection.tools}
    assert BIG_SELECTOR.select(request, limit) == selection


def test_most_of_the_needed_tools_of_a_chain_are_offered_on_a_large_catalogue() -> None:
    cases = [case for case in market(4, 200, 40, is_chinese=False).cases if case.hidden]
    selector = Selector(Catalogue.from_signatures(market(4, 200, 40, is_chinese=False).tools))
    complete = [case.needed <= {tool.name for tool in selector.select(case.request).tools} for case in cases]
    assert sum(complete) >= 0.8 * len(complete)
