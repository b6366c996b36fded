"""Formats of our own."""

import pytest

from taoloop.tools.formats import is_date_range


@pytest.mark.parametrize(
    ("text", "is_range"),
    [
        ("2026-02-01~2026-02-28", True),
        ("2026-02-01~2026-02-01", True),
        ("2026-02-28~2026-02-01", False),
        ("2026-02-01~2026-02-30", False),
        ("2026-02-01/2026-02-28", False),
        ("20260201~20260228", False),
        ("2026-W05-1~2026-02-28", False),
        ("2026-02-01", False),
        ("", False),
    ],
)
def test_a_date_range_is_two_dates_in_order(text: str, is_range: bool) -> None:
    assert is_date_range(text) is is_range
