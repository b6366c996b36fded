"""What a contract redacts stands nowhere in a verdict: not in failures, faults, candidates, pointers or stages."""

from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any

import pytest

from taoloop.plan.observing import ObservationResult
from taoloop.tools.contract import (
    NormaliseAs,
    NormaliseRule,
    Observe,
    ObserveRule,
    PersonalData,
    RedactField,
    RedactPattern,
    RuleSeverity,
)
from tests.unit.observation.contracts import bare, observed


def told(verdict: ObservationResult) -> str:
    """Everything that prompts, logs and people may see of a verdict: all but the data itself."""
    return repr(asdict(replace(verdict, data=None)))


def observing(**changes: Any) -> Any:
    return bare(observe=Observe(**changes))


@pytest.mark.parametrize("severity", RuleSeverity)
def test_a_failed_rule_over_a_member_with_a_telling_name_does_not_quote_it(severity: RuleSeverity) -> None:
    rule = ObserveRule(id="short", severity=severity, when={"===": [{"var": "data.password"}, "x"]})

    verdict = observed({"password": "hunter2"}, observing(redact=(PersonalData.SECRETS,), rules=(rule,)))

    assert [failure.rule_id for failure in verdict.failures] == ["short"]
    assert "hunter2" not in told(verdict)


def test_a_broken_schema_at_a_member_with_a_telling_name_does_not_quote_it() -> None:
    contract = replace(
        observing(redact=(PersonalData.SECRETS,)),
        response={"type": "object", "properties": {"access_token": {"type": "string", "maxLength": 5}}},
    )

    verdict = observed({"access_token": "hunter2-secret-value"}, contract)

    assert not verdict.valid
    assert "hunter2" not in told(verdict)


def test_the_readings_of_a_redacted_value_are_no_candidates() -> None:
    contract = observing(
        redact=(RedactField(field="/born"),),
        normalise=(NormaliseRule(field="/born", to="/born", convert=NormaliseAs.DATE),),
    )

    verdict = observed({"born": "03/04/1985"}, contract)

    assert not verdict.valid
    assert "1985" not in told(verdict)


def test_personal_data_in_the_name_of_a_member_is_masked_in_pointers_and_stages() -> None:
    contract = replace(
        observing(redact=(PersonalData.EMAIL,)),
        response={"type": "object", "additionalProperties": {"type": "number"}},
    )

    verdict = observed({"ann@example.com": "x"}, contract)

    assert [failure.pointer for failure in verdict.failures] == ["/<EMAIL>"]
    assert "ann@example.com" not in told(verdict)


@pytest.mark.parametrize(
    ("redact", "value"),
    [
        (PersonalData.PHONE, Decimal("13812345678.0")),
        (RedactPattern(name="pin", pattern="[0-9]{5}"), 12345),
        (RedactPattern(name="pin", pattern="[0-9]{5}"), Decimal("12345.5")),
    ],
)
def test_numbers_are_searched_in_every_form(redact: Any, value: Any) -> None:
    verdict = observed({"number": value}, observing(redact=(redact,)))

    assert isinstance(verdict.exposed, dict)
    assert str(verdict.exposed["number"]).startswith("<")


def test_two_members_whose_masked_names_are_equal_both_stay() -> None:
    verdict = observed({"ann@x.com": 1, "<EMAIL>": 2}, observing(redact=(PersonalData.EMAIL,)))

    assert isinstance(verdict.exposed, dict)
    assert sorted(verdict.exposed.values(), key=str) == [1, 2]


def test_a_value_that_a_rule_would_move_too_deep_is_refused() -> None:
    deep: Any = 1
    for _ in range(63):
        deep = [deep]

    verdict = observed({"a": deep}, observing(normalise=(NormaliseRule(field="/a", to="/x/y/z"),)))

    assert [failure.rule_id for failure in verdict.failures] == ["no_place"]
    assert not verdict.execution_permitted
