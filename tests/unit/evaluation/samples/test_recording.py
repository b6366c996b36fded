"""A live exchange becomes a sample only if it keeps its contract, before redaction and after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taoloop.core import exact_json
from taoloop.core.errors import InvalidRequest
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.evaluation.samples.checking import check_samples
from taoloop.evaluation.samples.exchanges import Exchange
from taoloop.evaluation.samples.masking import Redactor
from taoloop.evaluation.samples.recording import Recording, recorded
from taoloop.evaluation.samples.redacting import contract_redactor
from tests.unit.evaluation.samples.orders import GOOD, OBSERVE, observer, write
from tests.unit.evaluation.samples.test_masking import nothing


def record(directory: Path, body: Any, redact: Redactor = nothing, /, **more: Any) -> Recording:
    options = {name: more.pop(name) for name in ("replacements", "is_failure_meant") if name in more}
    given: dict[str, Any] = {"tool": "get_order", "arguments": {"order_id": "A-1001"}, "body": body, **more}
    return recorded(Exchange(**given), observer(directory), redact, **options)


def test_a_recorded_sample_passes_the_check_and_states_its_verdict(tmp_path: Path) -> None:
    write(tmp_path)
    made = record(tmp_path, {**GOOD, "note": "A-1001"}, content_type="application/json")
    (tmp_path / "samples" / "live.json").write_text(made.text)

    report = check_samples(observer(tmp_path), tmp_path)

    assert (report.samples, report.findings) == (1, ())
    assert made.sample["expect"] == {"valid": True}
    assert made.placeholders == {"/response/body/note": "order_id"}
    assert exact_json.loads(made.text) == made.sample


def test_numbers_stay_as_the_tool_wrote_them(tmp_path: Path) -> None:
    write(tmp_path)
    assert '"fee": 0.10' in record(tmp_path, exact_json.loads('{"state":"D","fee":0.10}')).text


def test_a_failure_that_the_contract_knows_is_recorded_as_one(tmp_path: Path) -> None:
    write(tmp_path)
    made = record(tmp_path, {"error": "none"}, status_code=404)
    assert made.sample["expect"] == {"valid": False, "fault": "NOT_FOUND"}


def test_an_answer_that_breaks_its_contract_is_refused_unless_it_is_meant(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(InvalidRequest, match=r"/response/body/state.*--as-failure"):
        record(tmp_path, {"state": 5})
    made = record(tmp_path, {"state": 5}, is_failure_meant=True)
    assert made.sample["expect"] == {"valid": False, "fault": "SCHEMA_VIOLATION"}


def test_an_answer_that_is_not_json_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(InvalidRequest, match="not JSON"):
        record(tmp_path, ABSENT, raw=b"<html>")


def test_a_mask_that_breaks_the_schema_gives_way_to_a_made_up_value(tmp_path: Path) -> None:
    write(tmp_path, spec__observe={**OBSERVE, "redact": ["phone"]})
    redact = contract_redactor(observer(tmp_path).catalogue.compiled("get_order").contract)
    made = record(tmp_path, {**GOOD, "phone": "13911112222", "note": "call 13911112222"}, redact)
    body: Any = made.sample["response"]
    assert body["body"]["phone"] == "13900000000"
    assert "13911112222" not in made.text
    assert made.masked == ("/response/body/phone", "/response/body/note")


def test_redaction_that_changes_the_verdict_is_refused_and_a_replacement_heals_it(tmp_path: Path) -> None:
    rule = {"id": "named", "severity": "hard", "when": {"===": [{"var": "body.note"}, "Ada"]}}
    write(tmp_path, spec__observe={"rules": [rule]})

    def notes(value: JsonValue) -> JsonValue:
        return {**value, "note": "***"} if isinstance(value, dict) and "note" in value else value

    body = {"state": "S", "note": "Ada"}
    with pytest.raises(InvalidRequest, match=r"no longer what the tool answered.*--replace"):
        record(tmp_path, body, notes)
    made = record(tmp_path, body, notes, replacements={"/response/body/note": "Ada"})
    assert made.sample["expect"] == {"valid": True}


def test_a_replacement_of_nothing_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(InvalidRequest, match="/response/body/nothing"):
        record(tmp_path, GOOD, replacements={"/response/body/nothing": 1})
