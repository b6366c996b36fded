"""Rules and data of every kind that JSON has, for properties."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from hypothesis import strategies as st

from taoloop.tools.rules import javascript

OPERATORS: Final = sorted(javascript.OPERATORS)

PATHS: Final = ("", "a", "b", "a.b", "a.0", "b.-1", "a.01", "x..y", ".", "current", "accumulator", "current.a")

scalars: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.sampled_from([2**63 - 1, 2**63, 10**399, Decimal("0.1"), Decimal("1E+400"), Decimal("1E-400"), 1e300]),
    st.sampled_from(["", "a", "1", "1d", "24h", "2026-03-01T00:00:00Z", "NaN", "Infinity", "-", "é\U0001f600", *PATHS]),
)

data: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b", "0", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)

reads: st.SearchStrategy[Any] = st.builds(lambda path: {"var": path}, st.sampled_from(PATHS))

rules: st.SearchStrategy[Any] = st.recursive(
    scalars | reads,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.builds(lambda name, operands: {name: operands}, st.sampled_from(OPERATORS), st.lists(inner, max_size=3))
        | st.builds(lambda name, operand: {name: operand}, st.sampled_from([*OPERATORS, "log", "type"]), inner)
    ),
    max_leaves=14,
)
