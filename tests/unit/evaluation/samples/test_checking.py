"""Samples are judged by the services' own stages; what drifts is named, what is stated to fail is in order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from taoloop.evaluation.samples.checking import SampleFinding, check_samples
from taoloop.evaluation.samples.exchanges import RecordedObserver
from taoloop.testing.clock import FakeClock
from taoloop.tools.catalogue import Catalogue
from tests.unit.evaluation.samples.orders import GOOD, OBSERVE, RULES, observer, sample, write


def found(directory: Path, *samples: Any, **changes: Any) -> list[SampleFinding]:
    report = check_samples(observer(write(directory, *samples, **changes)), directory)
    assert report.samples == len(samples)
    return list(report.findings)


def short(each: SampleFinding) -> tuple[str, str, str]:
    return each.finding.severity.value, each.finding.code, each.finding.pointer


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        (sample(GOOD), []),
        (sample({**GOOD, "state": 5}), [("error", "SAMPLE_DRIFT", "/response/body/state")]),
        (sample({**GOOD, "state": "LOST"}), [("error", "SAMPLE_DRIFT", "/response/body/state")]),
        (sample({**GOOD, "eta": ""}), [("error", "SAMPLE_DRIFT", "/response/body")]),
        (sample({**GOOD, "fee": 11}), [("warning", "SAMPLE_SOFT", "/response/body/fee")]),
        (sample({"error": "none"}, status=404), []),
        (sample({"error": "none"}, status=503), []),
        (sample({"ok": False}), []),
        (sample(status=202), []),
        (sample(status=204), []),
    ],
    ids=[
        "good",
        "type",
        "enum",
        "hard_rule",
        "soft_rule",
        "known_error",
        "outage",
        "success_says_no",
        "pending",
        "none",
    ],
)
def test_a_sample_that_claims_success_must_be_valid_and_a_failure_must_be_one_of_the_contracts(
    tmp_path: Path, recorded: Any, expected: list[tuple[str, str, str]]
) -> None:
    assert [short(each) for each in found(tmp_path, recorded)] == expected


@pytest.mark.parametrize(
    ("expect", "body", "status", "expected"),
    [
        ({"valid": True}, GOOD, 200, []),
        ({"valid": False, "fault": "NOT_FOUND"}, {}, 404, []),
        ({"fault": "NOT_FOUND"}, {}, 404, []),
        ({"valid": False}, {"state": 5}, 200, []),
        ({"fault": "SCHEMA_VIOLATION"}, {"state": 5}, 200, []),
        ({"fault": "RULE_FAILED"}, {"state": 5}, 200, [("error", "SAMPLE_FAULT", "/expect/fault")]),
        ({"valid": False}, GOOD, 200, [("error", "SAMPLE_VERDICT", "/expect/valid")]),
        ({"valid": True}, {"state": 5}, 200, [("error", "SAMPLE_DRIFT", "/response/body/state")]),
        ({"valid": True}, {}, 202, [("error", "SAMPLE_VERDICT", "/expect/valid")]),
        ({"data": {"/status": "shipped"}}, GOOD, 200, []),
        ({"data": {"/status": "delivered"}}, GOOD, 200, [("error", "SAMPLE_DATA", "/expect/data/~1status")]),
        ({"data": {"/none": 1}}, GOOD, 200, [("error", "SAMPLE_DATA", "/expect/data/~1none")]),
    ],
)
def test_a_stated_verdict_is_what_counts(
    tmp_path: Path, expect: Any, body: Any, status: int, expected: list[tuple[str, str, str]]
) -> None:
    assert [short(each) for each in found(tmp_path, sample(body, status, expect=expect))] == expected


def test_a_finding_has_file_line_rule_expected_actual_and_remedy(tmp_path: Path) -> None:
    write(tmp_path, sample(GOOD))
    path = tmp_path / "samples" / "0.json"
    path.write_text(
        '{"request": {"arguments": {"order_id": "1"}},\n "response": {"status": 200,\n  "body": {"state": 5}}}'
    )

    (only,) = check_samples(observer(tmp_path), tmp_path).findings

    assert (only.finding.file, only.finding.line) == (str(path), 3)
    assert (only.tool, only.rule, only.expected, only.actual) == ("get_order", "type", "string", 5)
    assert only.finding.cause
    assert only.finding.remedy


def test_a_rule_that_does_not_hold_is_told_with_the_values_that_it_read(tmp_path: Path) -> None:
    (only,) = found(tmp_path, sample({**GOOD, "eta": ""}))
    assert only.rule == "shipped_has_eta"
    assert only.expected == RULES[1]["when"]
    assert only.actual == {"data.status": "shipped", "body.eta": ""}


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("data.status", "/response/body/state"),
        ("data.eta", "/response/body/eta"),
        ("body.fee", "/response/body/fee"),
        ("arguments.order_id", "/request/arguments/order_id"),
        ("status_code", "/response"),
    ],
)
def test_what_a_rule_read_is_led_back_to_its_place_in_the_file(tmp_path: Path, path: str, pointer: str) -> None:
    rule = {"id": "never", "severity": "hard", "when": {"===": [{"var": path}, "never"]}}
    (only,) = found(tmp_path, sample(GOOD), spec__observe={**OBSERVE, "rules": [rule]})
    assert (only.finding.pointer, only.stage, only.rule) == (pointer, "rule", "never")


def test_a_file_that_two_globs_name_is_judged_once(tmp_path: Path) -> None:
    write(tmp_path, sample(GOOD), spec__samples=["samples/*.json", "samples/0.json"])
    assert check_samples(observer(tmp_path), tmp_path).samples == 1


def test_placeholders_are_filled_before_a_sample_is_judged(tmp_path: Path) -> None:
    rule = [{"id": "same", "severity": "hard", "when": {"===": [{"var": "body.note"}, {"var": "arguments.order_id"}]}}]
    recorded = sample({**GOOD, "note": "{{arguments.order_id}}"})
    assert found(tmp_path, recorded, spec__observe={"rules": rule}) == []


def test_a_write_that_may_have_taken_effect_has_an_unknown_outcome(tmp_path: Path) -> None:
    recorded = sample({}, status=503, expect={"fault": "OUTCOME_UNKNOWN"})
    assert found(tmp_path, recorded, spec__effect="write", spec__transport__http__method="POST") == []


def test_valid_data_is_what_plans_are_told_that_the_tool_returns(tmp_path: Path) -> None:
    directory = write(tmp_path, sample(GOOD))
    judge = observer(directory)
    tool = replace(judge.catalogue.compiled("get_order"), output_schema={"required": ["status", "carrier"]})
    (only,) = check_samples(RecordedObserver(Catalogue([tool]), FakeClock()), directory).findings
    assert short(only) == ("error", "SAMPLE_OUTPUT", "/response/body/carrier")


def test_nothing_is_right_where_the_contract_accepts_it(tmp_path: Path) -> None:
    assert found(tmp_path, sample(None), spec__empty="accept", spec__success=True, spec__observe={}) == []
