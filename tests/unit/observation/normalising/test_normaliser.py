"""Normalisation picks, moves, unifies and converts, and refuses what has more than one reading."""

from decimal import Decimal
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, dumps, loads
from taoloop.core.faults import FaultCode
from taoloop.observation.normalising import compile_normaliser
from taoloop.observation.normalising.change import MAX_FLAWS
from taoloop.observation.stages.model import Outcome
from taoloop.tools.contract import NormaliseAs, NormaliseRule, Observe


def rule(field: str, to: str | None = None, convert: str | None = None, **more: Any) -> NormaliseRule:
    enum, vocabulary = more.pop("enum", None), more.pop("vocabulary", None)
    zone = more.pop("time_zone", "")
    return NormaliseRule(
        field=field,
        to=field if to is None else to,
        convert=None if convert is None else NormaliseAs(convert),
        enum=enum,
        vocabulary=vocabulary,
        time_zone=zone,
        conversion_options=more,
    )


def applied(body: Any, *rules: NormaliseRule, **observe: Any) -> tuple[Any, Outcome]:
    normaliser = compile_normaliser(Observe(normalise=rules, **observe))
    assert normaliser is not None
    before = dumps(body)
    result = normaliser.apply(body)
    assert dumps(body) == before
    return result


def data(body: Any, *rules: NormaliseRule, **observe: Any) -> Any:
    made, outcome = applied(body, *rules, **observe)
    assert outcome == Outcome(passed=("normalised",))
    return made


def refused(body: Any, *rules: NormaliseRule, **observe: Any) -> list[tuple[str, str]]:
    made, outcome = applied(body, *rules, **observe)
    assert made is ABSENT
    assert {each.code for each in outcome.flaws} == {FaultCode.NORMALISATION_REFUSED}
    return [(each.failure.pointer, each.failure.rule_id) for each in outcome.flaws]


STATUS = rule("/status", "/order_status", enum={"in_transit": "shipped"})
KNOWN = {"/order_status": ("shipped", "delivered")}


def test_contract_without_changes_has_no_normaliser() -> None:
    assert compile_normaliser(Observe()) is None


def test_field_is_renamed_and_the_others_stay() -> None:
    assert data({"status": "in_transit", "eta": 1}, STATUS) == {"eta": 1, "order_status": "shipped"}


def test_what_does_not_change_is_shared_with_the_body() -> None:
    body: Any = {"big": {"list": [1, 2]}, "status": "in_transit"}

    assert data(body, STATUS)["big"] is body["big"]


def test_deep_fields_move_and_the_body_stays() -> None:
    body = {"a": {"b": "X", "c": 1}, "items": [{"n": 1}]}

    assert data(body, rule("/a/b", "/z"), rule("/items/0/n", "/items/0/m")) == {
        "a": {"c": 1},
        "items": [{"m": 1}],
        "z": "X",
    }


def test_two_fields_can_change_places() -> None:
    assert data({"a": 1, "b": 2}, rule("/a", "/b"), rule("/b", "/a")) == {"a": 2, "b": 1}


def test_missing_field_is_left_out_and_null_stays_null() -> None:
    when = rule("/eta", convert="datetime")

    assert data({}, when, STATUS) == {}
    assert data({"eta": None}, when) == {"eta": None}
    assert data({"eta": None}, rule("/eta", "/when", "datetime")) == {"when": None}


def test_exact_numbers_survive() -> None:
    body = loads('{"price":0.10,"id":12345678901234567,"status":"in_transit"}')

    assert dumps(data(body, STATUS)) == '{"price":0.10,"id":12345678901234567,"order_status":"shipped"}'


def test_one_field_can_become_two() -> None:
    rules = (rule("/price", "/price_text", "text"), rule("/price", "/price_eur", "money", currency="EUR"))

    assert data({"price": "12.50 EUR"}, *rules) == {"price_text": "12.50 EUR", "price_eur": Decimal("12.50")}


