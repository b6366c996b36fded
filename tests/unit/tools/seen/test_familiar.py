"""A body with nothing new is known at once; what is told of any other is what the walk finds."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.tools.seen import Familiar, Place
from taoloop.tools.seen.place import TYPE_NAMES

NAMES = st.sampled_from(["a", "b", "ORD-1", ""])
TYPES = st.frozensets(st.sampled_from(sorted(TYPE_NAMES)))
VALUES = st.none() | st.frozensets(st.sampled_from(["x", "y", "", "é"]))
PLACES = st.recursive(
    st.builds(Place, types=TYPES, values=VALUES),
    lambda inner: st.builds(
        Place,
        types=TYPES,
        fields=st.dictionaries(NAMES, inner, max_size=3),
        is_closed=st.booleans(),
        members=st.none() | inner,
        items=st.none() | inner,
        values=VALUES,
    ),
    max_leaves=8,
)
SCALARS = st.sampled_from([None, True, False, 0, 1, 10**400, Decimal("1.5"), Decimal("1E+400"), "x", "z", "", "é"])
BODIES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)


@settings(max_examples=400, deadline=None)
@given(PLACES, BODIES)
def test_what_is_told_is_what_the_walk_finds(place: Place, body: Any) -> None:
    assert Familiar(place).novelties(body) == place.novelties(body)


def test_enumerated_texts_leave_other_types_alone() -> None:
    familiar = Familiar(Place(values=frozenset({"x"})))

    assert familiar.novelties(7) == ()
    assert [found.value for found in familiar.novelties("z")] == ["z"]
