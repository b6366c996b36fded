"""Links: a tool that stands in for another, or looks up its outcome, fits or is refused."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.tools.contracts import document
from tests.unit.tools.loading.checks.findings import errors, found, writing

_TOOK_PLACE = {"===": [{"var": "status_code"}, 200]}
_ONE_PARAMETER = {
    "type": "object",
    "required": ["order"],
    "additionalProperties": False,
    "properties": {"order": {"type": "string", "description": "Order number"}},
}


_JOB = {
    "create": {"method": "POST", "url": "{{base.orders}}/tasks/{order_id}"},
    "query": {"method": "GET", "url": "{{base.orders}}/tasks/{job.id}"},
    "id": "/id",
    "status": "/state",
    "states": {"pending": "p", "running": "r", "succeeded": "s", "failed": "f"},
    "total": "30s",
}


def _with_fallback(**arguments: Any) -> dict[str, Any]:
    return document(spec__fallback={"tool": "stand_in", **arguments})


@pytest.mark.parametrize(
    ("code", "pointer", "first", "second"),
    [
        ("UNKNOWN_TOOL", "/spec/fallback/tool", document(spec__fallback={"tool": "nope"}), document("stand_in")),
        ("SAME_TOOL", "/spec/fallback/tool", document(spec__fallback={"tool": "get_order"}), document("stand_in")),
        ("FALLBACK_EFFECT", "/spec/fallback/tool", _with_fallback(), writing("stand_in")),
        ("FALLBACK_REACH", "/spec/fallback/tool", _with_fallback(), document("stand_in", spec__reach="outward")),
        (
            "FALLBACK_OUTPUT",
            "/spec/fallback/tool",
            _with_fallback(),
            document("stand_in", spec__observe__normalise=[{"field": "/state"}]),
        ),
        (
            "FALLBACK_OUTPUT",
            "/spec/fallback/tool",
            _with_fallback(),
            document("stand_in", spec__response__required=[]),
        ),
        (
            "FALLBACK_OUTPUT",
            "/spec/fallback/tool",
            _with_fallback(),
            document("stand_in", spec__response__properties__eta={"type": "integer"}),
        ),
        (
            "FALLBACK_OUTPUT",
            "/spec/fallback/tool",
            _with_fallback(),
            document("stand_in", spec__response={"type": "array"}, spec__observe={}),
        ),
        (
            "ARGUMENTS",
            "/spec/fallback/tool",
            _with_fallback(),
            document("stand_in", spec__parameters=_ONE_PARAMETER, spec__transport__http__url="{{base.orders}}/x"),
        ),
        (
            "ARGUMENTS",
            "/spec/fallback/tool",
            _with_fallback(),
            document("stand_in", spec__parameters__required=["order_id", "language"]),
        ),
        (
            "ARGUMENTS",
            "/spec/fallback/tool",
            _with_fallback(),
            document("stand_in", spec__parameters__properties__order_id={"type": "integer", "description": "x"}),
        ),
        (
            "ARGUMENTS",
            "/spec/fallback/arguments/colour",
            _with_fallback(arguments={"order_id": "{order_id}", "colour": "red"}),
            document("stand_in"),
        ),
        (
            "ARGUMENTS",
            "/spec/fallback/arguments/order_id",
            _with_fallback(arguments={"order_id": 5}),
            document("stand_in"),
        ),
        ("ARGUMENTS", "/spec/fallback/arguments", _with_fallback(arguments={}), document("stand_in")),
        (
            "UNKNOWN_PLACEHOLDER",
            "/spec/fallback/arguments/order_id",
            _with_fallback(arguments={"order_id": "{nope}"}),
            document("stand_in"),
        ),
        (
            "RECONCILE_EFFECT",
            "/spec/reconcile/tool",
            writing(spec__reconcile={"tool": "stand_in", "took_place": _TOOK_PLACE}),
            writing("stand_in"),
        ),
        (
            "UNKNOWN_TOOL",
            "/spec/reconcile/tool",
            writing(spec__reconcile={"tool": "nope", "took_place": _TOOK_PLACE}),
            document("stand_in"),
        ),
        (
            "INVALID_RULE",
            "/spec/reconcile/took_place",
            writing(spec__reconcile={"tool": "stand_in", "took_place": {"is": 1}}),
            document("stand_in"),
        ),
        (
            "UNKNOWN_PLACEHOLDER",
            "/spec/reconcile/arguments/order_id",
            writing(
                spec__reconcile={
                    "tool": "stand_in",
                    "took_place": _TOOK_PLACE,
                    "arguments": {"order_id": "{idempotency_key}"},
                }
            ),
            document("stand_in"),
        ),
    ],
)
def test_a_tool_that_does_not_fit_is_found(
    tmp_path: Path, code: str, pointer: str, first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert errors(tmp_path, first, second) == [(code, pointer)]


def test_a_fallback_that_fits_is_let_through(tmp_path: Path) -> None:
    renamed = document(
        "stand_in", spec__parameters=_ONE_PARAMETER, spec__transport__http__url="{{base.orders}}/{order}"
    )
    assert found(tmp_path, _with_fallback(arguments={"order": "no. {order_id}"}), renamed) == []


def test_a_look_up_by_the_key_that_was_sent_is_let_through(tmp_path: Path) -> None:
    by_key = {"tool": "stand_in", "took_place": _TOOK_PLACE, "arguments": {"order_id": "{idempotency_key}"}}
    key = {"in": "header", "name": "Idempotency-Key"}
    assert found(tmp_path, writing(spec__reconcile=by_key, spec__idempotency=key), document("stand_in")) == []


def test_a_look_up_for_a_read_is_a_warning(tmp_path: Path) -> None:
    reconcile = {"tool": "stand_in", "took_place": True}
    assert found(tmp_path, document(spec__reconcile=reconcile), document("stand_in")) == [
        ("RECONCILE", "/spec/reconcile")
    ]


def test_other_peoples_text_in_the_place_of_trusted_data_is_a_warning(tmp_path: Path) -> None:
    stand_in = document("stand_in", spec__trust="untrusted")
    assert found(tmp_path, _with_fallback(), stand_in) == [("FALLBACK_TRUST", "/spec/fallback/tool")]
    assert errors(tmp_path, _with_fallback(), stand_in) == []


def test_a_circle_of_fallbacks_is_found_at_each_of_its_tools_and_nowhere_else(tmp_path: Path) -> None:
    chain = [document(name, spec__fallback={"tool": after}) for name, after in ("ab", "bc", "cb")]
    assert errors(tmp_path, *chain) == [("FALLBACK_CYCLE", "/spec/fallback/tool")] * 2


def test_a_chain_of_fallbacks_longer_than_is_tried_is_found_where_it_begins(tmp_path: Path) -> None:
    chain = [document(name, spec__fallback={"tool": after}) for name, after in ("ab", "bc", "cd", "de")]
    assert errors(tmp_path, *chain, document("e")) == [("FALLBACK_CHAIN", "/spec/fallback/tool")]


def test_a_chain_of_fallbacks_that_is_tried_to_its_end_is_let_through(tmp_path: Path) -> None:
    chain = [document(name, spec__fallback={"tool": after}) for name, after in ("ab", "bc", "cd")]
    assert errors(tmp_path, *chain, document("d")) == []


def test_a_job_stands_in_for_no_tool(tmp_path: Path) -> None:
    job = document("stand_in", spec__transport={"job": _JOB})
    assert errors(tmp_path, _with_fallback(), job) == [("FALLBACK_JOB", "/spec/fallback/tool")]


def test_a_job_looks_no_outcome_up(tmp_path: Path) -> None:
    write = writing(spec__reconcile={"tool": "stand_in", "took_place": _TOOK_PLACE})
    job = document("stand_in", spec__transport={"job": _JOB})
    assert errors(tmp_path, write, job) == [("RECONCILE_JOB", "/spec/reconcile/tool")]


def test_a_tool_whose_own_contract_has_faults_is_known_and_not_compared(tmp_path: Path) -> None:
    assert errors(tmp_path, _with_fallback(), writing("stand_in", spec__colour="red")) == [("FORM", "/spec/colour")]


@pytest.mark.parametrize(("kind", "codes"), [("integer", ["FALLBACK_OUTPUT"]), ("string", [])])
def test_outputs_are_compared_at_every_depth(tmp_path: Path, kind: str, codes: list[str]) -> None:
    def nested(leaf: str) -> dict[str, Any]:
        place = {"type": "object", "required": ["city"], "properties": {"city": {"type": leaf}}}
        return {"type": "object", "required": ["place"], "properties": {"place": place, "note": {"type": "string"}}}

    first = document(spec__fallback={"tool": "stand_in"}, spec__response=nested("string"), spec__observe={})
    second = document("stand_in", spec__response=nested(kind), spec__observe={})
    assert [code for code, _ in errors(tmp_path, first, second)] == codes
