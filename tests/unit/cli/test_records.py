"""Rules of records as JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from taoloop.cli.records import record_json
from taoloop.core.exact_json import ABSENT, dumps
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.model import Binding, ContractValue, ContractValueKind
from taoloop.plan.running import RunEvent, StepStarted
from taoloop.plan.thinking import Answer

MOMENT = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)


def test_only_what_is_set_is_shown_and_numbers_stay_exact() -> None:
    body = StepStarted(step_id="1.t1", tool="a", arguments={"id": 20260308000012345, "amount": Decimal("0.10")})
    shown = record_json(RunEvent(run_id="r", sequence=1, time=MOMENT, body=body))
    assert dumps(shown) == (
        '{"run_id":"r","sequence":1,"time":"2026-03-10T08:00:00.000Z","body":{"type":"step_started","step_id":"1.t1",'
        '"tool":"a","arguments":{"id":20260308000012345,"amount":0.10}}}'
    )


def test_json_null_is_shown_and_an_absent_value_is_not() -> None:
    result = ActionResult(step_id="1.t1", tool="a", status=ActionStatus.SUCCEEDED, parsed=None)
    assert record_json(result) == {"step_id": "1.t1", "tool": "a", "status": "succeeded", "parsed": None}
    assert record_json(Answer(text="", data=ABSENT)) == {"text": ""}


def test_a_field_of_several_kinds_says_which() -> None:
    source = ContractValue(kind=ContractValueKind.ENUM, pointer="/properties/a/enum/0")
    assert record_json(Binding(pointer="/a", source=source))["source"] == {
        "type": "contract_value",
        "kind": "enum",
        "pointer": "/properties/a/enum/0",
    }


def test_bytes_are_base64() -> None:
    result = ActionResult(step_id="1.t1", tool="a", status=ActionStatus.FAILED, raw=b"\xff<html>")
    assert record_json(result)["raw"] == "/zxodG1sPg=="
