"""What a verdict shows: the part for one goal, without personal data, within a bound."""

from typing import Any

import pytest

from taoloop.core.errors import InvalidRequest
from taoloop.core.exact_json import dumps
from taoloop.observation.judging import ObservationPolicy
from taoloop.plan.observing import ObserveRequest
from taoloop.tools.contract import NormaliseAs, NormaliseRule, Observe, PersonalData, Projection, RedactField
from tests.unit.observation.contracts import bare, observed, observer_of, result_of

PROFILE = bare(
    name="get_profile",
    observe=Observe(
        normalise=(NormaliseRule(field="/phone", to="/mobile"),),
        projections={"is_vip": Projection(when="whether the customer is VIP", expose=("/tier",))},
        redact=(PersonalData.PHONE, RedactField(field="/name")),
    ),
)
BODY: Any = {"tier": "gold", "name": "Li Na", "phone": "13800138000", "note": "x" * 2000}


def test_step_that_asks_for_one_goal_sees_what_it_needs() -> None:
    verdict = observed(BODY, PROFILE, request={"projection": "is_vip"})

    assert verdict.exposed == {"tier": "gold"}
    assert verdict.omitted == ("/name", "/note", "/mobile")
    assert (verdict.omitted_count, verdict.exposed_is_cut) == (3, False)
    assert verdict.valid


def test_goal_that_the_tool_does_not_know_is_the_callers_mistake() -> None:
    with pytest.raises(InvalidRequest) as refused:
        observed(BODY, PROFILE, request={"projection": "is_vp"})

    assert refused.value.violations[0].field == "projection"
    assert "is_vip" in refused.value.violations[0].description


def test_tool_that_stood_in_need_not_know_the_goal() -> None:
    other = bare(name="get_old_profile", document={"name": "other"})
    observer = observer_of(PROFILE, other)
    result = result_of(BODY, tool="get_profile", served_by_tool="get_old_profile")

    assert observer.observe(ObserveRequest(result=result, projection="is_vip")).exposed == BODY


def test_data_keeps_what_is_masked_in_the_exposed_part() -> None:
    verdict = observed(BODY, PROFILE)
    data, exposed = verdict.data, verdict.exposed
    assert isinstance(data, dict)
    assert isinstance(exposed, dict)

    assert (data["mobile"], data["name"]) == ("13800138000", "Li Na")
    assert (exposed["mobile"], exposed["name"]) == ("<PHONE>", "<REDACTED>")
    assert verdict.redacted == ("/name", "/mobile")


def test_long_data_is_cut_in_what_is_shown_alone() -> None:
    observer = observer_of(PROFILE, policy=ObservationPolicy(max_exposed_bytes=256))

    verdict = observer.observe(ObserveRequest(result=result_of(BODY, tool="get_profile")))

    assert len(dumps(verdict.exposed).encode()) <= 256
    assert verdict.exposed_is_cut
    assert verdict.omitted == ("/note",)
    assert isinstance(verdict.data, dict)
    assert verdict.data["note"] == "x" * 2000


def test_fault_of_a_refused_value_does_not_quote_personal_data() -> None:
    rules = (NormaliseRule(field="/phone", to="/phone", convert=NormaliseAs.DATE),)
    contract = bare(observe=Observe(normalise=rules, redact=(PersonalData.PHONE,)))

    verdict = observed({"phone": "call 13800138000"}, contract)

    assert verdict.fault is not None
    assert (verdict.fault.actual, verdict.failures[0].actual) == ("call <PHONE>", "call <PHONE>")
