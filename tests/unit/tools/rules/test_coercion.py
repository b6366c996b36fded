"""Values are converted and compared as ECMAScript does."""

import pytest

from taoloop.core.exact_json import dumps
from taoloop.tools.rules.coercion import loosely_equal


@pytest.mark.parametrize(
    ("left", "right", "is_equal"),
    [
        (None, None, True),
        (None, 0, False),
        (None, "", False),
        (None, False, False),
        ("", 0, True),
        (" ", 0, True),
        ("1", 1, True),
        ("1e1", 10, True),
        ("0x10", 16, True),
        ("a", 1, False),
        (True, 1, True),
        (True, "1", True),
        (False, "0", True),
        (False, "", True),
        ([], "", True),
        ([1], 1, True),
        ([1, 2], "1,2", True),
        ([], False, True),
        ({}, "[object Object]", True),
        ({}, [], False),
        (1, 1.0, True),
    ],
)
def test_loose_equality_is_that_of_ecmascript(left: object, right: object, is_equal: bool) -> None:
    assert loosely_equal(dumps([left, right])) == ("true" if is_equal else "false")
    assert loosely_equal(dumps([right, left])) == ("true" if is_equal else "false")
