"""What a failure quotes is short, valid JSON and free of secrets."""

from decimal import Decimal
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT
from taoloop.observation.stages.model import MAX_EXCERPT_CHARACTERS, excerpt


@pytest.mark.parametrize(
    "value", [None, True, 0, Decimal("0.10"), 12345678901234567, "shipped", ["a"], {"a": 1}, ABSENT]
)
def test_short_value_is_quoted_as_it_is(value: Any) -> None:
    assert excerpt(value) == value


@pytest.mark.parametrize("value", ["运" * 500, ["x" * 300], {"k": list(range(200))}])
def test_long_value_becomes_a_cut_text_with_an_ellipsis(value: Any) -> None:
    quoted = excerpt(value)

    assert isinstance(quoted, str)
    assert len(quoted) == MAX_EXCERPT_CHARACTERS
    assert quoted.endswith("…")


@pytest.mark.parametrize("value", ["Bearer abcdef0123456789abcdef", {"authorization": "Bearer abcdef0123456789abcdef"}])
def test_secret_is_not_quoted(value: Any) -> None:
    assert "abcdef0123456789abcdef" not in str(excerpt(value))
