"""Drift is told beside the verdict and changes nothing of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import JsonValue
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.observer import Observer
from taoloop.plan.acting import ActionStatus, ServedBy
from taoloop.plan.observing import Consistency, Drift, DriftKind, ObservationResult, ObserveRequest
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import NormaliseRule, Observe, PersonalData, RedactField, ToolContract
from taoloop.tools.loading.samples import Sample
from taoloop.tools.seen import learn
from tests.unit.observation.contracts import OneCatalogue, bare, result_of

SAMPLES: list[dict[str, JsonValue]] = [
    {"state": state, "n": n} for n, state in enumerate(("paid", "open", "paid", "open"))
]


def judged(body: object, contract: ToolContract, **fields: object) -> ObservationResult:
    seen = learn(contract, [Sample(arguments={}, status=200, headers={}, body=dict(sample)) for sample in SAMPLES])
    observer = Observer(OneCatalogue(Catalogue.of([contract])), ObservationPolicy(), {contract.name: seen})
    return observer.observe(ObserveRequest(result=result_of(body, tool=contract.name, **fields)))


def test_an_unseen_field_type_and_value_are_told_and_the_result_stays_valid() -> None:
    verdict = judged({"state": "lost", "n": "7", "weight": 2}, bare())

    assert verdict.drift == (
        Drift(kind=DriftKind.NEW_ENUM_VALUE, pointer="/state", value="lost"),
        Drift(kind=DriftKind.NEW_TYPE, pointer="/n", value="string"),
        Drift(kind=DriftKind.NEW_FIELD, pointer="/weight", value="number"),
    )
    assert verdict.valid
    assert (verdict.confidence, verdict.failures) == (1.0, ())
    assert judged({"state": "paid", "n": 9}, bare()).drift == ()


def test_it_is_told_also_where_the_schema_or_a_normaliser_refuses_the_value() -> None:
    by_schema = bare(response={"properties": {"state": {"enum": ["paid", "open"]}}})
    by_normaliser = bare(observe=Observe(normalise=(NormaliseRule(field="/state", to="/s", enum={"paid": "P"}),)))

    for contract in (by_schema, by_normaliser):
        verdict = judged({"state": "lost", "n": 1}, contract)
        assert not verdict.valid
        assert [found.value for found in verdict.drift] == ["lost"]


@pytest.mark.parametrize(
    ("normalise", "pointer", "in_data"),
    [
        ((), "/items/*/kind", False),  # the place of the data is that of the body: told once
        ((NormaliseRule(field="/items", to="/parcels"),), "/parcels/*/kind", True),
    ],
)
def test_a_value_that_the_contract_does_not_know_breaks_the_consistency_and_is_told_once(
    normalise: tuple[NormaliseRule, ...], pointer: str, in_data: bool
) -> None:
    observe = Observe(normalise=normalise, known={pointer: ("parcel",)})
    body = {"state": "paid", "n": 1, "items": [{"kind": "drone"}, {"kind": "parcel"}, {"kind": "drone"}]}

    verdict = judged(body, bare(observe=observe))

    assert verdict.consistency is Consistency.BROKEN
    assert [found.pointer for found in verdict.failures] == [pointer.replace("*", place) for place in "02"]
    drones = [found for found in verdict.drift if found.value == "drone"]
    assert drones == [Drift(kind=DriftKind.NEW_ENUM_VALUE, pointer=pointer, value="drone", in_data=in_data)]


@pytest.mark.parametrize(
    "fields",
    [
        {"served_by": ServedBy.CACHE},
        {"served_by": ServedBy.DUPLICATE},
        {"status": ActionStatus.FAILED},
        {"status_code": 500},
        {"status_code": 202},
    ],
)
def test_earlier_answers_and_failures_tell_nothing_new(fields: dict[str, object]) -> None:
    assert judged({"state": "lost"}, bare(), **fields).drift == ()


def test_values_are_cut_and_without_secrets_and_personal_data() -> None:
    contract = bare(observe=Observe(redact=(PersonalData.PHONE,)))
    secret, phone, long = (
        judged({"state": text, "n": 1}, contract).drift[0].value
        for text in ("Bearer abcdef123456", "call 13800138000", "x y " * 1000)
    )

    assert "abcdef" not in str(secret)
    assert "13800138000" not in str(phone)
    assert 100 < len(str(long)) <= 200


def test_a_value_of_a_field_that_the_contract_redacts_is_not_told() -> None:
    contract = bare(observe=Observe(redact=(RedactField(field="/state"),)))

    assert [found.value for found in judged({"state": "lost", "n": 1}, contract).drift] == ["<REDACTED>"]


bodies = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["state", "n", "error", "*", "", "a/b", "ORD-20260308"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(bodies)
def test_whatever_the_body_is_drift_changes_nothing_of_the_verdict(body: JsonValue) -> None:
    contract = bare(observe=Observe(known={"/*/state": ("paid",), "/n": (1,)}))
    without = Observer(OneCatalogue(Catalogue.of([contract])), ObservationPolicy())

    seen, unseen = judged(body, contract), without.observe(ObserveRequest(result=result_of(body, tool=contract.name)))

    assert replace(seen, drift=()) == replace(unseen, drift=())
    assert len(seen.drift) <= 40
    assert len(set(map(repr, seen.drift))) == len(seen.drift)


def test_what_was_seen_is_of_one_tool() -> None:
    other = replace(bare(), name="other")

    assert judged({"state": "lost"}, other).drift != ()
    observer = Observer(OneCatalogue(Catalogue.of([other])), ObservationPolicy())
    assert observer.observe(ObserveRequest(result=result_of({"state": "lost"}, tool="other"))).drift == ()
