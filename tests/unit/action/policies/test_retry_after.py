"""Rules of the Retry-After header."""

from datetime import UTC, datetime

import pytest

from taoloop.action.policies.retry_after import retry_after_seconds

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("1.5", 2.0),
        ("Sun, 01 Mar 2026 00:02:00 GMT", 120.0),
        ("Sun, 01 Mar 2026 00:02:00 -0000", 120.0),
        ("Sat, 28 Feb 2026 23:00:00 GMT", 0.0),
        ("-1", None),
        ("soon", None),
        ("", None),
        ("99999999999999999999", None),
    ],
)
def test_a_header_is_seconds_a_date_or_nothing(header: str, seconds: float | None) -> None:
    assert retry_after_seconds(header, NOW) == seconds
