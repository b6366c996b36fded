"""What the program prints and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taoloop.evaluation.cases.program import EXIT_ALL_PASS, EXIT_BAD_INPUT, EXIT_NOT_ALL_PASS, main

PASSING = {
    "id": "C1-1",
    "component": "telemetry",
    "input": {"kind": "redact", "text": "token=abc at Oslo"},
    "expect": {"must_not_contain": ["abc"], "must_contain": ["Oslo"]},
}
FAILING = {**PASSING, "id": "C1-2", "component": "queue", "expect": {"must_contain": ["abc"]}}
UNKNOWN = {**PASSING, "id": "C1-3", "component": "deploy", "input": {"kind": "unheard_of"}}


def written(directory: Path, *lines: object) -> str:
    """Write a file of cases and return its path."""
    path = directory / "cases.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_each_line_gets_its_verdict_and_the_end_its_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([written(tmp_path, PASSING, FAILING, UNKNOWN)]) == EXIT_NOT_ALL_PASS

    assert capsys.readouterr().out.splitlines() == [
        "C1-1 pass",
        'C1-2 fail must_contain: expected ["abc"], got "token=*** at Oslo"',
        "C1-3 unsupported the product has no function yet for the kind unheard_of",
        "telemetry: 1 pass, 0 fail, 0 unsupported of 1",
        "queue: 0 pass, 1 fail, 0 unsupported of 1",
        "deploy: 0 pass, 0 fail, 1 unsupported of 1",
        "all: 1 pass, 1 fail, 1 unsupported of 3",
    ]


def test_all_lines_passing_is_success(tmp_path: Path) -> None:
    assert main([written(tmp_path, PASSING)]) == EXIT_ALL_PASS


def test_an_unsupported_line_alone_is_no_success(tmp_path: Path) -> None:
    assert main([written(tmp_path, PASSING, UNKNOWN)]) == EXIT_NOT_ALL_PASS


@pytest.mark.parametrize(
    "only",
    [
        ["telemetry,deploy"],
        ["telemetry", "deploy"],
        ["ONLY=telemetry,deploy"],
        ["--only", "telemetry, deploy"],
        ["--only", "telemetry", "--only", "deploy"],
    ],
)
def test_only_the_wanted_components_run(only: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([written(tmp_path, PASSING, FAILING, UNKNOWN), *only])

    assert [line.partition(" ")[0] for line in capsys.readouterr().out.splitlines()[:2]] == ["C1-1", "C1-3"]


def test_a_component_that_does_not_exist_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([written(tmp_path, PASSING), "telemetri"]) == EXIT_BAD_INPUT

    said = capsys.readouterr()
    assert said.err.startswith("unknown component 'telemetri'; there are ")
    assert said.out == ""


def test_a_component_without_a_line_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([written(tmp_path, PASSING), "grpc"]) == EXIT_BAD_INPUT

    assert capsys.readouterr().err == "the file has no line of the component grpc\n"


def test_a_bad_line_ends_with_2_and_nothing_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([written(tmp_path, PASSING, {"id": "C1-2"})]) == EXIT_BAD_INPUT

    assert capsys.readouterr() == ("", "line 2: the line has no 'component'\n")


def test_the_report_is_one_json_document_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([written(tmp_path, PASSING, UNKNOWN), "--json"])

    report = json.loads(capsys.readouterr().out)
    assert [(case["id"], case["verdict"]) for case in report["cases"]] == [("C1-1", "pass"), ("C1-3", "unsupported")]
    assert report["components"]["deploy"] == {"pass": 0, "fail": 0, "unsupported": 1}
    assert report["all"] == {"pass": 1, "fail": 0, "unsupported": 1}
