"""The status class comes before the body, and a body that cannot be judged says why."""

import pytest

from taoloop.core.faults import FaultCode
from taoloop.observation.stages.status import check_status, has_own_response_time, is_pending, read_body
from taoloop.plan.acting import ActionResult, ActionStatus, Body, ServedBy


def result(status: ActionStatus = ActionStatus.SUCCEEDED, code: int = 200, **fields: object) -> ActionResult:
    return ActionResult(step_id="1.t1", tool="read_thing", status=status, status_code=code, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("code", [200, 201, 204, 299])
def test_any_2xx_passes(code: int) -> None:
    assert check_status(result(code=code)).passed == ("status_2xx",)


@pytest.mark.parametrize("code", [199, 301, 304, 400, 404, 429, 500, 503, -1])
def test_other_codes_fail_whatever_the_body(code: int) -> None:
    outcome = check_status(result(code=code, parsed={"result": {"id": 1}}))

    assert [found.code for found in outcome.flaws] == [FaultCode.STATUS_FAILED]
    assert outcome.flaws[0].failure.actual == code


def test_transport_without_codes_passes_by_its_status() -> None:
    assert check_status(result(code=0)).passed == ("status_answered",)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (ActionStatus.FAILED, FaultCode.STATUS_FAILED),
        (ActionStatus.TIMED_OUT, FaultCode.TOOL_TIMEOUT),
        (ActionStatus.REJECTED, FaultCode.STATUS_FAILED),
        (ActionStatus.OUTCOME_UNKNOWN, FaultCode.OUTCOME_UNKNOWN),
        (ActionStatus.APPROVAL_REQUIRED, FaultCode.DECISION_BY_PERSON_NEEDED),
    ],
)
def test_action_that_did_not_succeed_fails(status: ActionStatus, code: FaultCode) -> None:
    assert [found.code for found in check_status(result(status)).flaws] == [code]


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (ActionStatus.PENDING, 0, True),
        (ActionStatus.PENDING, 200, True),
        (ActionStatus.SUCCEEDED, 202, True),
        (ActionStatus.SUCCEEDED, 200, False),
        (ActionStatus.FAILED, 202, False),
    ],
)
def test_202_is_pending_with_or_without_a_body(status: ActionStatus, code: int, expected: bool) -> None:
    assert is_pending(result(status, code)) is expected
    assert is_pending(result(status, code, parsed={"job": 1})) is expected


def test_body_null_and_no_body_are_both_null() -> None:
    for given in (result(parsed=None), result(), result(code=204), result(raw=b"")):
        judgeable, outcome = read_body(given, 1000)
        assert judgeable is not None
        assert judgeable.value is None
        assert not outcome.flaws


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (result(raw=b"<!DOCTYPE html>tok-8842", body=Body(content_type="text/html")), FaultCode.RESPONSE_MALFORMED),
        (result(raw=b"<!DOCTYPE html>tok-8842"), FaultCode.RESPONSE_MALFORMED),
        (result(parsed=[], body=Body(size_bytes=1001)), FaultCode.RESPONSE_TOO_LARGE),
        (result(raw=b"{", body=Body(size_bytes=1, truncated=True)), FaultCode.RESPONSE_INCOMPLETE),
    ],
)
def test_body_that_cannot_be_judged_fails_without_being_quoted(given: ActionResult, code: FaultCode) -> None:
    judgeable, outcome = read_body(given, 1000)

    assert judgeable is None
    assert [found.code for found in outcome.flaws] == [code]
    assert "tok-8842" not in repr(outcome)
    assert "DOCTYPE" not in repr(outcome)


def test_cached_and_recorded_answers_have_no_response_time_of_their_own() -> None:
    assert has_own_response_time(result(served_by=ServedBy.PRIMARY))
    assert has_own_response_time(result())
    assert not has_own_response_time(result(served_by=ServedBy.CACHE))
    assert not has_own_response_time(result(served_by=ServedBy.DUPLICATE))


@pytest.mark.parametrize(
    ("raw", "size_bytes", "said"),
    [
        (b'{"a": tok-8842}', 15, "expected ident at line 1, column 8."),
        (b'\xef\xbb\xbf{"a":1,\n"a":2}', 17, "a key is repeated in one object at line 2, column "),
        (b"[1,2", 4000, "(content type application/json)."),  # only the beginning is at hand
    ],
)
def test_body_that_is_no_json_says_where_and_quotes_nothing(raw: bytes, size_bytes: int, said: str) -> None:
    body = Body(content_type="application/json", size_bytes=size_bytes)
    _, outcome = read_body(result(raw=raw, body=body), 10_000)

    assert said in outcome.flaws[0].failure.message
    assert "8842" not in repr(outcome)
