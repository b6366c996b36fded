"""Whatever is judged by whatever contract ends in a verdict that the wire can carry, or in a refusal that says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taoloop.api.v1 import observation_pb2 as pb
from taoloop.core.exact_json import ABSENT, JsonValue, dumps
from taoloop.core.faults import FaultCode
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.observer import Observer
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.tools.contract import NormaliseAs, NormaliseRule, Observe
from taoloop.tools.loading import load_catalogue
from taoloop.tools.schemas import CompiledSchema, SchemaRefused
from taoloop.wire.records.codec import encode
from tests.unit.observation.bad_input import drawing
from tests.unit.observation.contracts import OneCatalogue, bare, observer_of, result_of
from tests.unit.tools.contracts import document, write_catalogue

CODES = frozenset(FaultCode)


def is_sound(verdict: ObservationResult) -> bool:
    """Check what holds of every verdict; it must also cross the wire."""
    encode(verdict, pb.ObservationResult).SerializeToString()
    is_pending = verdict.audit_trail == ("status_pending",)
    hard = [failure for failure in verdict.failures if failure.hard]
    assert verdict.valid is not (bool(hard) or is_pending)
    assert (verdict.fault is None) is (verdict.valid or is_pending)
    assert verdict.fault is None or verdict.fault.code in CODES
    assert 0.0 <= verdict.confidence <= (0.0 if any(each.stage != "consistency" for each in hard) else 1.0)
    assert verdict.exposed is ABSENT or len(dumps(verdict.exposed).encode()) <= 32 * 1024
    assert all(len(str(each.actual)) <= 300 for each in verdict.failures)
    return True


@given(drawing.schemas, drawing.bodies | drawing.deep_bodies)
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_schema_is_refused_or_judges_any_body(schema: Any, body: JsonValue) -> None:
    try:
        compiled = CompiledSchema.compile(schema)
    except SchemaRefused:
        return
    violations = compiled.violations(body)
    assert bool(violations) is not compiled.is_valid(body)


@given(drawing.bodies, drawing.bodies, drawing.bodies, drawing.schemas | drawing.bodies)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_expectation_is_kept_broken_or_not_readable(
    body: JsonValue, arguments: JsonValue, expect: JsonValue, schema: JsonValue
) -> None:
    request = ObserveRequest(
        result=result_of(body, tool="ask_anything"), arguments=arguments, expect=expect, output_schema=schema
    )
    assert is_sound(observer_of(bare()).observe(request))


@given(drawing.envelopes)
@settings(max_examples=200, deadline=None)
def test_any_envelope_however_contradictory_has_a_verdict(result: Any) -> None:
    assert is_sound(observer_of(bare()).observe(ObserveRequest(result=result)))


@given(st.sampled_from(list(NormaliseAs)), drawing.scalars)
@settings(max_examples=250, deadline=None)
def test_any_value_is_converted_to_what_the_derived_schema_says_or_is_refused(to: NormaliseAs, value: Any) -> None:
    options: dict[NormaliseAs, dict[str, Any]] = {
        NormaliseAs.UNIT: {"to_unit": "°C"},
        NormaliseAs.MONEY: {"currency": "CNY"},
        NormaliseAs.CONFIDENCE: {"scale": "percent"},
        NormaliseAs.DURATION: {"unit": "s"},
    }
    rule = NormaliseRule(field="/v", to="/v", convert=to, conversion_options=options.get(to, {}))
    contract = bare(response={"type": "object", "required": ["v"]}, observe=Observe(normalise=(rule,)))
    observer = observer_of(contract)

    verdict = observer.observe(ObserveRequest(result=result_of({"v": value}, tool=contract.name)))

    assert is_sound(verdict)
    assert verdict.valid or verdict.fault is None or verdict.fault.code == FaultCode.NORMALISATION_REFUSED


@given(drawing.specs, st.lists(drawing.bodies | drawing.deep_bodies, min_size=1, max_size=3))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
def test_any_contract_is_refused_with_its_places_or_judges_any_body(
    tmp_path: Path, spec: dict[str, Any], some: list[JsonValue]
) -> None:
    changed = document(**{f"spec__{name}": value for name, value in spec.items()})
    loaded = load_catalogue(write_catalogue(tmp_path, changed))
    if loaded.catalogue is None:
        assert loaded.findings
        assert all(finding.line > 0 and finding.cause for finding in loaded.findings)
        return
    observer = Observer(OneCatalogue(loaded.catalogue), ObservationPolicy())
    for body in some:
        assert is_sound(observer.observe(ObserveRequest(result=result_of(body, tool="get_order"))))


@pytest.mark.parametrize("plane", range(17))
def test_every_plane_of_unicode_comes_back_as_it_was(plane: int) -> None:
    text = "".join(chr(plane * 0x10000 + place) for place in (0x41, 0x1F600 & 0xFFFF, 0xFFFD, 0xFFFE, 0xFFFF))
    body: Any = {text: text, "error": text * 100}
    verdict = observer_of(bare()).observe(ObserveRequest(result=result_of(body, tool="ask_anything")))
    assert is_sound(verdict)
    assert verdict.valid
    assert json.loads(dumps(verdict.data)) == body