@pytest.mark.parametrize(
    ("convert", "options", "value", "expected"),
    [
        ("text", {}, "  a\t b ", "a b"),
        ("text", {}, 12345678901234567, "12345678901234567"),
        ("number", {"locale": "de"}, "1.234,50", Decimal("1234.50")),
        ("integer", {}, "1,234,567", 1234567),
        ("boolean", {}, "yes", True),
        ("unit", {"to_unit": "°C"}, "77 °F", 25),
        ("unit", {"unit": "km/h", "to_unit": "m/s"}, 36, 10),
        ("percentage", {}, "65%", 65),
        ("percentage", {"scale": "fraction"}, "65%", Decimal("0.65")),
        ("confidence", {"scale": "percent"}, 95, Decimal("0.95")),
        ("money", {"currency": "CNY"}, "¥1,234.50", Decimal("1234.50")),
        ("date", {"order": "dmy"}, "05.08.2023", "2023-08-05"),
        ("date-range", {}, "2026-02-01~2026-02-03", "2026-02-01~2026-02-03"),
        ("duration", {}, "1h30m", 5400),
        ("datetime", {"time_zone": "Europe/Berlin", "gap": "forward"}, "2024-03-31T02:30:00", "2024-03-31T01:30:00Z"),
    ],
)
def test_every_conversion_is_reached_with_its_options(
    convert: str, options: dict[str, Any], value: Any, expected: Any
) -> None:
    assert data({"v": value}, rule("/v", "/w", convert, **options)) == {"w": expected}


@pytest.mark.parametrize(
    ("convert", "time_zone", "value", "expected"),
    [
        ("datetime", "", "2024-05-20T22:30:00+08:00", "2024-05-20T14:30:00Z"),
        ("datetime", "", "2024-05-20T14:30:00.250Z", "2024-05-20T14:30:00.25Z"),
        ("datetime", "Asia/Shanghai", "2024-05-20 22:30:00", "2024-05-20T14:30:00Z"),
        ("datetime", "Asia/Shanghai", "2024-05-20T22:30:00Z", "2024-05-20T22:30:00Z"),
        ("datetime", "", 1700000123, "2023-11-14T22:15:23Z"),
        ("datetime", "", 1700000123456, "2023-11-14T22:15:23.456Z"),
        ("date", "", "2024-05-20", "2024-05-20"),
        ("date", "Asia/Shanghai", "2024-05-20T23:30:00Z", "2024-05-21"),
    ],
)
def test_times_become_utc_in_rfc_3339(convert: str, time_zone: str, value: Any, expected: str) -> None:
    assert data({"t": value}, rule("/t", convert=convert, time_zone=time_zone)) == {"t": expected}


@pytest.mark.parametrize(
    ("convert", "time_zone", "value"),
    [
        ("datetime", "", "2024-05-20T22:30:00"),  # no offset, and the contract names no zone
        ("datetime", "", "2024-05-20"),  # a day is no moment
        ("datetime", "Europe/Berlin", "2024-03-31T02:30:00"),  # the clocks skip it
        ("datetime", "Europe/Berlin", "2024-10-27T02:30:00"),  # it happens twice
        ("datetime", "", "2024-02-30T00:00:00Z"),
        ("datetime", "", 812345678901),  # twelve digits
        ("datetime", "UTC", "tomorrow at 3pm"),
        ("datetime", "", True),
        ("date", "", "05.08.2023"),
        ("date", "", "2024-05-20T23:30:00Z"),  # the day depends on the zone
        ("date", "", "yesterday"),
        ("date", "", {"y": 2024}),
    ],
)
def test_time_with_more_than_one_reading_or_none_is_refused(convert: str, time_zone: str, value: Any) -> None:
    assert [place for place, _ in refused({"t": value}, rule("/t", convert=convert, time_zone=time_zone))] == ["/t"]


def test_ambiguous_date_names_its_readings() -> None:
    _, outcome = applied({"t": "05.08.2023"}, rule("/t", convert="date"))

    assert set(outcome.flaws[0].candidates) == {"2023-08-05", "2023-05-08"}
    assert outcome.flaws[0].failure.expected == "date"
    assert outcome.flaws[0].failure.actual == "05.08.2023"


@pytest.mark.parametrize(
    ("convert", "options", "value", "code"),
    [
        ("datetime", {}, "2024-05-20T22:30:00", "ambiguous"),
        ("datetime", {}, "3pm", "no_reference"),
        ("datetime", {}, "2024-02-30T00:00:00Z", "out_of_range"),
        ("datetime", {}, "soon", "unreadable"),
        ("number", {}, "1,234", "ambiguous"),
        ("unit", {"to_unit": "°C"}, "25", "missing_unit"),
        ("unit", {"to_unit": "°C"}, "25 °X", "unknown_unit"),
        ("unit", {"to_unit": "°C"}, "25 kg", "wrong_unit"),
    ],
)
def test_refusal_says_which_kind_it_is(convert: str, options: dict[str, Any], value: str, code: str) -> None:
    assert refused({"t": value}, rule("/t", convert=convert, **options)) == [("/t", code)]


def test_every_refused_field_is_listed() -> None:
    assert refused({"a": "x", "b": "y"}, rule("/a", convert="date"), rule("/b", convert="date")) == [
        ("/a", "unreadable"),
        ("/b", "unreadable"),
    ]


