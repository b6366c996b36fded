"""A bound conversion, which reads the common spellings at once, gives what the table gives, or refuses alike."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taoloop.values.conversions import CONVERSIONS, ConversionContext
from taoloop.values.refusals import ValueRefused

CONTEXT = ConversionContext(time_zone="Asia/Shanghai")

digits = st.text("0123456789", min_size=1, max_size=5)
written = st.tuples(
    st.sampled_from(["", "-", "+", "¥", " "]),
    st.lists(digits, min_size=1, max_size=4).map(",".join),
    st.sampled_from(["", ".", ","]),
    st.text("0123456789", max_size=5),
    st.sampled_from(["", "%", " %", "％", " CNY", "e3", "\n"]),
).map("".join)
numbers = (
    st.integers(-(10**19), 10**19)
    | st.decimals(allow_nan=True, allow_infinity=True)
    | st.decimals(-(10**6), 10**6, places=2)
    | st.floats()
)
values: st.SearchStrategy[Any] = written | numbers | st.booleans() | st.none() | st.just([])


def outcome(convert: Any, *given_: Any) -> tuple[str, str, object]:
    """Return the type and the digits of what a conversion gives, or what it says where it refuses."""
    try:
        result = convert(*given_)
    except ValueRefused as refused:
        return "refused", refused.message, refused.candidates
    return type(result).__name__, str(result), None


@pytest.mark.parametrize("currency", ["CNY", "JPY", "KWD", "CLF"])
@pytest.mark.parametrize("separator", [None, ".", ","])
@given(value=values)
@example("1,289.50")
@example("1289.5")
@example("1,289")
@example("1.289")
@example("0.00")
@example("-0.00")
@example(0)
@example(-7)
@example(True)
@example(Decimal("-0.00"))
@example(Decimal("12.5"))
@example(Decimal("12.50"))
@example(Decimal("12.500"))
@example(Decimal("1E+2"))
@example(Decimal("1E-7"))
def test_an_amount_is_read_alike_at_once_and_in_full(currency: str, separator: str | None, value: Any) -> None:
    check("money", {"currency": currency, **({"decimal_separator": separator} if separator else {})}, value)


@pytest.mark.parametrize("scale", ["percent", "fraction"])
@pytest.mark.parametrize("separator", [None, ".", ","])
@given(value=values)
@example("12.5%")
@example("1.250%")
@example("-0%")
@example("0.5")
def test_a_share_is_read_alike_at_once_and_in_full(scale: str, separator: str | None, value: Any) -> None:
    check("percentage", {"scale": scale, **({"decimal_separator": separator} if separator else {})}, value)


moments = st.from_regex(
    r"[0-9]{3,4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,7})?(Z|[+-][0-9]{2}:[0-9]{2})?",
    fullmatch=True,
) | st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat())


@given(value=moments | values)
@example("0001-01-01T00:00:00+08:00")
@example("9999-12-31T23:59:59-08:00")
@example("2026-03-14T18:00:00+08:00")
@example("2026-03-14 18:00:00.120+08:00")
@example("2026-03-14T18:00:00Z")
@example("2026-03-14T24:00:00Z")
@example("2026-03-14T23:59:60Z")
@example("2026-03-14T18:00:00+24:00")
@example("２026-03-14T18:00:00Z")
@pytest.mark.parametrize("to", ["datetime", "date"])
def test_a_moment_and_a_day_are_read_alike_at_once_and_in_full(to: str, value: Any) -> None:
    check(to, {}, value)


def check(to: str, options: dict[str, Any], value: Any) -> None:
    conversion = CONVERSIONS[to]

    assert outcome(conversion.bound(CONTEXT, options), value) == outcome(conversion.apply, value, CONTEXT, options)
