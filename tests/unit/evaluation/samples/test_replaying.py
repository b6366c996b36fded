"""Records under two catalogues: what changed is told apart, verdicts from data from confidences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT
from taoloop.evaluation.samples.exchanges import Exchange
from taoloop.evaluation.samples.replaying import MAX_DIFFERENCES, Replay, ReplayCounts, differences
from taoloop.tools.loading.samples import SampleExpectation
from tests.unit.evaluation.samples.orders import GOOD, OBSERVE, RULES, observer, write


def exchange(body: Any, **more: Any) -> Exchange:
    return Exchange(tool="get_order", arguments={"order_id": "A-1001"}, body=body, **more)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    (tmp_path / "old").mkdir()
    return write(tmp_path / "old")


def replayed(old: Path, body: Any, **changes: Any) -> Any:
    new = old.parent / "new"
    new.mkdir()
    return Replay(observer(write(new, **changes)), observer(old)).replayed(exchange(body))


def test_the_same_contract_changes_nothing(old: Path) -> None:
    assert not replayed(old, GOOD).is_changed


def test_a_stricter_rule_changes_the_verdict_and_names_what_fails_now(old: Path) -> None:
    strict = [{**RULES[0], "severity": "hard", "when": {"<": [{"var": "body.fee"}, 1]}}, RULES[1]]
    found = replayed(old, GOOD, spec__observe={**OBSERVE, "rules": strict})
    assert found.is_other_verdict
    assert (found.old.valid, found.new.valid, found.new.fault) == (True, False, "RULE_FAILED")
    assert [failure.rule_id for failure in found.failures] == ["cheap"]


def test_another_map_changes_the_data_and_no_verdict(old: Path) -> None:
    rules = [{"field": "/state", "to": "/status", "enum": {"S": "sent", "D": "delivered"}}]
    found = replayed(old, GOOD, spec__observe={**OBSERVE, "normalise": rules})
    assert not found.is_other_verdict
    assert [(each.pointer, each.old, each.new) for each in found.data] == [("/status", "shipped", "sent")]


def test_a_soft_rule_changes_the_confidence_alone(old: Path) -> None:
    strict = [{**RULES[0], "when": {"<": [{"var": "body.fee"}, 1]}}, RULES[1]]
    found = replayed(old, GOOD, spec__observe={**OBSERVE, "rules": strict})
    assert found.is_other_confidence
    assert not found.is_other_verdict
    assert found.data == ()


def test_a_tool_that_the_new_catalogue_lacks_is_another_verdict(old: Path) -> None:
    found = replayed(old, GOOD, metadata__name="other_tool")
    assert (found.is_other_verdict, found.new.fault) == (True, "UNKNOWN_TOOL")


@pytest.mark.parametrize(
    ("expect", "is_other"),
    [
        (None, False),
        (SampleExpectation(valid=True, fault="", data={}), False),
        (SampleExpectation(valid=False, fault="", data={}), True),
        (SampleExpectation(valid=False, fault="NOT_FOUND", data={}), True),
    ],
)
def test_without_an_old_catalogue_a_record_is_held_against_what_it_expects(
    old: Path, expect: SampleExpectation | None, is_other: bool
) -> None:
    assert Replay(observer(old)).replayed(exchange(GOOD, expect=expect)).is_other_verdict is is_other


def test_an_expected_failure_of_any_code_is_met_by_any(old: Path) -> None:
    expect = SampleExpectation(valid=False, fault="", data={})
    assert not Replay(observer(old)).replayed(exchange({"state": 1}, expect=expect)).is_other_verdict


def test_counts_tell_what_broke_from_what_healed(old: Path) -> None:
    counts, replay = ReplayCounts(), Replay(observer(old))
    counts.add(replay.replayed(exchange({"state": 1}, expect=SampleExpectation(valid=True, fault="", data={}))))
    counts.add(replay.replayed(exchange(GOOD, expect=SampleExpectation(valid=False, fault="", data={}))))
    assert (counts.records, counts.valid, counts.verdicts, counts.broken) == (2, 1, 2, 1)
    assert counts.tools == {"get_order": 2}


def test_differences_are_by_value_bounded_and_say_what_came_and_went() -> None:
    assert differences({"a": 1}, {"a": 1.00}) == ()
    assert differences(ABSENT, {"a": 1}) == ()
    found = differences({"a": 1, "b": [1, 2]}, {"b": [1, 3], "c": None})
    assert [(each.pointer, each.old, each.new) for each in found] == [
        ("/a", 1, ABSENT),
        ("/b/1", 2, 3),
        ("/c", ABSENT, None),
    ]
    assert len(differences(list(range(100)), list(range(1, 101)))) == MAX_DIFFERENCES