def test_place_that_cannot_be_made_is_refused() -> None:
    assert refused({"a": 1, "b": "text"}, rule("/a", "/b/c")) == [("/b/c", "no_place")]


def test_star_converts_every_item_and_names_the_item_that_it_refuses() -> None:
    price = rule("/items/*/price", "/items/*/price_cny", "money", currency="CNY")

    assert data({"items": [{"price": "¥1.50", "n": 1}, {"n": 2}, {"price": None}]}, price) == {
        "items": [{"n": 1, "price_cny": Decimal("1.50")}, {"n": 2}, {"price_cny": None}]
    }
    assert refused({"items": [{"price": "¥1.50"}, {"price": "$2"}]}, price) == [("/items/1/price", "wrong_unit")]


def test_star_stands_for_the_members_of_an_object_too() -> None:
    share = rule("/by_city/*/humidity", "/by_city/*/humidity_percent", "percentage")

    assert data({"by_city": {"a/b": {"humidity": "65%"}}}, share) == {"by_city": {"a/b": {"humidity_percent": 65}}}
    assert refused({"by_city": {"a/b": {"humidity": "wet"}}}, share) == [("/by_city/a~1b/humidity", "unreadable")]


def test_two_stars_keep_their_order() -> None:
    moved = rule("/a/*/b/*/c", "/a/*/b/*/d")

    assert data({"a": [{"b": {"x": {"c": 1}, "y": {}}}, {"b": {"x": {"c": 2}}}]}, moved) == {
        "a": [{"b": {"x": {"d": 1}, "y": {}}}, {"b": {"x": {"d": 2}}}]
    }


def test_items_themselves_are_converted_in_their_place() -> None:
    assert data({"tags": [" a ", "b"]}, rule("/tags/*", convert="text")) == {"tags": ["a", "b"]}


def test_a_list_can_move_while_its_items_change() -> None:
    rules = (rule("/data/items", "/items"), rule("/data/items/*/p", "/items/*/percent", "percentage"))

    assert data({"data": {"items": [{"p": "5%", "n": 1}], "x": 1}}, *rules) == {
        "data": {"x": 1},
        "items": [{"n": 1, "percent": 5}],
    }


def test_first_item_of_a_list_is_copied_out_and_later_changes_do_not_reach_the_copy() -> None:
    rules = (rule("/items/0", "/first"), rule("/items/*/n", "/items/*/m"), rule("/k", "/first/k"))

    made = data({"items": [{"n": 1}, {"n": 2}], "k": 3}, *rules)

    assert made["items"] == [{"m": 1}, {"m": 2}]
    assert made["first"]["k"] == 3


def test_only_what_is_picked_or_normalised_stays() -> None:
    body = {
        "code": 0,
        "data": {"weather": "Partly cloudy", "humidity": "65%", "raw": "…", "days": [{"t": 1, "x": 2}]},
    }
    made = data(
        body,
        rule("/data/weather", "/weather", enum={"Partly cloudy": "partly_cloudy"}),
        rule("/data/humidity", "/humidity_percent", "percentage"),
        pick=("/data/days/*/t",),
    )

    assert made == {"data": {"days": [{"t": 1}]}, "weather": "partly_cloudy", "humidity_percent": 65}


def test_what_a_rule_makes_of_picked_items_stays() -> None:
    body = {"items": [{"p": "5%", "n": 1, "x": 2}]}

    made = data(body, rule("/items/*/p", "/items/*/percent", "percentage"), pick=("/items/*/n",))

    assert made == {"items": [{"n": 1, "percent": 5}]}


def test_field_that_is_converted_where_it_stands_needs_no_pick() -> None:
    assert data({"a": "5%", "b": 1}, rule("/a", convert="percentage"), pick=()) == {"a": 5}


def test_pick_alone_drops_the_rest_and_keeps_null() -> None:
    assert data({"a": {"b": 1, "c": 2}, "d": None, "e": [1]}, pick=("/a/b", "/d")) == {"a": {"b": 1}, "d": None}


def test_refusals_are_bounded_and_the_last_says_how_many_more_there_are() -> None:
    _, outcome = applied({"v": ["x"] * 57}, rule("/v/*", convert="number"))

    assert len(outcome.flaws) == MAX_FLAWS
    assert outcome.flaws[-1].failure.pointer == "/v/19"
    assert "37 more" in outcome.flaws[-1].failure.message


def test_a_million_values_are_refused_in_bounded_time_and_memory() -> None:
    _, outcome = applied({"v": ["x"] * 200_000}, rule("/v/*", convert="boolean"))

    assert len(outcome.flaws) == MAX_FLAWS
