"""A file of cases is read whole, or every line that is none is named."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from taoloop.evaluation.cases.case_file import CaseFileFault, parse_cases, read_cases
from taoloop.evaluation.cases.model import Adapter

ADAPTERS = {"echo": Adapter(feed=dict, required=("text|text_gen",))}
GOOD = '{"id": "C1-1", "component": "grpc", "input": {"kind": "echo", "text": "x"}, "expect": {"text": "x"}}'


def faults_of(text: str) -> tuple[str, ...]:
    with pytest.raises(CaseFileFault) as caught:
        parse_cases(text, ADAPTERS)
    return caught.value.faults


def test_a_case_is_read_with_its_line_and_exact_numbers() -> None:
    line = GOOD.replace('"x"}}', "0.10}}").replace("C1-1", "C1-2")

    cases = parse_cases(f"{GOOD}\n\n{line}\n", ADAPTERS)

    assert [(case.line, case.case_id, case.kind) for case in cases] == [(1, "C1-1", "echo"), (3, "C1-2", "echo")]
    assert str(cases[1].expect["text"]) == "0.10"
    assert isinstance(cases[1].expect["text"], Decimal)


def test_a_line_ends_at_a_line_feed_only() -> None:
    cases = parse_cases(GOOD.replace('"x"', '"a\u2028b\u0085c"'), ADAPTERS)

    assert cases[0].input["text"] == "a\u2028b\u0085c"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"id": "a"', "line 1: not JSON: Expecting ',' delimiter at column 11"),
        ("[1]", "line 1: the line is no object"),
        (GOOD.replace('"id": "C1-1", ', ""), "line 1: the line has no 'id'"),
        (GOOD.replace('"component": "grpc", ', ""), "line 1: the line has no 'component'"),
        (GOOD.replace('"kind": "echo", ', ""), "line 1: input has no 'kind'"),
        (GOOD.replace(', "expect": {"text": "x"}', ""), "line 1: the line has no 'expect'"),
        (GOOD.replace('{"text": "x"}}', "{}}"), "line 1: expect says nothing"),
        (GOOD.replace('{"text": "x"}}', "3}"), "line 1: expect is no object"),
        (GOOD.replace('{"text": "x"}}', '{"any_of": [1]}}'), "line 1: 'any_of' of expect is no list of objects"),
        (GOOD.replace('"C1-1"', "1"), "line 1: 'id' of the line is no text"),
        (GOOD.replace('"text": "x"}, ', '"other": 1}, '), "line 1: the input of kind echo has no text or text_gen"),
        (GOOD.replace('"text": "x"}}', '"text": NaN}}'), "line 1: not JSON: NaN"),
        (GOOD.replace('"text": "x"}}', '"text": 1, "text": 2}}'), "line 1: the key 'text' is repeated"),
        (GOOD + "\n" + GOOD, "line 2: the id C1-1 stands in line 1 already"),
        ("\n \n", "the file holds no case"),
    ],
)
def test_what_is_no_case_is_named_with_its_line(line: str, fault: str) -> None:
    assert faults_of(line) == (fault,)


def test_an_unknown_component_is_named_with_those_that_exist() -> None:
    (fault,) = faults_of(GOOD.replace('"grpc"', '"grcp"'))

    assert fault.startswith("line 1: unknown component 'grcp'; there are thought-parse, ")


def test_every_bad_line_is_named_at_once() -> None:
    assert [fault.partition(":")[0] for fault in faults_of(f"{{\n{GOOD}\n[]\n")] == ["line 1", "line 3"]


def test_a_kind_without_adapter_is_read_and_left_to_the_runner() -> None:
    assert parse_cases(GOOD.replace('"echo"', '"unheard_of"'), ADAPTERS)[0].kind == "unheard_of"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CaseFileFault, match="No such file"):
        read_cases(tmp_path / "absent.jsonl", ADAPTERS)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(CaseFileFault, match="not UTF-8 at byte 0"):
        read_cases(path, ADAPTERS)
