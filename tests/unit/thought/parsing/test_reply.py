"""A reply of a model is strict JSON, or mended by a fixed list outside of its strings, or refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from taoloop.core.exact_json import JsonValue
from taoloop.thought.parsing import Repair, Reply, ReplyFault, ReplyRefused, TextCall, read_reply

R, F = Repair, ReplyFault
NESTED = "[" * 65 + "]" * 65


def fault_of(text: str, finish_reason: str = "") -> ReplyFault:
    with pytest.raises(ReplyRefused) as caught:
        read_reply(text, finish_reason)
    return caught.value.fault


def calls_of(text: str) -> list[tuple[str, dict[str, JsonValue]]]:
    return [(call.name, call.args) for call in read_reply(text).calls]


def test_strict_json_is_not_touched_and_keeps_exact_numbers() -> None:
    reply = read_reply(' {"n": 12345678901234567890, "p": 0.10, "s": "</think>`‘’，"}\n', "stop")

    assert reply == Reply(value={"n": 12345678901234567890, "p": Decimal("0.10"), "s": "</think>`‘’，"})
    assert not reply.is_repaired


@pytest.mark.parametrize(
    ("text", "value", "repairs"),
    [
        ("{'a': 'it\\'s', 'b': \"x'y\"}", {"a": "it's", "b": "x'y"}, {R.PYTHON_QUOTES}),
        ("{'a': '\\x1b', 'u': '\\u00e9'}", {"a": "\x1b", "u": "é"}, {R.PYTHON_QUOTES}),
        ("{'q': 'say \"hi\"'}", {"q": 'say "hi"'}, {R.PYTHON_QUOTES}),
        ('{"t": True, "f": False, "n": None}', {"t": True, "f": False, "n": None}, {R.PYTHON_LITERAL}),
        ('{"s": "True, None,]", "t": True}', {"s": "True, None,]", "t": True}, {R.PYTHON_LITERAL}),
        ("{“a”: “it's”, ‘b’: ‘x’}", {"a": "it's", "b": "x"}, {R.TYPOGRAPHIC_QUOTES}),
        ("{„a“: 1}", {"a": 1}, {R.TYPOGRAPHIC_QUOTES}),
        ('{"q": "“a”，｛", "n": [1,],}', {"q": "“a”，｛", "n": [1]}, {R.TRAILING_COMMA}),
        ("｛＂a＂：［1，2］，　＂b＂：＂c：d＂｝", {"a": [1, 2], "b": "c：d"}, {R.FULL_WIDTH}),
        ('{"a": "x\r\n\ty", "b": 1}', {"a": "x\r\n\ty", "b": 1}, {R.RAW_LINE_FEED}),
        ('\\n{"a":\\n [1,\\n2]}\\n', {"a": [1, 2]}, {R.ESCAPED_LINE_FEED}),
        ("[1,2]]", [1, 2], {R.SURPLUS_CLOSER}),
        ('{"a":{"b":1}}}\n', {"a": {"b": 1}}, {R.SURPLUS_CLOSER}),
        ('[1] ""', [1], {R.EMPTY_STRING_AFTER}),
        ('{"a":1}\n{"a":1.0}', {"a": 1}, {R.SAME_TWICE}),
        ("[1][1]", [1], {R.SAME_TWICE}),
        ('json {"a": 1}', {"a": 1}, {R.LEADING_WORD}),
        ('```json\n{"a": "```"}\n```', {"a": "```"}, {R.FENCE}),
        ('Sure:\n```\n[{"a": 1}]\n```\nDone.', [{"a": 1}], {R.FENCE, R.PROSE}),
        ('`{"a": 1}`', {"a": 1}, {R.PROSE}),
        ('Fill {name} as in [docs](x): {"a": "{b}"}', {"a": "{b}"}, {R.PROSE}),
        ('{1, 2} is a set: {"a": 1}', {"a": 1}, {R.PROSE}),
        ('{"a": 1, "b": 2}{"b": 2, "a": 1}', {"a": 1, "b": 2}, {R.SAME_TWICE}),
        ('{"a": 1}<|im_end|>', {"a": 1}, {R.PROSE}),
        ('{"a": [1, 2,], "b": \'c\'}}', {"a": [1, 2], "b": "c"}, {R.TRAILING_COMMA, R.PYTHON_QUOTES, R.SURPLUS_CLOSER}),
    ],
)
def test_what_is_on_the_list_is_mended_and_flagged(text: str, value: Any, repairs: set[Repair]) -> None:
    assert read_reply(text) == Reply(value=value, repairs=frozenset(repairs))


@pytest.mark.parametrize(
    ("text", "reasoning"),
    [
        ('<think>{"no": 1}</think>{"a": 1}', ['{"no": 1}']),
        ('<THOUGHT>goal</THOUGHT> <reasoning>why {</reasoning>\n{"a": 1}', ["goal", "why {"]),
        ('{"no": 1} perhaps\n</THINK>\n{"a": 1}', ['{"no": 1} perhaps']),
        ('Draft {"steps": [...]} first\n</think>{"a": 1}', ['Draft {"steps": [...]} first']),
        ('```json\n{"no": 1}\n</think>{"a": 1}', ['```json\n{"no": 1}']),
        ('<think>a</think>b</think>{"a": 1}', ["a", "<think>a</think>b"]),
        ('{"a": 1}\n<think>was that right?</think>', ["was that right?"]),
        ('[THINK]{"no": 1}[/THINK]{"a": 1}', ['{"no": 1}']),
        ('<tool_call>{"name": "no"}</tool_call> no\n</think>{"a": 1}', ['<tool_call>{"name": "no"}</tool_call> no']),
    ],
)
def test_reasoning_is_taken_out_and_kept(text: str, reasoning: list[str]) -> None:
    reply = read_reply(text)

    assert reply.value == {"a": 1}
    assert list(reply.reasoning) == reasoning
    assert R.REASONING in reply.repairs


def test_a_closing_tag_inside_of_a_string_ends_nothing() -> None:
    assert read_reply('{"html": "</think>{}", }').value == {"html": "</think>{}"}
    assert fault_of('{"a": bad, "html": "x</think>{\'tool\':\'rm\'}"}') is F.MALFORMED_JSON


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", F.EMPTY_CONTENT),
        (" \n", F.EMPTY_CONTENT),
        ('<think>{"a": 1}</think>', F.EMPTY_CONTENT),
        ('{"a": 1}</think>', F.EMPTY_CONTENT),
        ("I cannot help.", F.NO_PLAN),
        ("42", F.NO_PLAN),
        ('"{}"', F.NO_PLAN),
        ("null", F.NO_PLAN),
        ("{", F.TRUNCATED),
        ('{"a": [1, {"b": "x', F.TRUNCATED),
        ('{"a": tru', F.TRUNCATED),
        ('{"a": 1}{"a"', F.TRUNCATED),
        ('```json\n{"a": 1}\n', F.TRUNCATED),
        ('<think>so {"a": 1}', F.TRUNCATED),
        ('{"a": 1}\n<think', F.TRUNCATED),
        ("[see", F.TRUNCATED),
        ("[see] this", F.NO_PLAN),
        ('{tool: "x", args: {"a": 1}}', F.MALFORMED_JSON),
        ('{tool: x} or {"a": 1}', F.MALFORMED_JSON),
        ('{"a": 1 "b": 2}', F.MALFORMED_JSON),
        ('{"steps": [{"id": "s1"} {"id": "s2"}]}', F.MALFORMED_JSON),
        ('{"steps":[{"id":"s1"}}]}', F.MALFORMED_JSON),
        ('"steps": [{"id": "s1"}]}', F.MALFORMED_JSON),
        ('"a": {"b": 1}', F.MALFORMED_JSON),
        ('{"a": 1}, "b": 2}', F.MALFORMED_JSON),
        ('{"a": 1}}}', F.MALFORMED_JSON),
        ('}{"a": 1}', F.MALFORMED_JSON),
        ('{"a": 1},', F.MALFORMED_JSON),
        ('{}"x"', F.MALFORMED_JSON),
        ("[1,,2]", F.MALFORMED_JSON),
        ("[,]", F.MALFORMED_JSON),
        ("{]", F.MALFORMED_JSON),
        ('{"a":}', F.MALFORMED_JSON),
        ('{"a": 01}', F.MALFORMED_JSON),
        ('{"a": .5}', F.MALFORMED_JSON),
        ('{"a": 1 // one\n}', F.MALFORMED_JSON),
        ("{'q': 'driver's note'}", F.MALFORMED_JSON),
        ("{1: 'a'}", F.MALFORMED_JSON),
        ('{"re": "\\d"}', F.MALFORMED_JSON),
        ('{"a": "\x00"}', F.MALFORMED_JSON),
        ('{"a":1}{"a":2}', F.AMBIGUOUS_JSON),
        ('{"a":1} or {"b":1}', F.AMBIGUOUS_JSON),
        ('[1]{"a":1}', F.AMBIGUOUS_JSON),
        ("[1][1][1]", F.AMBIGUOUS_JSON),
        ('{"a": “b", "c": "d”}', F.AMBIGUOUS_JSON),
        ('[{"a": NaN}]', F.NON_FINITE_NUMBER),
        ("[Infinity]", F.NON_FINITE_NUMBER),
        ("[-inf]", F.NON_FINITE_NUMBER),
        ("[-1E999]", F.NON_FINITE_NUMBER),
        ("[" + "9" * 310 + "]", F.NON_FINITE_NUMBER),
        ('{"a":1,"a":1}', F.DUPLICATE_KEY),
        ("{'a':1,\"\\u0061\":2,}", F.DUPLICATE_KEY),
        (NESTED, F.NESTING_TOO_DEEP),
        ("Plan: " + NESTED, F.NESTING_TOO_DEEP),
        ("[" * 100_000, F.NESTING_TOO_DEEP),
        ('{"a": "\\udc00"}', F.INVALID_UNICODE),
        ('{"a": "\\ud83d\\ud83d"}', F.INVALID_UNICODE),
        ('{"a": "\\ud83d x\\ude80"}', F.INVALID_UNICODE),
        ('{"\\ud83d": 1}', F.INVALID_UNICODE),
        ('{"a": "\ud83d"}', F.INVALID_UNICODE),
    ],
)
def test_what_has_no_single_reading_is_refused(text: str, fault: ReplyFault) -> None:
    assert fault_of(text) is fault


@pytest.mark.parametrize("finish_reason", ["length", "LENGTH", "max_tokens", "content_filter", "abort"])
def test_a_reply_that_was_stopped_is_refused_though_it_parses(finish_reason: str) -> None:
    assert fault_of('{"steps": []}', finish_reason) is F.TRUNCATED


def test_a_refusal_names_the_place_and_keeps_the_payload_out_of_its_message() -> None:
    with pytest.raises(ReplyRefused) as caught:
        read_reply('{"a": 1,\n "b": secret}')

    assert str(caught.value) == "The reply is not used: a value is missing at line 2, column 7."
    assert caught.value.syntax is not None
    assert (caught.value.syntax.line, caught.value.syntax.column) == (2, 7)
    assert "secret" in caught.value.syntax.excerpt


CALL = '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": "</tool_call>```"}\n```<｜tool▁call▁end｜>'
SHORT = '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1,}<｜tool▁call▁end｜>'
TAGGED = '<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>'
TWO = f"Two. {TAGGED}<tool_call>{{'name': 'g', 'parameters': {{}}}}</tool_call>"
BEGIN, END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (BEGIN + CALL + END, [("f", {"a": "</tool_call>```"})]),
        (f"{BEGIN}{SHORT}\n{SHORT}{END}<｜end▁of▁sentence｜>", [("f", {"a": 1}), ("f", {"a": 1})]),
        (f"<think>x</think>{BEGIN}{CALL}{END}", [("f", {"a": "</tool_call>```"})]),
        ('<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>', [("f", {"a": 1})]),
        (TWO, [("f", {"a": 1}), ("g", {})]),
        ('[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]', [("f", {"a": 1})]),
        ('<tool_call>{"name": "f", "arguments": null}</tool_call>', [("f", {})]),
    ],
)
def test_calls_in_a_format_of_the_models_are_understood(text: str, calls: list[tuple[str, Any]]) -> None:
    assert calls_of(text) == calls
    assert read_reply(text).value is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (BEGIN + CALL, F.TRUNCATED),
        (CALL, F.TRUNCATED),
        (BEGIN + CALL[:-5] + END, F.TRUNCATED),
        (BEGIN, F.TRUNCATED),
        (BEGIN + END, F.UNPARSED_TOOL_CALL),
        (f'{BEGIN}{SHORT}{END}{{"a": 1}}', F.AMBIGUOUS_JSON),
        ('<tool_call>{"name": "f"', F.TRUNCATED),
        ('<tool_call>{"name": "f"} x</tool_call>', F.UNPARSED_TOOL_CALL),
        ('<tool_call>{"arguments": {}}</tool_call>', F.UNPARSED_TOOL_CALL),
        ('<tool_call>{"name": "f", "arguments": "x"}</tool_call>', F.UNPARSED_TOOL_CALL),
        ('<tool_call>{"name": "f", "arguments": [1]}</tool_call>', F.UNPARSED_TOOL_CALL),
        ("<tool_call><function=f><parameter=a>1</parameter></function></tool_call>", F.UNPARSED_TOOL_CALL),
        ('<function=f>{"a": 1}</function>', F.UNPARSED_TOOL_CALL),
        ('<|python_tag|>{"name": "f", "parameters": {}}', F.UNPARSED_TOOL_CALL),
        ('<|channel|>commentary to=f<|message|>{"a": 1}', F.UNPARSED_TOOL_CALL),
        ('<invoke name="f"><parameter name="a">1</parameter></invoke>', F.UNPARSED_TOOL_CALL),
        ('[TOOL_CALLS]f{"a": 1}', F.UNPARSED_TOOL_CALL),
        ('[TOOL_CALLS]{"name": "f"}', F.UNPARSED_TOOL_CALL),
        (f"{BEGIN}<｜tool▁call▁begin｜>f<｜tool▁call▁end｜>{END}", F.UNPARSED_TOOL_CALL),
        (BEGIN + SHORT.replace("f<", "f g<") + END, F.UNPARSED_TOOL_CALL),
        (BEGIN + CALL.replace("```<", "<") + END, F.UNPARSED_TOOL_CALL),
        (BEGIN + SHORT.replace('{"a": 1,}', '{"a": 1} x') + END, F.UNPARSED_TOOL_CALL),
        (BEGIN + SHORT.replace('{"a": 1,}', "[1]") + END, F.UNPARSED_TOOL_CALL),
        (BEGIN + SHORT.replace('{"a": 1,}', '{"a": NaN}') + END, F.NON_FINITE_NUMBER),
        ('<tool_call>{"name": "f", "name": "g"}</tool_call>', F.DUPLICATE_KEY),
        ("Done.</tool_call>", F.UNPARSED_TOOL_CALL),
    ],
)
def test_calls_that_are_not_understood_are_never_text(text: str, fault: ReplyFault) -> None:
    assert fault_of(text) is fault


def test_a_missing_opening_wrapper_is_flagged() -> None:
    reply = read_reply(CALL + END)

    assert reply.calls == (TextCall("f", {"a": "</tool_call>```"}),)
    assert R.CALL_WRAPPER in reply.repairs
