"""Prompts see only what the contract exposes, without personal data, and the verdict says what is not there."""

from typing import Any

import pytest

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, dumps
from taoloop.observation.exposing import MAX_LISTED, Exposure, compile_exposer
from taoloop.tools.contract import Observe, PersonalData, Projection, RedactField

DATA: Any = {
    "status": "shipped",
    "eta": "2024-05-20",
    "address": {"city": "Ulm", "street": "Neue 1"},
    "items": [{"a": 1}],
}


def exposed(data: Any, expose: tuple[str, ...] | None = None, projection: str = "", **observe: Any) -> Exposure:
    before = dumps(data)
    max_bytes = observe.pop("max_bytes", 32 * 1024)
    shown = compile_exposer(Observe(expose=expose, **observe)).expose(data, projection, max_bytes=max_bytes)
    assert dumps(data) == before
    return shown


@pytest.mark.parametrize(
    ("places", "part", "omitted"),
    [
        (("/status",), {"status": "shipped"}, ("/eta", "/address", "/items")),
        (("/address/city", "/eta"), {"eta": "2024-05-20", "address": {"city": "Ulm"}}, None),
        (("/address", "/address/city"), {"address": {"city": "Ulm", "street": "Neue 1"}}, None),
        (("",), DATA, ()),
        ((), {}, ("/status", "/eta", "/address", "/items")),
        (("/nowhere",), {}, None),
        (("/status/deeper",), {}, ("/status", "/eta", "/address", "/items")),
    ],
)
def test_only_listed_places_are_exposed(places: tuple[str, ...], part: Any, omitted: tuple[str, ...] | None) -> None:
    shown = exposed(DATA, places)

    assert shown.exposed == part
    if omitted is not None:
        assert (shown.omitted, shown.omitted_count) == (omitted, len(omitted))


def test_contract_without_expose_shows_everything_and_copies_nothing() -> None:
    shown = exposed(DATA)

    assert shown == Exposure(exposed=DATA)
    assert shown.exposed is DATA


def test_star_exposes_a_member_of_every_item() -> None:
    data: Any = {"items": [{"name": "a", "id": 1}, {"name": "b"}], "by_city": {"Ulm": {"t": 1, "x": 2}}}

    shown = exposed(data, ("/items/*/name", "/by_city/*/t"))

    assert shown.exposed == {"items": [{"name": "a"}, {"name": "b"}], "by_city": {"Ulm": {"t": 1}}}
    assert shown.omitted == ("/items/0/id", "/by_city/Ulm/x")


def test_place_beside_a_star_shows_both() -> None:
    assert exposed([{"a": 1, "b": 2}, {"a": 3, "b": 4}], ("/*/a", "/0/b")).exposed == [{"a": 1, "b": 2}, {"a": 3}]


def test_pointer_into_the_exposed_part_of_an_array_keeps_its_meaning() -> None:
    data: Any = {"items": [{"name": "a"}, {"name": "b", "price": 2}, {"name": "c"}]}

    shown: Any = exposed(data, ("/items/1/name",))

    assert shown.exposed == {"items": [None, {"name": "b"}]}
    assert pointers.lookup(shown.exposed, "/items/1/name") == "b"
    assert shown.omitted == ("/items/0", "/items/1/price", "/items/2")


def test_scalar_data_is_all_or_nothing() -> None:
    assert exposed(5, ("/a",)).exposed is ABSENT
    assert exposed(5, ("",)).exposed == 5


def test_list_of_omitted_places_is_bounded_and_the_count_is_not() -> None:
    shown = exposed({f"k{n}": n for n in range(3 * MAX_LISTED)}, ())

    assert (len(shown.omitted), shown.omitted_count) == (MAX_LISTED, 3 * MAX_LISTED)


def test_keys_with_slashes_are_escaped_in_omitted() -> None:
    assert exposed({"a/b": 1}, ()).omitted == ("/a~1b",)


VIP = {"is_vip": Projection(when="whether the customer is VIP", expose=("/tier", "/points"))}


def test_projection_shows_what_one_goal_needs_and_no_more_than_the_contract_exposes() -> None:
    data: Any = {"tier": "gold", "points": 1200, "name": "Li Na", "avatar": "…"}

    assert exposed(data, None, "is_vip", projections=VIP).exposed == {"tier": "gold", "points": 1200}
    assert exposed(data, ("/tier", "/name"), "is_vip", projections=VIP).exposed == {"tier": "gold"}
    assert exposed(data, ("/tier", "/name"), "is_vip", projections=VIP).omitted_count == 3


def test_without_a_projection_everything_that_may_be_seen_is_shown() -> None:
    assert exposed({"tier": "gold", "name": "Li Na"}, ("/name",), "", projections=VIP).exposed == {"name": "Li Na"}


def test_what_is_exposed_is_redacted_and_the_verdict_says_where() -> None:
    data: Any = {"note": "call 13800138000", "owner": {"id": "X", "tier": 1}, "token": "Authorization: Bearer abcdef"}
    redact = (PersonalData.PHONE, RedactField(field="/owner/id"))

    shown = exposed(data, redact=redact)

    assert shown.exposed == {
        "note": "call <PHONE>",
        "owner": {"id": "<REDACTED>", "tier": 1},
        "token": "Authorization: ***",
    }
    assert shown.redacted == ("/note", "/owner/id", "/token")


def test_personal_data_in_member_names_leaves_neither_by_the_data_nor_by_the_pointers() -> None:
    shown = exposed({"13800138000": {"a": 1, "b": 2}, "13900139000": {"a": 1}}, ("/*/a",), redact=(PersonalData.PHONE,))

    assert shown.exposed == {"<PHONE>": {"a": 1}, "<PHONE>_2": {"a": 1}}
    assert shown.omitted == ("/<PHONE>/b",)


def test_long_data_is_cut_and_stays_json_within_the_bound() -> None:
    data: Any = {"log": "x" * 10_000, "id": "A1", "items": [{"n": n} for n in range(1000)]}

    shown = exposed(data, max_bytes=500)
    part: Any = shown.exposed

    assert len(dumps(part).encode()) <= 500
    assert part["id"] == "A1"
    assert part["log"].endswith("…")
    assert part["items"][0] == {"n": 0}
    assert shown.is_cut
    assert shown.omitted_count == 1 + 1000 - len(part["items"])
    assert shown.omitted == (f"/items/{len(part['items'])}", "/log")


def test_data_at_the_bound_is_not_cut() -> None:
    data: Any = {"text": "文" * 100}
    exact = len(dumps(data).encode())

    assert not exposed(data, max_bytes=exact).is_cut
    assert exposed(data, max_bytes=exact - 1).is_cut


def test_what_is_redacted_does_not_come_back_when_the_data_is_cut() -> None:
    shown = exposed({"notes": ["call 13800138000"] * 100}, redact=(PersonalData.PHONE,), max_bytes=256)

    assert "138" not in dumps(shown.exposed)
