"""Rules of remembering results of reads."""

from dataclasses import replace

import pytest

from taoloop.action.policies.recent import MAX_AGE_SECONDS, MAX_BODY_BYTES, MAX_ENTRIES, RecentResults
from taoloop.core.errors import RequestIdReused
from taoloop.plan.acting import ActionResult, ActionStatus, Body
from taoloop.testing.clock import FakeClock
from tests.unit.action.contracts import request

RESULT = ActionResult(step_id="1.t1", tool="look_up", status=ActionStatus.SUCCEEDED)
ASKED = request(request_id="q1")


def test_a_result_is_found_for_its_tenant_until_it_is_old() -> None:
    clock = FakeClock()
    recent = RecentResults(clock)
    recent.add("acme", ASKED, RESULT)
    assert recent.find("acme", ASKED) is RESULT
    assert recent.find("other", ASKED) is None
    clock.advance(MAX_AGE_SECONDS + 1)
    assert recent.find("acme", ASKED) is None


def test_another_body_under_the_same_id_is_refused() -> None:
    recent = RecentResults(FakeClock())
    recent.add("acme", ASKED, RESULT)
    with pytest.raises(RequestIdReused):
        recent.find("acme", replace(ASKED, step_id="1.t2"))


def test_large_results_and_requests_without_an_id_are_not_kept() -> None:
    recent = RecentResults(FakeClock())
    recent.add("acme", ASKED, replace(RESULT, body=Body(size_bytes=MAX_BODY_BYTES + 1)))
    recent.add("acme", request(), RESULT)
    assert repr(recent) == "RecentResults(entries=0)"


def test_the_oldest_result_goes_first() -> None:
    recent = RecentResults(FakeClock())
    for number in range(MAX_ENTRIES + 1):
        recent.add("acme", request(request_id=f"q{number}"), RESULT)
    assert recent.find("acme", request(request_id="q0")) is None
    assert recent.find("acme", request(request_id="q1")) is RESULT
