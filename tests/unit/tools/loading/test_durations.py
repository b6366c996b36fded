"""Durations as contracts write them."""

import pytest

from taoloop.tools.loading.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("200ms", 0.2), ("3s", 3.0), ("1.5m", 90.0), ("24h", 86400.0), ("1d", 86400.0), ("0", 0.0), ("0s", 0.0)],
)
def test_a_duration_is_read_as_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "3", "3 s", "-1s", "s", "3sec", "1h30m", "３s"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)
