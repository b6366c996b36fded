"""Rules of the envelope's text in the ledger."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from taoloop.action.result_text import request_digest, result_from_text, result_to_text
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionResult, ActionStatus, Attempt, Body, ServedBy
from taoloop.tools.signature import Trust
from tests.unit.action.contracts import request

BARE = ActionResult(step_id="1.t1", tool="change", status=ActionStatus.SUCCEEDED)
FULL = replace(
    BARE,
    parsed={"id": 12345678901234567, "amount": Decimal("0.10"), "none": None},
    body=Body(content_type="application/json", size_bytes=3, truncated=True),
    status_code=200,
    response_time_seconds=0.25,
    attempts=(Attempt(start=datetime(2026, 3, 1, tzinfo=UTC), outcome="answered", reused_connection=True),),
    served_by=ServedBy.PRIMARY,
    trust=Trust.TRUSTED,
    fault=Fault(FaultCode.RATE_LIMITED, FaultStage.ACTION, "wait", retriable=True, candidates=("a", "b"), actual=429),
)


@pytest.mark.parametrize(
    "result", [BARE, FULL, replace(BARE, raw=b"\x00\xff"), replace(BARE, parsed=None), replace(BARE, parsed=False)]
)
def test_an_envelope_comes_back_as_it_was(result: ActionResult) -> None:
    assert result_from_text(result_to_text(result)) == result


def test_null_and_absent_stay_apart() -> None:
    assert result_from_text(result_to_text(replace(BARE, parsed=None))).parsed is None
    assert result_from_text(result_to_text(BARE)).parsed is ABSENT


def test_a_decimal_keeps_its_zeros() -> None:
    assert '"amount":0.10' in result_to_text(FULL)


def test_a_request_digest_leaves_out_only_how_long_the_caller_waits() -> None:
    asked = request(timeout_seconds=1.0)
    assert request_digest(asked) == request_digest(replace(asked, timeout_seconds=2.0))
    assert request_digest(asked) != request_digest(replace(asked, step_id="2.t1"))
    assert request_digest(asked) != request_digest(replace(asked, arguments={"key": "abd"}))


def test_a_long_envelope_is_written_without_its_payload_and_says_so() -> None:
    result = replace(FULL, parsed={"text": "x" * 4000}, body=replace(FULL.body or Body(), truncated=False))
    read = result_from_text(result_to_text(result, max_bytes=1000))
    assert read == replace(result, parsed=ABSENT, body=replace(result.body or Body(), truncated=True))
    assert result_from_text(result_to_text(replace(result, body=None), max_bytes=1000)).body is None
