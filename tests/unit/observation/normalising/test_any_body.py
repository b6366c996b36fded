"""No body makes normalising or showing it raise, and none is changed by it."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.core.exact_json import ABSENT, dumps, equal
from taoloop.observation.exposing import compile_exposer
from taoloop.observation.exposing.fitting import size_bytes
from taoloop.observation.normalising import compile_normaliser
from taoloop.tools.contract import NormaliseAs, NormaliseRule, Observe, PersonalData, RedactField, RedactPattern

KEYS = st.sampled_from(("a", "b", "c", "0", "*", "")) | st.text(max_size=3)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**400), 10**400)
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
BODIES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4))
PLACES = st.lists(st.sampled_from(("a", "b", "c", "0", "*")), min_size=1, max_size=3).map(lambda at: "/" + "/".join(at))
OPTIONS: dict[NormaliseAs, dict[str, Any]] = {
    NormaliseAs.UNIT: {"to_unit": "m"},
    NormaliseAs.MONEY: {"currency": "EUR"},
}


@st.composite
def rules(draw: st.DrawFn) -> NormaliseRule:
    field = draw(PLACES)
    stars = field.count("*")
    to = draw(st.just(field) | PLACES.filter(lambda at: at.count("*") == stars))
    if draw(st.booleans()):
        convert = draw(st.sampled_from(list(NormaliseAs)))
        return NormaliseRule(field=field, to=to, convert=convert, conversion_options=OPTIONS.get(convert, {}))
    return NormaliseRule(field=field, to=to, enum=draw(st.none() | st.just({"x": "y", "1": 2})))


@settings(max_examples=150, deadline=None)
@given(BODIES, st.lists(rules(), max_size=4), st.none() | st.lists(PLACES, max_size=2))
def test_any_body_is_normalised_or_refused(body: Any, some: list[NormaliseRule], pick: list[str] | None) -> None:
    # The rules need not fit one another, as those of an accepted contract do.
    normaliser = compile_normaliser(Observe(normalise=tuple(some), pick=None if pick is None else tuple(pick)))
    before = dumps(body)
    if normaliser is None:
        return

    data, outcome = normaliser.apply(body)

    assert dumps(body) == before
    assert (data is ABSENT) == bool(outcome.flaws)


@settings(max_examples=300, deadline=None)
@given(BODIES, st.lists(rules(), max_size=4, unique_by=lambda rule: rule.to))
def test_changes_made_object_by_object_are_those_made_one_by_one(body: Any, some: list[NormaliseRule]) -> None:
    together = compile_normaliser(Observe(normalise=tuple(some)))
    # Whoever picks everything has each place taken out and put in alone.
    one_by_one = compile_normaliser(Observe(normalise=tuple(some), pick=("",)))

    if together is not None and one_by_one is not None:
        data, outcome = together.apply(body)
        expected, refused = one_by_one.apply(body)
        assert outcome == refused
        assert data is expected or equal(data, expected)


@settings(max_examples=150, deadline=None)
@given(BODIES, st.none() | st.lists(PLACES, max_size=3), st.integers(64, 400))
def test_any_data_is_shown_within_its_bound(data: Any, expose: list[str] | None, max_bytes: int) -> None:
    redact = (*PersonalData, RedactField(field="/a/*"), RedactPattern(name="own", pattern="[a-c]+[0-9]"))
    exposer = compile_exposer(Observe(expose=None if expose is None else tuple(expose), redact=redact))
    before = dumps(data)

    shown = exposer.expose(data, max_bytes=max_bytes)

    assert dumps(data) == before
    assert shown.exposed is ABSENT or size_bytes(shown.exposed) <= max_bytes
    assert shown.omitted_count >= len(shown.omitted)
