"""Placeholders in the texts of a contract."""

import pytest

from taoloop.tools import placeholders


def test_names_and_bases_are_told_apart() -> None:
    url = "{{base.orders}}/orders/{order_id}/{ part }"
    assert placeholders.names(url) == ("order_id",)
    assert placeholders.bases(url) == ("orders",)


@pytest.mark.parametrize(
    ("text", "name"), [("{a}", "a"), ("{a.b}", "a.b"), ("x{a}", None), ("{{a}}", None), ("", None)]
)
def test_a_text_that_is_only_one_placeholder_is_known(text: str, name: str | None) -> None:
    assert placeholders.whole(text) == name


@pytest.mark.parametrize(("text", "remain"), [("{a} and {b}", False), ("{a b}", True), ("{a", True), ("}", True)])
def test_braces_that_are_no_placeholder_remain(text: str, remain: bool) -> None:
    assert placeholders.leftovers(text) is remain


def test_every_text_of_a_value_is_found_with_its_pointer() -> None:
    assert list(placeholders.texts({"a/b": ["x", 1, {"c": "y"}]})) == [("/a~1b/0", "x"), ("/a~1b/2/c", "y")]
