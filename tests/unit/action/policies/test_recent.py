"""Rules of remembering answers to reads."""

from dataclasses import replace

import pytest

from taoloop.action.policies.recent import MAX_AGE_SECONDS, MAX_BODY_BYTES, MAX_ENTRIES, RecentAnswers
from taoloop.core.errors import RequestIdReused
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.testing.clock import FakeClock
from tests.unit.action.contracts import request

RESULT = ActionResult(step_id="1.t1", tool="look_up", status=ActionStatus.SUCCEEDED)
ASKED = request(request_id="q1")
HASH = "h1"


def answers(clock: FakeClock | None = None) -> RecentAnswers[ActionResult]:
    return RecentAnswers(clock or FakeClock())


def test_an_answer_is_found_for_its_tenant_until_it_is_old() -> None:
    clock = FakeClock()
    recent = answers(clock)
    recent.add("acme", ASKED, HASH, RESULT, 1)
    assert recent.find("acme", ASKED, HASH) is RESULT
    assert recent.find("other", ASKED, HASH) is None
    clock.advance(MAX_AGE_SECONDS + 1)
    assert recent.find("acme", ASKED, HASH) is None


def test_another_body_under_the_same_id_is_refused() -> None:
    recent = answers()
    recent.add("acme", ASKED, HASH, RESULT, 1)
    with pytest.raises(RequestIdReused):
        recent.find("acme", replace(ASKED, step_id="1.t2"), HASH)
    with pytest.raises(RequestIdReused):
        recent.find("acme", ASKED, "h2")


def test_large_answers_and_requests_without_an_id_are_not_kept() -> None:
    recent = answers()
    recent.add("acme", ASKED, HASH, RESULT, MAX_BODY_BYTES + 1)
    recent.add("acme", request(), HASH, RESULT, 1)
    assert repr(recent) == "RecentAnswers(entries=0)"


def test_the_oldest_answer_goes_first_and_one_made_anew_is_the_newest() -> None:
    recent = answers()
    for number in [*range(MAX_ENTRIES), 0, MAX_ENTRIES]:
        recent.add("acme", request(request_id=f"q{number}"), HASH, RESULT, 1)
    assert recent.find("acme", request(request_id="q0"), HASH) is RESULT
    assert recent.find("acme", request(request_id="q1"), HASH) is None
    assert recent.find("acme", request(request_id="q2"), HASH) is RESULT
