"""Rules of showing the catalogue."""

import pytest

from taoloop.action.listing import cut_page, get_tool, list_tools, page_limit
from taoloop.core.errors import InvalidRequest, UnknownTool
from taoloop.plan.task import ToolAvailability
from taoloop.tools.signature import Effect
from tests.unit.action.contracts import CHANGE, catalogue


def available(tool: str) -> ToolAvailability:
    return ToolAvailability(tool=tool, available=True)


def unavailable(tool: str) -> ToolAvailability:
    return ToolAvailability(tool=tool, available=False, reason="switched_off")


def test_pages_together_are_the_catalogue_by_name() -> None:
    tools = catalogue()
    names: list[str] = []
    token, pages = "", 0
    while pages == 0 or token:
        page = list_tools(tools, 2, token, available)
        names += [tool.name for tool in page.tools]
        token, pages = page.next_page_token, pages + 1
        assert page.catalogue_digest == tools.digest
    assert names == sorted(tools.tools)
    assert pages == 3


def test_a_page_that_ends_with_the_catalogue_has_no_next() -> None:
    assert list_tools(catalogue(), 5, "", available).next_page_token == ""


def test_a_summary_holds_what_a_planner_needs() -> None:
    summary = get_tool(catalogue(), "change", unavailable).tool
    assert summary is not None
    assert (summary.effect, summary.timeout_seconds, summary.contract_digest) == (Effect.WRITE, 2.0, CHANGE.digest)
    assert summary.parameters == CHANGE.parameters
    assert summary.availability == unavailable("change")


def test_an_unknown_tool_is_an_error() -> None:
    with pytest.raises(UnknownTool):
        get_tool(catalogue(), "nothing", available)


@pytest.mark.parametrize(("size", "limit"), [(0, 100), (7, 7), (10_000, 1000)])
def test_a_page_has_bounds(size: int, limit: int) -> None:
    assert page_limit(size) == limit


def test_a_negative_page_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        page_limit(-1)


def test_a_cut_page_knows_whether_more_follows() -> None:
    assert cut_page([1, 2, 3], 2) == ((1, 2), 2)
    assert cut_page([1, 2], 2) == ((1, 2), None)
