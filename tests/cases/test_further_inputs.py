"""Inputs of every kind reach the product; further inputs of the kinds of `tests/cases`, made up here."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.core.clock import SystemClock
from taoloop.evaluation.cases.adapters import ADAPTERS
from taoloop.evaluation.cases.model import Case, Verdict
from taoloop.evaluation.cases.running import run_case

TOOLS = ["orders_get", "orders_search"]
RESULTS = {"s1": {"id": 901, "name": "Ann", "tags": ["x", "y"], "a/b": {"~k": 1}, "none": None}, "1.t2": [{"v": 17}]}
COUNT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def step(step_id: str, *depends_on: str, tool: str = "orders_get", **args: Any) -> dict[str, Any]:
    return {"id": step_id, "tool": tool, "args": args, "depends_on": list(depends_on)}


def plan(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "plan", "tools": TOOLS, "plan": {"steps": list(steps)}}


def plan_run(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": "plan_run", "plan": {"steps": list(steps)}, **more}


def reference(**args: Any) -> dict[str, Any]:
    return {"kind": "reference", "results": RESULTS, "args": args}


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"kind": "llm_output", "text": text, **more}


def arguments(text: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"kind": "tool_args", "schema": COUNT if schema is None else schema, "args_text": text}


def metadata(value: str) -> dict[str, Any]:
    return {"kind": "grpc_metadata", "key": "x-note", "value": value}


def normalise(case_type: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "normalise", "type": case_type, "value": value, **more}


REFUSED_METADATA = {"outcome": "rejected", "error_class": "invalid_metadata", "executed": False}
TOO_LARGE = {"status": "error", "error_class": "message_too_large", "attempts": 1, "breaker_failures": 0}

ROWS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "a step that waits for itself",
        plan(step("a", "a")),
        {"errors": [{"class": "dependency_cycle", "members": ["a"]}]},
    ),
    (
        "two cycles are two faults",
        plan(step("a", "b"), step("b", "a"), step("c", "d"), step("d", "c")),
        {
            "error_count": 2,
            "errors": [
                {"class": "dependency_cycle", "members": ["a", "b"]},
                {"class": "dependency_cycle", "members": ["c", "d"]},
            ],
        },
    ),
    ("a plan without steps", plan(), {"outcome": "rejected", "errors": [{"class": "empty_plan"}]}),
    ("order follows dependencies", plan(step("b", "a"), step("a")), {"outcome": "accepted", "order": ["a", "b"]}),
    (
        "a reference to a step that is waited for",
        plan(step("a"), step("b", "a", x="REF(a,/id)")),
        {"outcome": "accepted"},
    ),
    (
        "a reference to a step that is not waited for",
        plan(step("a"), step("b", x="REF(a,/id)")),
        {"outcome": "rejected", "errors": [{"class": "undeclared_dependency"}]},
    ),
    (
        "a described tool has its parameters",
        {**plan(step("a", tool="t")), "tools": [{"name": "t", "parameters": COUNT}]},
        {"errors": [{"class": "missing_parameter", "path": "/steps/0/args/n"}]},
    ),
    (
        "of two ways to a step one fails",
        plan_run(step("d", "b", "c"), step("b", "a", x=1), step("c", "a", x=2), step("a"), outcomes={"c": "error"}),
        {
            "states": {"a": "succeeded", "b": "succeeded", "c": "failed", "d": "skipped"},
            "causes": {"c": "", "d": "c"},
            "executions": 3,
        },
    ),
    (
        "a reference that holds nothing fails the step without a call",
        plan_run(step("a"), step("b", "a", x="REF(a,/missing)"), step("c", "b")),
        {"states": {"a": "succeeded", "b": "skipped", "c": "skipped"}, "order": ["a"]},
    ),
    (
        "a bad plan does not run at all",
        plan_run(step("x"), step("a", "b"), step("b", "a")),
        {"outcome": "rejected", "error_class": "invalid_plan", "executed": False},
    ),
    (
        "a reference inside of a text",
        reference(t="no. REF(s1,/id) of REF(s1,/name)"),
        {"resolved": {"t": "no. 901 of Ann"}},
    ),
    (
        "references in lists and objects beside fixed values",
        reference(a=["REF(s1,/tags)", {"b": "REF(1.t2,/0/v)"}], plain="x", n=5, e=[]),
        {"resolved": {"a": [["x", "y"], {"b": 17}], "plain": "x", "n": 5, "e": []}},
    ),
    (
        "an escaped pointer, and null",
        reference(a="REF(s1,/a~1b/~0k)", n="REF(s1,/none)"),
        {"resolved": {"a": 1, "n": None}},
    ),
    ("a whole result", reference(w="REF(1.t2,)"), {"resolved": {"w": [{"v": 17}]}}),
    ("a pointer to nothing", reference(a="REF(s1,/x)"), {"error_class": "unresolved_reference", "executed": False}),
    ("a list inside of a text", reference(a="x REF(s1,/tags)"), {"outcome": "rejected", "executed": False}),
    (
        "arguments that need a coercion",
        {"kind": "tool_args", "schema": COUNT, "args_text": '{"n": "-12"}'},
        {"outcome": "accepted", "args": {"n": -12}, "coerced": ["/n"]},
    ),
    (
        "arguments that are cut off",
        {"kind": "tool_args", "schema": COUNT, "args_text": '{"n": 1'},
        {"outcome": "rejected", "error_class": "malformed_arguments", "executed": False, "includes": ["position"]},
    ),
    (
        "calls without ids",
        {"kind": "tool_calls", "calls": [{"name": "a", "args": {}}, {"id": None, "name": "a", "args": {}}]},
        {"executions": 2, "unique_ids": True},
    ),
    (
        "one call is left for a result without id",
        {
            "kind": "tool_results",
            "pending": [{"id": "x", "name": "s"}, {"id": "y", "name": "t"}],
            "results": [{"id": None, "name": "t", "data": 1}, {"id": "x", "name": "s", "data": 2}],
        },
        {"outcome": "accepted", "paired": {"x": 2, "y": 1}},
    ),
    (
        "numbers of one value are one argument",
        {
            "kind": "call_sequence",
            "threshold": 2,
            "calls": [{"tool": "a", "args": {"x": 1.0}, "result": 1}, {"tool": "a", "args": {"x": 1}, "result": 1.0}],
        },
        {"loop_detected": True, "at_call": 2},
    ),
    ("arguments in a fence", arguments('```json\n{"n": 1,}\n```'), {"args": {"n": 1}, "repaired": True}),
    ("arguments of Python", arguments("{'n': '12'}"), {"args": {"n": 12}, "coerced": ["/n"], "repaired": True}),
    ("arguments written twice over", arguments('"{\\"n\\": 3}"'), {"args": {"n": 3}, "coerced": [""]}),
    ("arguments with an empty string behind", arguments('{}""', {"type": "object"}), {"args": {}, "repaired": True}),
    ("an argument that is not finite", arguments('{"n": 1e999}'), {"error_class": "non_finite_number"}),
    ("an argument that is given twice", arguments('{"n": 1, "n": 1}'), {"error_class": "duplicate_key"}),
    (
        "words for arguments",
        arguments("none needed", {"type": "object"}),
        {"error_class": "malformed_arguments", "executed": False, "includes": ["schema", "position"]},
    ),
    (
        "a draft and a plan in the words of a thinking model",
        said('<THOUGHT>{"steps": [1]}</THOUGHT>\n```json\n{"steps": []}\n```'),
        {"value": {"steps": []}, "repaired": True},
    ),
    ("a call in the reasoning alone", said('<tool_call>{"name":"f"}</tool_call></think>'), {"outcome": "rejected"}),
    ("a key without its object", said('"steps": [1]}'), {"outcome": "rejected", "error_class": "malformed_json"}),
    (
        "a call of Hermes",
        said('<tool_call>{"name":"f","arguments":{"a":"</b>"}}</tool_call>'),
        {"outcome": "parsed", "calls": [{"name": "f", "args": {"a": "</b>"}}]},
    ),
    ("a call of a format that is not read", said("<function=f>1</function>"), {"error_class": "unparsed_tool_call"}),
    (
        "calls that the server read",
        {"kind": "chat_response", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
        {"outcome": "parsed", "calls": [{"name": "f", "args": {}}]},
    ),
    (
        "a whole message that was cut off",
        {"kind": "chat_response", "content": "{}", "finish_reason": "length"},
        {"outcome": "rejected", "error_class": "truncated", "executed": False},
    ),
    (
        "a whole answer of a server",
        {
            "kind": "chat_response",
            "choices": [{"message": {"role": "assistant", "content": "```\n[]\n```"}, "finish_reason": "stop"}],
        },
        {"outcome": "parsed", "value": [], "repaired": True},
    ),
    (
        "a plan beside the reasoning",
        {"kind": "chat_response", "content": '{"a":1}', "reasoning_content": '{"a":2}', "finish_reason": "stop"},
        {"value": {"a": 1}, "repaired": False, "reasoning": ['{"a":2}']},
    ),
    (
        "a whole object at the token limit",
        {"kind": "llm_output", "text": '{"a": 1}', "finish_reason": "length"},
        {"outcome": "rejected", "error_class": "truncated", "executed": False},
    ),
    (
        "the spelling of numbers matters",
        {
            "kind": "schema_instance",
            "schema_text": '{"maximum": 9007199254740992}',
            "instance_text": "9007199254740993",
        },
        {"valid": False},
    ),
    (
        "a message of exactly the limit",
        {"kind": "grpc_size", "limit_bytes": 65536, "response_bytes": 65536},
        {"status": "success"},
    ),
    ("a message of one byte more", {"kind": "grpc_size", "limit_bytes": 65536, "response_bytes": 65537}, TOO_LARGE),
    (
        "a request that is too large never leaves",
        {"kind": "grpc_size", "limit_bytes": 65536, "request_bytes": 70000},
        {**TOO_LARGE, "attempts": 0},
    ),
    ("printable metadata", metadata("plain, with spaces"), {"roundtrip": True}),
    ("metadata with a line feed", metadata("a\nb"), REFUSED_METADATA),
    ("metadata with an accent", metadata("é"), REFUSED_METADATA),
    (
        "a message with a line feed and a percent",
        {"kind": "grpc_status_message", "value": "a\n100%20 😀"},
        {"roundtrip": True},
    ),
    (
        "a chain whose first step is in time",
        {"kind": "grpc_deadline", "client_deadline_s": 0.5, "tool_s": 0.2},
        {"client_status": "DEADLINE_EXCEEDED", "within_s": 1.0, "steps_started_after_deadline": 0},
    ),
    (
        "a run that is in time",
        {"kind": "grpc_deadline", "client_deadline_s": 10, "tool_s": 0.01},
        {"client_status": "OK", "steps_started": 3, "run_outcome": "answered"},
    ),
    (
        "a tool that is always busy",
        {"kind": "http_server", "behaviour": "always", "status": 503},
        {"error_class": "http_5xx", "requests_on_wire": 1},
    ),
    (
        "a small body that unpacks within the limit",
        {"kind": "http_server", "behaviour": "gzip_zeros", "decoded_bytes": 1000, "limit_bytes": 1024},
        {"error_class": "unexpected_content_type", "requests_on_wire": 1},
    ),
    ("accepted work is pending", {"kind": "http_response", "status": 202}, {"status": "pending"}),
    ("a body that is cut off", {"kind": "http_response", "status": 200, "body": '{"a":'}, {"status": "error"}),
    (
        "a value with a slash",
        {"kind": "path_param", "template": "/u/{id}/x", "params": {"id": "a/b"}},
        {"outcome": "accepted", "path": "/u/a%2Fb/x"},
    ),
    ("a point that groups or parts", normalise("number", "1.234"), {"error_class": "ambiguous_number"}),
    ("a number of India", normalise("number", "12,34,567.5"), {"value": "1234567.5"}),
    ("a number by its region", normalise("number", "1'234.50", locale="de-CH"), {"value": "1234.50"}),
    ("a locale that settles nothing", normalise("number", "1,5", locale="en-ZA"), {"value": "1.5"}),
    ("words for a number", normalise("number", "many"), {"error_class": "not_a_number"}),
    ("a look-alike degree", normalise("temperature", "25℃", to="K"), {"value": 298.15}),
    ("a degree of no scale", normalise("temperature", "25°", to="K"), {"error_class": "ambiguous_temperature"}),
    ("below absolute zero", normalise("temperature", "-1 K", to="°C"), {"error_class": "out_of_range"}),
    ("another dimension", normalise("temperature", "25 kg", to="K"), {"error_class": "wrong_unit"}),
    ("no unit of ours", normalise("length", "1 km", to="parsec"), {"error_class": "unknown_unit"}),
    ("a difference in kelvin", normalise("temperature_difference", "9 °F", to="K"), {"value": 5}),
    ("megabytes are a million bytes", normalise("data", "1 MB", to="B"), {"value": 1000000}),
    ("mebibytes are not", normalise("data", "1 MiB", to="B"), {"value": 1048576}),
    ("a letter case that no prefix has", normalise("data", "1 mb", to="B"), {"error_class": "unknown_unit"}),
    ("a day that is no month", normalise("date", "08/25/2023", order="dmy"), {"error_class": "invalid_date"}),
    ("a short year", normalise("date", "05.08.23", order="DMY"), {"error_class": "ambiguous_date"}),
    ("no date at all", normalise("date", "soon"), {"error_class": "invalid_date"}),
    (
        "yesterday west of Greenwich",
        normalise("datetime", "yesterday at 9am", reference="2026-03-01T23:00:00-05:00"),
        {"value": "2026-02-28T09:00:00-05:00"},
    ),
    (
        "a skipped time",
        normalise("datetime", "2026-03-08 02:30", time_zone="America/New_York"),
        {"error_class": "invalid_datetime"},
    ),
    (
        "a skipped time, shifted",
        normalise("datetime", "2026-03-08 02:30", time_zone="America/New_York", gap="forward"),
        {"value": "2026-03-08T03:30:00-04:00"},
    ),
    (
        "a time that is twice",
        normalise("datetime", "2026-11-01 01:30", time_zone="America/New_York", gap="forward"),
        {"error_class": "ambiguous_datetime"},
    ),
    ("an epoch in a text", normalise("epoch", "1700000123456"), {"value": "2023-11-14T22:15:23.456Z"}),
    ("an epoch of no known length", normalise("epoch", 0), {"error_class": "ambiguous_epoch"}),
    ("an epoch after all time", normalise("epoch", 10**18, unit="s"), {"error_class": "out_of_range"}),
    ("a confidence without a scale", normalise("confidence", 0.5), {"error_class": "ambiguous_confidence"}),
    ("more than all", normalise("confidence", "100.1%"), {"error_class": "out_of_range"}),
    ("an endless confidence", normalise("confidence", "Infinity", scale="percent"), {"error_class": "not_a_number"}),
    ("an enum in another width", normalise("enum", "ＯＰＥＮ ", values=["open"]), {"value": "open"}),
    ("an enum that is not known", normalise("enum", "opened", values=["open"]), {"error_class": "unknown_enum_value"}),
    ("money with too many decimals", normalise("money", "5.5", currency="JPY"), {"error_class": "too_precise"}),
    ("a sign of two currencies", normalise("money", "¥5"), {"error_class": "ambiguous_money"}),
    ("a full-width percent sign", normalise("percentage", "65％"), {"value": 65}),
    ("hours or minutes", normalise("duration", "1:30"), {"error_class": "ambiguous_duration"}),
    ("unseen characters", normalise("text", "a\u200b \u202eb"), {"value": "a b"}),
    (
        "a decimal keeps its last zero",
        {"kind": "roundtrip", "body": '{"price":10.10,"n":1e2}'},
        {"next_args_text_contains": "10.10"},
    ),
    ("a body that is no JSON", {"kind": "roundtrip", "body": "{"}, {"error_class": "unexpected_content_type"}),
]


def case_of(case_input: dict[str, Any], expect: dict[str, Any]) -> Case:
    kind: str = case_input["kind"]
    return Case(line=1, case_id="T-1", component="grpc", kind=kind, input=case_input, expect=expect)


@pytest.mark.parametrize(("case_input", "expect"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
async def test_an_input_of_a_known_kind_is_judged_by_the_product(
    case_input: dict[str, Any], expect: dict[str, Any]
) -> None:
    result = await run_case(case_of(case_input, expect), ADAPTERS, SystemClock())

    assert (result.verdict, result.reason) == (Verdict.PASS, "")


@pytest.mark.parametrize(
    ("case_input", "reason"),
    [
        ({"kind": "llm_output", "text_gen": {"repeat": "x"}}, "how text_gen builds a text is not described"),
        (plan_run(step("a"), outcomes={"a": "maybe"}), "an outcome is error, failed, timeout, "),
        ({"kind": "tool_calls", "calls": {}}, "calls is no list"),
        ({"kind": "tool_calls", "calls": [{"id": "a"}]}, "a call has no 'name'"),
        ({"kind": "call_sequence", "threshold": 1, "calls": []}, "a threshold below 2 makes no loop"),
        ({"kind": "grpc_size", "limit_bytes": 10, "response_bytes": 1}, "no such limit can be set: "),
        ({"kind": "http_server", "behaviour": "sleep"}, "no server behaves as sleep"),
        ({"kind": "normalise", "type": "colour", "value": "red"}, "the product does not normalise a colour yet"),
        (normalise("epoch", 5, unit="weeks"), "no contract can declare this: The option unit is one of s, ms, us, ns."),
        ({"kind": "normalise", "type": "date", "value": "1 May", "unit": "s"}, "nothing reads unit of a date"),
    ],
)
async def test_an_input_that_cannot_be_fed_in_is_unsupported(case_input: dict[str, Any], reason: str) -> None:
    result = await run_case(case_of(case_input, {"outcome": "accepted"}), ADAPTERS, SystemClock())

    assert result.verdict is Verdict.UNSUPPORTED
    assert result.reason.startswith(reason)
