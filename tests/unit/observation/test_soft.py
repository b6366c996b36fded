"""The soft check lowers the confidence with a named flaw, makes nothing valid, and is silent when it is not sure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from taoloop.core.faults import Fault, FaultCode
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.soft.checking import SoftCheck
from taoloop.observation.soft.ports import Classification, SoftLabel
from taoloop.plan.acting import ActionStatus
from taoloop.plan.observing import ObserveRequest
from taoloop.tools.contract import Observe
from taoloop.tools.signature import Effect
from tests.unit.observation.contracts import bare, observed, observer_of, result_of

FAILED = {"===": [{"var": "body.code"}, 0]}


@dataclass
class SaysAlways:
    """A classifier that says the same of every text."""

    said: Classification

    def classify(self, text: str) -> Classification:
        return self.said


def test_sure_words_in_a_valid_result_lower_the_soft_score_and_are_named() -> None:
    verdict = observed({"data": {"id": 7}, "error": "401 Unauthorized"}, bare())

    assert verdict.valid
    assert verdict.fault is None
    assert [(found.stage, found.rule_id, found.pointer, found.hard) for found in verdict.failures] == [
        ("soft", "auth_failed", "/error", False)
    ]
    assert verdict.failures[0].actual == "401 Unauthorized"
    assert verdict.confidence == pytest.approx(0.6 / 0.9)
    assert verdict.stages[1].detail == "0 of 1 passed; failed: auth_failed at /error"


@pytest.mark.parametrize("text", ["ok", "success", "the order is late", "timed out"])
def test_words_that_are_not_sure_count_for_nothing(text: str) -> None:
    verdict = observed({"message": text}, bare())

    assert (verdict.failures, verdict.confidence, verdict.stages[1].ran) == ((), 1.0, False)


@pytest.mark.parametrize(("certainty", "counts"), [(0.949, False), (0.95, True)])
@pytest.mark.parametrize("label", list(SoftLabel))
def test_the_threshold_decides_whether_a_label_is_used(label: SoftLabel, certainty: float, counts: bool) -> None:
    policy = ObservationPolicy(soft=SoftCheck(SaysAlways(Classification(label, certainty)), 0.95))
    request = ObserveRequest(result=result_of({"error": "x"}, tool="ask_anything"))

    verdict = observer_of(bare(), policy=policy).observe(request)

    assert verdict.valid
    assert bool(verdict.failures) is (counts and label is not SoftLabel.NONE)


@pytest.mark.parametrize("label", list(SoftLabel))
def test_no_label_makes_a_failed_result_valid(label: SoftLabel) -> None:
    policy = ObservationPolicy(soft=SoftCheck(SaysAlways(Classification(label, 1.0)), 0.95))
    request = ObserveRequest(result=result_of({"code": 7, "error": "x"}, tool="ask_anything"))

    verdict = observer_of(bare(success=FAILED), policy=policy).observe(request)

    assert not verdict.valid
    assert verdict.confidence == 0.0
    assert not verdict.execution_permitted


def test_failure_by_the_success_rule_quotes_the_tools_own_words_where_they_stand() -> None:
    verdict = observed({"code": 1, "msg": "invalid city: use CN-Shanghai, api_key=s3cr3t-value"}, bare(success=FAILED))

    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.SUCCESS_RULE_FAILED
    assert verdict.fault.field == "/msg"
    assert str(verdict.fault.actual).startswith("invalid city: use CN-Shanghai")
    assert "s3cr3t" not in str(verdict.fault.actual)
    assert verdict.fault.suggestion


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("connection refused by upstream", "try_again_later"),
        ("请求过于频繁，请稍后再试", "try_again_later"),
        ("签名错误", "switch_to_manual_review"),
        ("文件已损坏", "use_another_tool"),
        ("no idea", "plan_again"),
    ],
)
def test_sure_words_choose_the_hint_where_the_code_says_only_that_it_failed(words: str, hint: str) -> None:
    assert observed({"code": 1, "msg": words}, bare(success=FAILED)).suggested_next == hint


def test_words_never_ask_for_a_second_write() -> None:
    contract = bare(success=FAILED, effect=Effect.WRITE)

    assert observed({"code": 1, "msg": "connection refused"}, contract).suggested_next == "switch_to_manual_review"


def test_words_of_a_failed_call_are_heard_and_the_actions_fault_stands() -> None:
    fault = Fault(code=FaultCode.UPSTREAM_REFUSED, stage="action", message="It answered 400.")

    verdict = observed({"error": "Invalid API key"}, bare(), status=ActionStatus.FAILED, status_code=400, fault=fault)

    assert verdict.fault == fault
    assert [found.stage for found in verdict.failures] == ["status", "soft"]
    assert verdict.suggested_next == "switch_to_manual_review"


@pytest.mark.parametrize(
    ("seconds", "confidence", "message"),
    [
        (2.0, 1.0, None),
        (3.0, (0.6 + 0.15) / 0.9, "The tool answered later than max_latency: a mild delay."),
        (3.01, 0.6 / 0.9, "The tool answered later than max_latency: a severe delay."),
        (None, 0.6 / 0.9, "The response time is unknown."),
    ],
)
def test_a_spike_counts_half_and_a_slow_tool_not_at_all(seconds: Any, confidence: float, message: str | None) -> None:
    verdict = observed({}, bare(observe=Observe(max_latency_seconds=2.0)), response_time_seconds=seconds)

    assert verdict.valid
    assert verdict.confidence == pytest.approx(confidence)
    assert [found.message for found in verdict.failures] == ([] if message is None else [message])


def test_no_delay_is_said_where_the_contract_sets_no_limit() -> None:
    assert observed({}, bare(), response_time_seconds=100.0).failures == ()
