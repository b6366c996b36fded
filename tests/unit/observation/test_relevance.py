"""A search that finds nothing relevant enough is a failure that says so, never an empty list."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.core.exact_json import ABSENT, loads
from taoloop.core.faults import FaultCode
from taoloop.plan.observing import Consistency
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import MinScore, NormaliseAs, NormaliseRule, Observe, Take, ToolContract
from taoloop.tools.schemas import CompiledSchema
from tests.unit.observation.contracts import bare, observed


def search(take: Take = Take.ALL, field: str = "/results/*/score", **observe: Any) -> ToolContract:
    return bare(observe=Observe(min_score=MinScore(field=field, min=Decimal("0.6"), take=take), **observe))


def hits(*scores: Any) -> Any:
    return {"total": len(scores), "results": [{"n": n, "score": score} for n, score in enumerate(scores)]}


def data_of(verdict: Any) -> Any:
    return verdict.data


def numbers(verdict: Any) -> list[int]:
    return [hit["n"] for hit in verdict.data["results"]]


@pytest.mark.parametrize(
    ("take", "kept", "note"),
    [
        (Take.ALL, [0, 2, 3], "3 of 4 hits kept, best score 0.81, lowest that counts 0.6"),
        (Take.BEST, [2], "the best alone of 4 hits kept, best score 0.81, lowest that counts 0.6"),
    ],
)
def test_hits_at_or_above_the_score_are_kept_in_order_and_the_confidence_says_how(
    take: Take, kept: list[int], note: str
) -> None:
    body = loads(
        '{"total":4,"results":[{"n":0,"score":0.62},{"n":1,"score":0.59999},{"n":2,"score":0.81},{"n":3,"score":0.60}]}'
    )

    verdict = observed(body, search(take))

    assert verdict.valid
    assert numbers(verdict) == kept
    assert data_of(verdict)["total"] == 4
    assert "min_score_ok" in verdict.audit_trail
    assert verdict.stages[0].detail.endswith(note)


def test_the_first_of_equal_best_hits_is_kept() -> None:
    assert numbers(observed(hits(1, 1, 1), search(Take.BEST))) == [0]


@pytest.mark.parametrize(
    ("body", "actual", "message"),
    [
        (hits(0, 0.5, 0.2), 0.5, "of 3 hits the best has the score 0.5"),
        (hits(), ABSENT, "the search found nothing"),
        (hits("0.9", True, None), ABSENT, "none of 3 hits has a number as its score"),
        ({"results": None}, ABSENT, "the search found nothing"),
        ({}, ABSENT, "the search found nothing"),
        ([], ABSENT, "the search found nothing"),
    ],
)
@pytest.mark.parametrize("take", list(Take))
def test_nothing_relevant_is_a_fault_with_the_best_score(body: Any, actual: Any, message: str, take: Take) -> None:
    verdict = observed(body, search(take))

    assert not verdict.valid
    assert verdict.data is ABSENT
    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.LOW_RELEVANCE
    assert message in verdict.fault.message
    assert (verdict.fault.field, verdict.fault.expected, verdict.fault.actual) == (
        "/results/*/score",
        Decimal("0.6"),
        actual,
    )
    assert verdict.fault.candidates == (() if actual is ABSENT else ("0.5", "0.2", "0"))
    assert verdict.suggested_next == "correct_the_input"
    assert verdict.confidence == 0.0


def test_hits_may_be_the_body_itself_or_members_of_an_object() -> None:
    assert observed([{"s": 1}, {"s": 0}], search(field="/*/s")).data == [{"s": 1}]
    assert observed({"by": {"a": {"s": 1}, "b": {"s": 0}}}, search(field="/by/*/s")).data == {"by": {"a": {"s": 1}}}
    assert observed({"x": [{"by": [1, 0]}]}, search(field="/x/0/by/*")).data == {"x": [{"by": [1]}]}


def test_what_is_left_out_is_not_normalised_and_the_rules_still_see_the_body() -> None:
    contract = search(normalise=(NormaliseRule(field="/results/*/n", to="/results/*/n", enum={"a": "A"}),))

    verdict = observed({"results": [{"n": "a", "score": 1}, {"n": "unknown", "score": 0}]}, contract)

    assert verdict.valid
    assert verdict.data == {"results": [{"n": "A", "score": 1}]}


def test_the_body_is_not_changed() -> None:
    body = hits(1, 0)
    observed(body, search())

    assert body == hits(1, 0)


scores = (
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.text(max_size=3)
)


@given(
    st.lists(st.dictionaries(st.sampled_from(["score", "n"]), scores, max_size=2), max_size=8), st.sampled_from(Take)
)
def test_no_hits_make_it_raise_and_none_below_the_score_is_kept(found: list[Any], take: Take) -> None:
    verdict = observed({"results": found}, search(take))

    kept = data_of(verdict)["results"] if verdict.valid else []
    assert all(hit["score"] >= Decimal("0.6") for hit in kept)
    assert verdict.valid is bool(kept)
    assert take is Take.ALL or len(kept) <= 1


bounds = st.integers(0, 4)
of_hits = st.fixed_dictionaries(
    {},
    optional={
        "minItems": bounds,
        "maxItems": st.integers(2, 6),
        "minProperties": bounds,
        "maxProperties": st.integers(2, 6),
        "required": st.lists(st.sampled_from("abc"), unique=True),
        "uniqueItems": st.booleans(),
        "contains": st.sampled_from([{"required": ["n"]}, {"properties": {"n": {"const": 1}}}, True]),
        "minContains": bounds,
        "maxContains": st.integers(1, 4),
        "prefixItems": st.lists(
            st.just({"required": ["score"]}) | st.just({"properties": {"n": {"const": 0}}}), min_size=1
        ),
        "additionalProperties": st.just({"type": "object"}),
        "dependentRequired": st.just({"a": ["b"]}),
        "unevaluatedItems": st.just(True),
    },
)
some_hits = st.lists(
    st.fixed_dictionaries(
        {}, optional={"score": st.sampled_from([0, Decimal("0.5"), Decimal("0.6"), 1]), "n": st.integers(0, 2)}
    ),
    max_size=5,
)


@given(of_hits, some_hits, st.sampled_from(Take), st.booleans(), st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_the_hits_that_are_kept_keep_the_output_schema_and_are_what_the_step_asks_for(
    of_hits: Any, found: list[Any], take: Take, is_by_name: bool, wanted: int
) -> None:
    hits = dict(zip("abcde", found, strict=False)) if is_by_name else found
    hit = {"type": "object", "properties": {"score": {"type": "number"}, "n": {"type": "integer"}}}
    each = {"properties": dict.fromkeys("abcde", hit)} if is_by_name else {"items": hit}
    response = {"type": "object", "properties": {"results": {"type": ["object", "array"], **each, **of_hits}}}
    contract = replace(search(take), response=response)
    asked = {"properties": {"results": {"minItems": wanted, "minProperties": wanted}}}

    verdict = observed({"results": hits}, contract, request={"output_schema": asked})

    if verdict.data is ABSENT:
        assert verdict.fault is not None
        assert verdict.fault.code in {FaultCode.SCHEMA_VIOLATION, FaultCode.LOW_RELEVANCE}
        return
    derived: Any = Catalogue.of([contract]).output_schema(contract.name)
    output = CompiledSchema.compile(derived)
    assert output.violations(verdict.data) == ()
    is_enough = len(data_of(verdict)["results"]) >= wanted
    assert verdict.valid is is_enough
    assert verdict.consistency is (Consistency.OK if is_enough else Consistency.BROKEN)


def test_a_score_of_thousands_of_digits_is_quoted_in_part() -> None:
    good, bad = (observed({"results": [{"score": score}]}, search()) for score in (10**4000, -(10**4000)))

    assert good.valid
    assert len(good.stages[0].detail) < 200
    assert bad.fault is not None
    assert len(bad.fault.message) < 200
    assert len(bad.fault.candidates[0]) < 50


def test_a_refusal_in_a_kept_hit_names_its_place_in_the_body() -> None:
    observe = Observe(
        min_score=MinScore(field="/hits/*/score", min=Decimal("0.6")),
        normalise=(NormaliseRule(field="/hits/*/day", to="/hits/*/day", convert=NormaliseAs.DATE),),
    )
    body = {"hits": [{"score": Decimal("0.1"), "day": "2026-01-01"}, {"score": Decimal("0.9"), "day": "junk"}]}

    verdict = observed(body, bare(observe=observe))

    assert [failure.pointer for failure in verdict.failures] == ["/hits/1/day"]
