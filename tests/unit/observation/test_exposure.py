"""Prompts see only what the contract exposes, and the verdict says what was left out."""

from typing import Any

import pytest

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT
from taoloop.observation.exposure import MAX_OMITTED, compile_exposed, expose

DATA: Any = {
    "status": "shipped",
    "eta": "2024-05-20",
    "address": {"city": "Ulm", "street": "Neue 1"},
    "items": [{"a": 1}],
}


@pytest.mark.parametrize(
    ("places", "exposed", "omitted"),
    [
        (["/status"], {"status": "shipped"}, ("/eta", "/address", "/items")),
        (["/address/city", "/eta"], {"eta": "2024-05-20", "address": {"city": "Ulm"}}, None),
        (["/address", "/address/city"], {"address": {"city": "Ulm", "street": "Neue 1"}}, None),
        ([""], DATA, ()),
        ([], {}, ("/status", "/eta", "/address", "/items")),
        (["/nowhere"], {}, None),
        (["/status/deeper"], {}, ("/status", "/eta", "/address", "/items")),
    ],
)
def test_only_listed_places_are_exposed(places: list[str], exposed: Any, omitted: tuple[str, ...] | None) -> None:
    shown = expose(DATA, compile_exposed(places))

    assert shown.exposed == exposed
    if omitted is not None:
        assert shown.omitted == omitted


def test_contract_without_expose_shows_everything() -> None:
    shown = expose(DATA, None)

    assert (shown.exposed, shown.omitted) == (DATA, ())


def test_pointer_into_the_exposed_part_of_an_array_keeps_its_meaning() -> None:
    data: Any = {"items": [{"name": "a"}, {"name": "b", "price": 2}, {"name": "c"}]}

    shown: Any = expose(data, compile_exposed(["/items/1/name"]))

    assert shown.exposed == {"items": [None, {"name": "b"}]}
    assert pointers.lookup(shown.exposed, "/items/1/name") == "b"
    assert shown.omitted == ("/items/0", "/items/1/price", "/items/2")


def test_scalar_data_is_all_or_nothing() -> None:
    assert expose(5, compile_exposed(["/a"])).exposed is ABSENT
    assert expose(5, compile_exposed([""])).exposed == 5


def test_list_of_omitted_places_is_bounded() -> None:
    shown = expose({f"k{n}": n for n in range(3 * MAX_OMITTED)}, compile_exposed([]))

    assert len(shown.omitted) == MAX_OMITTED


def test_keys_with_slashes_are_escaped_in_omitted() -> None:
    assert expose({"a/b": 1}, compile_exposed([])).omitted == ("/a~1b",)
