"""Rules of JSON pointers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.pointers import PointerNotFound, PointerSyntaxError, assign, find, join, lookup, parse

RFC_DOCUMENT: JsonValue = {
    "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6, " ": 7, "m~n": 8,
}  # fmt: skip


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("", RFC_DOCUMENT), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1), ("/c%d", 2),
        ("/e^f", 3), ("/g|h", 4), ("/i\\j", 5), ('/k"l', 6), ("/ ", 7), ("/m~0n", 8),
    ],
)  # fmt: skip
def test_the_examples_of_the_rfc_are_found(pointer: str, expected: JsonValue) -> None:
    assert lookup(RFC_DOCUMENT, pointer) == expected


@given(st.lists(st.text()))
def test_joined_tokens_are_parsed_back(tokens: list[str]) -> None:
    assert parse(join(*tokens)) == tuple(tokens)


def test_a_tilde_is_unescaped_once() -> None:
    assert parse("/~01") == ("~1",)


@pytest.mark.parametrize("pointer", ["foo", "#/foo", "/~", "/~2", "/a~"])
def test_a_malformed_pointer_is_refused(pointer: str) -> None:
    with pytest.raises(PointerSyntaxError):
        parse(pointer)


@pytest.mark.parametrize(
    "pointer",
    ["/nope", "/foo/2", "/foo/-", "/foo/01", "/foo/-1", "/foo/+1", "/foo/0/x", "/foo/٣", "/foo/" + "9" * 5000],
)
def test_what_is_not_there_is_not_found(pointer: str) -> None:
    with pytest.raises(PointerNotFound) as caught:
        lookup(RFC_DOCUMENT, pointer)
    assert caught.value.pointer == pointer
    assert str(caught.value).startswith(pointer)


def test_assign_makes_the_objects_on_the_way() -> None:
    value: JsonValue = {"a": 1}
    assert assign(value, "/b/c/0", 2) is value
    assert value == {"a": 1, "b": {"c": {"0": 2}}}


def test_assign_replaces_and_appends_in_arrays() -> None:
    value: JsonValue = {"a": [1, 2]}
    assign(value, "/a/0", 9)
    assign(value, "/a/-", 3)
    assign(value, "/a/3", 4)
    assert value == {"a": [9, 2, 3, 4]}


def test_assign_at_the_root_returns_the_new_value() -> None:
    assert assign({"a": 1}, "", [2]) == [2]


@pytest.mark.parametrize("pointer", ["/a/2", "/a/x", "/b/c", "/a/5/c"])
def test_assign_refuses_places_that_cannot_be(pointer: str) -> None:
    value: JsonValue = {"a": [1], "b": "text"}
    with pytest.raises(PointerNotFound):
        assign(value, pointer, 0)
    assert value == {"a": [1], "b": "text"}


def test_what_is_not_there_is_found_absent_and_null_is_there() -> None:
    assert find({"a": [None]}, "/a/0") is None
    assert find({"a": [None]}, "/a/1") is ABSENT
    assert find(ABSENT, "/a") is ABSENT
    with pytest.raises(PointerSyntaxError):
        find({}, "a")
