"""A response file is judged without any service, by a catalogue, a plan and extra rules."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from taoloop.core.errors import InvalidRequest, UnknownTool
from taoloop.core.exact_json import dumps
from taoloop.core.faults import FaultCode
from taoloop.observation.files import ObservedFiles, observe_files
from taoloop.tools.catalogue import Catalogue
from tests.unit.observation.contracts import PARCEL

Write = Callable[[str, Any], Path]

PLAN = {
    "thought_id": "a" * 32,
    "steps": [
        {
            "step_id": "t2",
            "description": "Track it.",
            "tool": "track_parcel",
            "args": {"number": "1"},
            "dependencies": [],
            "output_schema": {"type": "object", "properties": {"eta": {"type": "string", "format": "date-time"}}},
        }
    ],
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return written


@pytest.fixture
def catalogue() -> Catalogue:
    return Catalogue.of([PARCEL])


def test_body_that_breaks_the_steps_schema_is_named_with_field_format_and_value(write: Write) -> None:
    files = ObservedFiles(
        action_response=write("response.json", {"status": "shipped", "eta": "2024-05-20"}),
        thought_plan=write("thought.json", PLAN),
        rules=write("rules.json", [{"id": "shipped", "when": {"===": [{"var": "data.status"}, "shipped"]}}]),
    )

    verdict = observe_files(files, None)

    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.SCHEMA_VIOLATION
    assert (verdict.fault.field, verdict.fault.expected, verdict.fault.actual) == ("/eta", "date-time", "2024-05-20")


@pytest.mark.parametrize("form", ["list", "object"])
def test_rules_file_is_checked_besides_the_contract(write: Write, catalogue: Catalogue, form: str) -> None:
    rules = [{"id": "delivered", "severity": "hard", "when": {"===": [{"var": "data.parcel_state"}, "delivered"]}}]
    files = ObservedFiles(
        action_response=write("r.json", {"state": "on_the_road"}),
        rules=write("rules.json", rules if form == "list" else {"rules": rules}),
        tool="track_parcel",
    )

    verdict = observe_files(files, catalogue)

    assert "rule_has_state" in verdict.audit_trail
    assert [failure.rule_id for failure in verdict.failures if failure.hard] == ["delivered"]


def test_envelope_gives_status_time_and_arguments(write: Write, catalogue: Catalogue) -> None:
    envelope = {"status_code": 503, "response_time_seconds": 0.5, "body": {"state": "on_the_road"}}
    files = ObservedFiles(action_response=write("r.json", envelope), tool="track_parcel")

    assert observe_files(files, catalogue).failures[0].actual == 503


def test_envelope_without_a_body_is_an_answer_that_had_none(write: Write, catalogue: Catalogue) -> None:
    files = ObservedFiles(action_response=write("r.json", {"status_code": 204}), tool="track_parcel")

    verdict = observe_files(files, catalogue)

    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.EMPTY_RESULT


def test_recorded_line_is_an_envelope_and_what_it_expects_of_itself_is_left_aside(
    write: Write, catalogue: Catalogue
) -> None:
    line = {"status_code": 200, "content_type": "application/json", "tool": "track_parcel", "expect": {"valid": False}}
    files = ObservedFiles(action_response=write("r.json", {**line, "body": {"state": "on_the_road"}}))

    verdict = observe_files(files, catalogue)

    assert (verdict.valid, verdict.tool) == (True, "track_parcel")


def test_body_with_a_member_named_body_is_no_envelope(write: Write, catalogue: Catalogue) -> None:
    files = ObservedFiles(action_response=write("r.json", {"state": "delivered", "body": 1}), tool="track_parcel")

    assert observe_files(files, catalogue).valid


def test_numbers_of_the_file_stay_exact(write: Write) -> None:
    files = ObservedFiles(action_response=write("r.json", '{"price":0.10,"id":12345678901234567}'))

    assert dumps(observe_files(files, None).data) == '{"price":0.10,"id":12345678901234567}'


def test_byte_order_mark_is_accepted_and_text_that_is_no_json_is_a_verdict(write: Write) -> None:
    assert observe_files(ObservedFiles(action_response=write("a.json", "\ufeff{}")), None).valid
    verdict = observe_files(ObservedFiles(action_response=write("b.json", "<html>")), None)
    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.RESPONSE_MALFORMED


def test_expectation_of_the_chosen_step_is_checked(write: Write, catalogue: Catalogue) -> None:
    steps = [
        {"id": "a", "tool": "track_parcel", "args": {}, "expect": {"/parcel_state": ["moving"]}},
        {"id": "b", "tool": "track_parcel", "args": {}, "expect": {"/parcel_state": ["delivered"]}},
    ]
    plan, response = write("p.json", {"steps": steps}), write("r.json", {"state": "on_the_road"})

    def judged(step_id: str) -> Any:
        files = ObservedFiles(action_response=response, thought_plan=plan, step_id=step_id)
        return observe_files(files, catalogue)

    assert judged("a").valid
    assert not judged("b").valid
    with pytest.raises(InvalidRequest, match=r"a \(track_parcel\), b \(track_parcel\)"):
        judged("")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rules", "{", "is not JSON"),
        ("rules", {"x": 1}, "not a list of rules"),
        ("rules", [{"id": "a"}], "rule 1: a rule is an object with `when`"),
        ("rules", [{"id": "a", "severity": "mild", "when": True}], "hard or soft"),
        ("rules", [{"id": "a", "severity": [], "when": True}], "hard or soft"),
        ("rules", [{"id": "a", "when": {"frobnicate": [1]}}], "frobnicate"),
        ("thought_plan", {"steps": "none"}, "is not a plan"),
        ("thought_plan", {"steps": []}, "it has none"),
        ("action_response", {"body": 1, "status_code": "200"}, "`status_code` is an integer"),
        ("action_response", {"body": 1, "response_time_seconds": True}, "`response_time_seconds` a number"),
    ],
)
def test_unusable_file_is_refused_and_named(
    write: Write, catalogue: Catalogue, name: str, content: Any, said: str
) -> None:
    given: Any = {
        "action_response": write("response.json", {"state": "delivered"}),
        name: write(f"{name}.json", content),
    }

    with pytest.raises(InvalidRequest) as caught:
        observe_files(ObservedFiles(tool="track_parcel", **given), catalogue)

    assert said in caught.value.message


def test_missing_file_and_unknown_tool_are_refused(write: Write, catalogue: Catalogue, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="No such file"):
        observe_files(ObservedFiles(action_response=tmp_path / "none.json"), None)
    with pytest.raises(UnknownTool):
        observe_files(ObservedFiles(action_response=write("r.json", {}), tool="nobody"), catalogue)
    with pytest.raises(InvalidRequest, match="Name the tool"):
        observe_files(ObservedFiles(action_response=write("r.json", {})), catalogue)
