"""Normalisation renames, unifies and converts, and refuses what has more than one reading."""

from decimal import Decimal
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, dumps, loads
from taoloop.core.faults import FaultCode
from taoloop.observation.stages.normalisers import FieldNormaliser, enum_map, normalise, time_conversion

STATUS = FieldNormaliser(
    field="/status", to="/order_status", conversions=(enum_map({"in_transit": "shipped"}, ["shipped", "delivered"]),)
)


def test_field_is_renamed_and_the_others_stay() -> None:
    data, outcome = normalise({"status": "in_transit", "eta": 1}, (STATUS,))

    assert data == {"eta": 1, "order_status": "shipped"}
    assert outcome.passed == ("normalised",)


def test_body_is_not_changed() -> None:
    body: Any = {"a": {"b": "X", "c": 1}, "items": [{"n": 1}]}
    before = dumps(body)
    rules = (FieldNormaliser(field="/a/b", to="/z"), FieldNormaliser(field="/items/0/n", to="/items/0/m"))

    data, _ = normalise(body, rules)

    assert data == {"a": {"c": 1}, "items": [{"m": 1}], "z": "X"}
    assert dumps(body) == before


def test_two_fields_can_change_places() -> None:
    rules = (FieldNormaliser(field="/a", to="/b"), FieldNormaliser(field="/b", to="/a"))

    assert normalise({"a": 1, "b": 2}, rules)[0] == {"a": 2, "b": 1}


def test_missing_field_is_left_out_and_null_stays_null() -> None:
    when = FieldNormaliser(field="/eta", to="/eta", conversions=(time_conversion("datetime", ""),))

    assert normalise({}, (when, STATUS))[0] == {}
    assert normalise({"eta": None}, (when,))[0] == {"eta": None}


def test_exact_numbers_survive() -> None:
    body = loads('{"price":0.10,"id":12345678901234567,"status":"shipped"}')

    data, _ = normalise(body, (STATUS,))

    assert dumps(data) == '{"price":0.10,"id":12345678901234567,"order_status":"shipped"}'


@pytest.mark.parametrize("value", ["in_transit", "IN_TRANSIT", " in_transit ", "ｉｎ_transit", "shipped", "Shipped"])
def test_enum_folds_case_space_and_width(value: str) -> None:
    assert normalise({"status": value}, (STATUS,))[0] == {"order_status": "shipped"}


def test_unknown_value_is_left_to_the_known_values_where_there_are_some() -> None:
    assert normalise({"status": "lost"}, (STATUS,))[0] == {"order_status": "lost"}


@pytest.mark.parametrize("value", ["lost", "in-transit", "in_transit2", 5, True, ["in_transit"]])
def test_unknown_value_is_refused_with_candidates_where_nothing_else_judges_it(value: Any) -> None:
    closed = FieldNormaliser(field="/s", to="/s", conversions=(enum_map({"in_transit": "shipped"}, None),))

    data, outcome = normalise({"s": value}, (closed,))

    assert data is ABSENT
    assert outcome.flaws[0].code is FaultCode.NORMALISATION_REFUSED
    assert outcome.flaws[0].candidates == ("shipped",)
    assert outcome.flaws[0].failure.pointer == "/s"


@pytest.mark.parametrize(
    ("to", "time_zone", "value", "expected"),
    [
        ("datetime", "", "2024-05-20T22:30:00+08:00", "2024-05-20T14:30:00Z"),
        ("datetime", "", "2024-05-20T14:30:00.250Z", "2024-05-20T14:30:00.25Z"),
        ("datetime", "Asia/Shanghai", "2024-05-20 22:30:00", "2024-05-20T14:30:00Z"),
        ("datetime", "Asia/Shanghai", "2024-05-20T22:30:00Z", "2024-05-20T22:30:00Z"),
        ("datetime", "", 1700000123, "2023-11-14T22:15:23Z"),
        ("datetime", "", 1700000123456, "2023-11-14T22:15:23.456Z"),
        ("date", "", "2024-05-20", "2024-05-20"),
        ("date", "", "2024-05-20T23:30:00", "2024-05-20"),
        ("date", "Asia/Shanghai", "2024-05-20T23:30:00Z", "2024-05-21"),
    ],
)
def test_times_become_utc_in_rfc_3339(to: str, time_zone: str, value: Any, expected: str) -> None:
    rule = FieldNormaliser(field="/t", to="/t", conversions=(time_conversion(to, time_zone),))

    assert normalise({"t": value}, (rule,))[0] == {"t": expected}


@pytest.mark.parametrize(
    ("to", "time_zone", "value"),
    [
        ("datetime", "", "2024-05-20T22:30:00"),  # no offset, and the contract names no zone
        ("datetime", "", "2024-05-20"),  # a day is no moment
        ("datetime", "Europe/Berlin", "2024-03-31T02:30:00"),  # the clocks skip it
        ("datetime", "Europe/Berlin", "2024-10-27T02:30:00"),  # it happens twice
        ("datetime", "", "2024-02-30T00:00:00Z"),
        ("datetime", "", 812345678901),  # twelve digits
        ("datetime", "UTC", "tomorrow at 3pm"),
        ("datetime", "", Decimal("1700000123.5")),
        ("datetime", "", True),
        ("date", "", "05.08.2023"),
        ("date", "", "2024-05-20T23:30:00Z"),  # the day depends on the zone
        ("date", "", "yesterday"),
        ("date", "", {"y": 2024}),
    ],
)
def test_time_with_more_than_one_reading_or_none_is_refused(to: str, time_zone: str, value: Any) -> None:
    rule = FieldNormaliser(field="/t", to="/t", conversions=(time_conversion(to, time_zone),))

    data, outcome = normalise({"t": value}, (rule,))

    assert data is ABSENT
    assert [found.failure.pointer for found in outcome.flaws] == ["/t"]


def test_ambiguous_date_names_its_readings() -> None:
    rule = FieldNormaliser(field="/t", to="/t", conversions=(time_conversion("date", ""),))

    _, outcome = normalise({"t": "05.08.2023"}, (rule,))

    assert set(outcome.flaws[0].candidates) == {"2023-08-05", "2023-05-08"}


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("2024-05-20T22:30:00", "ambiguous"),
        ("3pm", "no_reference"),
        ("2024-02-30T00:00:00Z", "out_of_range"),
        ("soon", "unreadable"),
    ],
)
def test_refusal_says_which_kind_it_is(value: str, code: str) -> None:
    rule = FieldNormaliser(field="/t", to="/t", conversions=(time_conversion("datetime", ""),))

    assert normalise({"t": value}, (rule,))[1].flaws[0].failure.rule_id == code


def test_every_refused_field_is_listed() -> None:
    rules = tuple(
        FieldNormaliser(field=f"/{name}", to=f"/{name}", conversions=(time_conversion("date", ""),)) for name in "ab"
    )

    _, outcome = normalise({"a": "x", "b": "y"}, rules)

    assert [found.failure.pointer for found in outcome.flaws] == ["/a", "/b"]


def test_place_that_cannot_be_made_is_refused() -> None:
    data, outcome = normalise({"a": 1, "b": "text"}, (FieldNormaliser(field="/a", to="/b/c"),))

    assert data is ABSENT
    assert outcome.flaws[0].failure.pointer == "/b/c"
