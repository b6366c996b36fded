"""Samples: they parse, and what claims success keeps the contract."""

from pathlib import Path
from typing import Any

import pytest

from taoloop.core import exact_json
from taoloop.tools.loading import load_catalogue
from taoloop.tools.loading.samples import filled, read_sample, sample_paths
from tests.unit.tools.contracts import document, write_catalogue


def _load(directory: Path, sample: str, **changes: Any) -> list[tuple[str, str]]:
    write_catalogue(directory, document(spec__samples=["samples/*.json"], **changes))
    (directory / "samples").mkdir()
    (directory / "samples" / "a.json").write_text(sample)
    return [(finding.code, finding.pointer) for finding in load_catalogue(directory).errors]


def _sample(body: Any, status: int = 200, arguments: Any = None) -> str:
    return exact_json.dumps(
        {
            "request": {"arguments": {"order_id": "1"} if arguments is None else arguments},
            "response": {"status": status, "body": body},
        }
    )


@pytest.mark.parametrize(
    ("sample", "findings"),
    [
        (_sample({"state": "S"}), []),
        (_sample({"state": "X"}), [("SAMPLE", "/response/body/state")]),
        (_sample({}), [("SAMPLE", "/response/body/state")]),
        (_sample({"error": "none"}, status=404), []),
        (_sample({"state": "S"}, arguments={}), [("SAMPLE", "/request/arguments/order_id")]),
        ("{", [("SAMPLE", "")]),
        ("{}", [("SAMPLE", "")]),
        (_sample({"state": "S"}, status=42), [("SAMPLE", "")]),
    ],
)
def test_a_sample_that_claims_success_keeps_the_contract(
    tmp_path: Path, sample: str, findings: list[tuple[str, str]]
) -> None:
    assert _load(tmp_path, sample) == findings


def test_a_reply_that_the_success_rule_denies_need_not_keep_the_schema(tmp_path: Path) -> None:
    rule = {"===": [{"var": "body.ok"}, True]}
    assert _load(tmp_path, _sample({"ok": False}), spec__success=rule) == []


def test_placeholders_take_the_type_of_their_argument() -> None:
    body: Any = {"id": "{{arguments.n}}", "text": "no {{arguments.n}}", "list": ["{{arguments.absent}}"]}
    assert filled(body, {"n": 5}) == {"id": 5, "text": "no 5", "list": [None]}


def _with(more: dict[str, Any], body: Any = None, status: int = 200) -> str:
    return exact_json.dumps({**exact_json.loads(_sample(body, status)), **more})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("expect", "read"),
    [
        ({"valid": True}, (True, "", {})),
        ({"valid": False}, (False, "", {})),
        ({"fault": "NOT_FOUND"}, (False, "NOT_FOUND", {})),
        ({"valid": False, "fault": "NOT_FOUND"}, (False, "NOT_FOUND", {})),
        ({"data": {"/status": "shipped"}}, (True, "", {"/status": "shipped"})),
    ],
)
def test_an_expectation_says_what_the_verdict_must_be(expect: Any, read: tuple[bool, str, Any]) -> None:
    found = read_sample(_with({"expect": expect})).expect
    assert found is not None
    assert (found.valid, found.fault, found.data) == read


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ({}, "/expect"),
        ({"valid": "no"}, "/expect/valid"),
        ({"fault": "not found"}, "/expect/fault"),
        ({"valid": True, "fault": "NOT_FOUND"}, "has no fault"),
        ({"data": {"status": 1}}, "no JSON pointer"),
        ({"verdict": True}, "verdict"),
    ],
)
def test_an_expectation_that_means_nothing_is_refused(expect: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_sample(_with({"expect": expect}))


def test_a_sample_may_name_its_tool_and_its_time_and_need_not_have_a_body() -> None:
    written = {"tool": "get_order", "response": {"status": 204, "response_time_seconds": 0.5}}
    found = read_sample(_with(written))
    assert (found.tool, found.response_time_seconds, found.has_body, found.expect) == ("get_order", 0.5, False, None)


def test_a_sample_of_a_failure_need_not_keep_the_contract(tmp_path: Path) -> None:
    assert _load(tmp_path, _with({"expect": {"fault": "SCHEMA_VIOLATION"}}, {"state": "X"})) == []


def test_a_caller_that_judges_samples_itself_gets_the_tools_whose_contracts_are_sound(tmp_path: Path) -> None:
    broken = document("broken", spec__effect="maybe")
    write_catalogue(tmp_path, document(spec__samples=["samples/*.json"]), broken)
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "a.json").write_text(_sample({"state": "X"}))

    loaded = load_catalogue(tmp_path, are_samples_judged=False)

    assert [finding.code for finding in loaded.errors] == ["FORM"]
    assert loaded.catalogue is None
    assert loaded.sound is not None
    assert list(loaded.sound.tools) == ["get_order"]
    assert [path.name for path in sample_paths(loaded.sound.tools["get_order"], tmp_path)] == ["a.json"]


def test_samples_that_are_none_are_told_also_to_a_caller_that_judges_them_itself(tmp_path: Path) -> None:
    write_catalogue(tmp_path, document(spec__samples=["samples/*.json", "none/*.json", "../*.json"]))
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "a.json").write_text("{}")
    codes = [finding.code for finding in load_catalogue(tmp_path, are_samples_judged=False).errors]
    assert sorted(codes) == ["SAMPLE", "SAMPLE_MISSING", "SAMPLE_MISSING"]
