"""Observation verifies that a call carried the state snapshot of its plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, Json
from taoloop.plan.observing import ConfidenceLevel, Consistency, ObservationResult, ObserveRequest
from tests.unit.observation.contracts import GOOD, PARCEL, observer_of, result_of

MARCH = "2026-03-01~2026-03-31"


def observed(snapshot: Json, arguments: Any, **changes: Any) -> ObservationResult:
    request = ObserveRequest(result=result_of(GOOD), arguments=arguments, state_snapshot=snapshot)
    return observer_of(PARCEL).observe(replace(request, **changes))


def test_a_call_that_carries_the_snapshot_is_as_expected_and_says_so() -> None:
    found = observed({"date_range": MARCH}, {"from": "2026-03-01", "to": "2026-03-31"})

    assert (found.valid, found.consistency) == (True, Consistency.OK)
    assert found.audit_trail[-2:] == ("snapshot_consumed", "consistency_ok")
    assert found.confidence_level is ConfidenceLevel.HIGH


@pytest.mark.parametrize("arguments", [ABSENT, {}, {"from": "2026-02-01", "to": "2026-02-28"}])
def test_a_call_about_other_days_breaks_the_consistency_and_keeps_the_data(arguments: Any) -> None:
    found = observed({"date_range": MARCH}, arguments)

    assert (found.valid, found.consistency) == (False, Consistency.BROKEN)
    assert found.data is not ABSENT
    assert "snapshot_consumed" not in found.audit_trail
    assert found.fault is not None
    assert (found.fault.code, found.fault.expected) == ("CONSISTENCY_BROKEN", {"date_range": MARCH})
    assert [(one.stage, one.rule_id) for one in found.failures] == [("consistency", "snapshot")]


def test_each_entry_that_is_lost_is_named() -> None:
    found = observed({"date_range": MARCH, "reader": "R1", "branch": "north"}, {"reader": "R1"})

    assert [one.expected for one in found.failures] == [{"date_range": MARCH}, {"branch": "north"}]


def test_a_snapshot_that_is_no_object_does_not_pass() -> None:
    assert observed([MARCH], {"from": "2026-03-01"}).consistency is Consistency.BROKEN


def test_without_a_snapshot_nothing_is_said_of_it() -> None:
    found = observed(ABSENT, {})

    assert found.valid
    assert "snapshot_consumed" not in found.audit_trail


def test_the_detail_of_the_hard_stage_does_not_count_the_snapshot() -> None:
    plain, using = observed(ABSENT, {}), observed({"date_range": MARCH}, {"period": MARCH})

    assert using.stages[0].detail == plain.stages[0].detail
