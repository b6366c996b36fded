"""What is made of a recorded answer is what the action service makes of a live one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from taoloop.action.ports import Reply
from taoloop.core.exact_json import ABSENT, dumps
from taoloop.core.faults import FaultCode
from taoloop.evaluation.samples.exchanges import Exchange, RecordedObserver
from taoloop.plan.acting import ActionStatus
from taoloop.testing.clock import FakeClock
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import Empty, ErrorRule
from taoloop.tools.loading.samples import read_sample
from tests.unit.action.calls import TWICE, LoopBench, contract
from tests.unit.action.contracts import CHANGE, LOOK_UP
from tests.unit.evaluation.samples.orders import GOOD, observer, sample, write

KNOWN = ErrorRule(when={"===": [{"var": "body.code"}, 7]}, code="TOO_OLD", is_retriable=True)
CONTRACTS = {
    "read": contract(LOOK_UP),
    "write": contract(CHANGE),
    "errors": contract(LOOK_UP, errors=(KNOWN,)),
    "empty": contract(LOOK_UP, empty=Empty.RETRY),
}
ANSWERS: dict[str, dict[str, Any]] = {
    "ok": {"body": {"id": 1}},
    "created": {"status_code": 201, "body": {"id": 1}},
    "accepted": {"status_code": 202, "body": {}},
    "null": {"body": None},
    "no_content": {"status_code": 204},
    "redirect": {"status_code": 302, "body": {}},
    "refused": {"status_code": 422, "body": {"field": "key"}},
    "not_found": {"status_code": 404, "body": {}},
    "too_many": {"status_code": 429, "body": {}, "retry_after": "7"},
    "down": {"status_code": 503, "body": {}},
    "named": {"status_code": 400, "body": {"code": 7}},
    "named_success": {"body": {"code": 7}},
    "html": {"raw": b"<html>", "content_type": "text/html"},
}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("kind", CONTRACTS)
async def test_a_recorded_answer_ends_as_a_live_one(kind: str, answer: str) -> None:
    given, tool = ANSWERS[answer], replace(CONTRACTS[kind], retry=replace(TWICE, attempts=1))
    live = await LoopBench(tool, [_reply(given)]).run()

    recorded = RecordedObserver(Catalogue.of([tool]), FakeClock()).acted(
        Exchange(tool=tool.name, arguments={"key": "k"}, **given)
    )

    assert (recorded.status, _fault(recorded)) == (live.status, _fault(live))
    assert recorded.parsed == live.parsed


def _reply(given: dict[str, Any]) -> Reply:
    body = given.get("body", ABSENT)
    return Reply(
        status_code=given.get("status_code", 200),
        content_type=given.get("content_type", "application/json"),
        body=given.get("raw", b"") if body is ABSENT else dumps(body).encode(),
        retry_after=given.get("retry_after", ""),
    )


def _fault(outcome: Any) -> tuple[str, float | None] | None:
    return None if outcome.fault is None else (outcome.fault.code, outcome.fault.retry_after_seconds)


def test_an_unknown_tool_is_a_verdict(tmp_path: Path) -> None:
    verdict = observer(write(tmp_path)).observe(Exchange(tool="nobody", body={}))
    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.UNKNOWN_TOOL


def test_a_sample_is_an_exchange_with_its_placeholders_filled() -> None:
    written = sample({"id": "{{arguments.order_id}}"}, 404)
    written["response"]["headers"] = {"Content-Type": "Application/JSON; charset=utf-8", "retry-after": "3"}
    written["response"]["response_time_seconds"] = 0.25

    exchange = Exchange.of_sample("get_order", read_sample(dumps(written)))

    assert exchange.body == {"id": "A-1001"}
    assert (exchange.content_type, exchange.retry_after) == ("application/json", "3")
    assert (exchange.status_code, exchange.response_time_seconds) == (404, 0.25)


def test_a_time_that_is_stated_counts_and_one_that_is_not_is_fast(tmp_path: Path) -> None:
    judge = observer(write(tmp_path, spec__observe={"max_latency": "1s"}))
    assert judge.observe(Exchange(tool="get_order", body=GOOD)).failures == ()
    slow = judge.observe(Exchange(tool="get_order", body=GOOD, response_time_seconds=30.0))
    assert [failure.stage for failure in slow.failures] == ["latency"]


def test_the_same_exchange_always_gets_the_same_verdict(tmp_path: Path) -> None:
    judge = observer(write(tmp_path))
    for exchange in (Exchange(tool="get_order", body=GOOD), Exchange(tool="get_order", body={"state": 5})):
        assert judge.observe(exchange) == judge.observe(exchange)


def test_pending_is_pending(tmp_path: Path) -> None:
    result = observer(write(tmp_path)).acted(Exchange(tool="get_order", body={}, status_code=202))
    assert result.status is ActionStatus.PENDING
