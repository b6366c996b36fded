"""Call ids, pairing of results, call keys."""

from __future__ import annotations

from decimal import Decimal
from itertools import count

import pytest

from taoloop.plan.calls import CallResult, ToolCall, call_key, pair_results, with_unique_ids


def test_calls_with_one_id_get_ids_of_their_own() -> None:
    # Case C051-1.
    calls = [ToolCall(call_id="call_1", tool="read", arguments={"p": path}) for path in ("/a", "/b")]
    numbers = count()
    ours = with_unique_ids(calls, lambda: f"id{next(numbers)}")
    assert [call.call_id for call in ours] == ["id0", "id1"]
    assert [call.arguments for call in ours] == [{"p": "/a"}, {"p": "/b"}]


def pending(*names: str) -> list[ToolCall]:
    return [ToolCall(call_id=f"c{index}", tool=name, arguments={}) for index, name in enumerate(names)]


def test_result_that_fits_two_calls_is_refused() -> None:
    # Case C051-4.
    pairing = pair_results(pending("search", "search"), [CallResult(tool="search", data=n) for n in (1, 2)])
    assert pairing.results == {}
    assert [str(fault.code) for fault in pairing.faults] == ["AMBIGUOUS_RESULT", "AMBIGUOUS_RESULT"]
    assert pairing.faults[0].candidates == ("c0", "c1")


def test_result_goes_to_its_call_by_id_in_any_order() -> None:
    results = [CallResult(call_id="c1", data=2), CallResult(call_id="c0", tool="search", data=1)]
    pairing = pair_results(pending("search", "search"), results)
    assert {call: result.data for call, result in pairing.results.items()} == {"c0": 1, "c1": 2}
    assert pairing.faults == ()


def test_result_without_id_goes_to_the_only_call_that_is_left() -> None:
    results = [CallResult(tool="search", data="unnamed"), CallResult(call_id="c0", data="named")]
    pairing = pair_results(pending("search", "search"), results)
    assert pairing.results["c1"].data == "unnamed"


@pytest.mark.parametrize(
    "result",
    [
        CallResult(call_id="other", data=1),
        CallResult(call_id="c0", tool="read", data=1),
        CallResult(tool="read", data=1),
    ],
)
def test_result_that_fits_no_call_is_refused(result: CallResult) -> None:
    pairing = pair_results(pending("search"), [result])
    assert pairing.results == {}
    assert len(pairing.faults) == 1


def test_second_result_for_a_call_is_refused() -> None:
    pairing = pair_results(pending("search"), [CallResult(call_id="c0", data=1), CallResult(call_id="c0", data=2)])
    assert pairing.results["c0"].data == 1
    assert len(pairing.faults) == 1


def test_call_key_does_not_depend_on_spelling() -> None:
    assert call_key("t", {"a": 1, "b": Decimal("2.0")}) == call_key("t", {"b": 2, "a": Decimal("1e0")})
    assert call_key("t", {"a": 1}) != call_key("u", {"a": 1})
    assert call_key("t", {"a": 1}) != call_key("t", {"a": True})
