"""What is judged at once has the verdict that the careful way gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.observation.compiled import compile_checks
from taoloop.observation.judging import Judgement, ObservationPolicy, judge
from taoloop.observation.quick.judging import MAX_BYTES, ContractJudge, QuickJudge
from taoloop.plan.acting import ActionResult, Body
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import ToolContract
from taoloop.tools.loading import load_catalogue
from taoloop.tools.schemas import CompiledSchema
from tests.unit.observation.bad_input import drawing as any_drawing
from tests.unit.observation.contracts import GOOD, PARCEL, result_of
from tests.unit.observation.quick import drawing
from tests.unit.tools.contracts import document, write_catalogue

POLICY = ObservationPolicy(max_exposed_bytes=200)


def judge_of(catalogue: Catalogue, name: str) -> ContractJudge:
    return ContractJudge(compile_checks(catalogue.compiled(name), POLICY.weights), POLICY)


def check_verdicts(
    known: ContractJudge, requests: list[ObserveRequest], schemas: Sequence[CompiledSchema] = ()
) -> None:
    """Judge each request twice, since the first sound result of its kind is judged carefully in any case."""
    for request in [*requests, *requests]:
        assert request.result is not None
        careful = judge(
            Judgement(request=request, result=request.result, checks=known.checks, policy=POLICY, schemas=schemas)
        )

        quick = known.judge(request, request.result, schemas)

        # Values by their text too, since 1 equals 1.0 and True.
        assert [repr(getattr(quick, each.name)) for each in fields(quick)] == [
            repr(getattr(careful, each.name)) for each in fields(careful)
        ]


@given(drawing.contracts, st.lists(drawing.requests, min_size=1, max_size=6), drawing.step_schemas)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_result_has_the_same_verdict_at_once_and_carefully(
    contract: ToolContract, requests: list[ObserveRequest], schemas: list[Any]
) -> None:
    compiled = [CompiledSchema.compile(schema) for schema in schemas]
    check_verdicts(judge_of(Catalogue.of([contract]), contract.name), requests, compiled)


@given(any_drawing.specs, st.lists(any_drawing.bodies | any_drawing.deep_bodies, min_size=1, max_size=3))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
def test_any_body_has_the_same_verdict_by_any_contract(
    tmp_path: Path, spec: dict[str, Any], bodies: list[JsonValue]
) -> None:
    changed = document(**{f"spec__{name}": value for name, value in spec.items()})
    catalogue = load_catalogue(write_catalogue(tmp_path, changed)).catalogue
    if catalogue is not None:
        requests = [ObserveRequest(result=result_of(body, tool="get_order")) for body in bodies]
        check_verdicts(judge_of(catalogue, "get_order"), requests)


class Counted:
    """The careful way, which counts how often it is taken."""

    def __init__(self, contract: ToolContract) -> None:
        self.checks = compile_checks(Catalogue.of([contract]).compiled(contract.name), POLICY.weights)
        self.times = 0

    def __call__(
        self, request: ObserveRequest, result: ActionResult, schemas: Sequence[CompiledSchema]
    ) -> ObservationResult:
        self.times += 1
        return judge(Judgement(request=request, result=result, checks=self.checks, policy=POLICY, schemas=schemas))


def test_of_sound_results_only_the_first_of_its_kind_is_judged_carefully() -> None:
    careful = Counted(PARCEL)
    quick = QuickJudge(careful.checks, POLICY, careful)

    for fee in range(5):
        result = result_of({**GOOD, "fee": fee}, body=Body(size_bytes=100))
        found = quick.judge(ObserveRequest(result=result), result, ())
        assert found is not None
        assert found.valid
        assert isinstance(found.data, dict)
        assert found.data["fee"] == fee

    assert careful.times == 1


@pytest.mark.parametrize(
    "result",
    [
        result_of({**GOOD, "state": "unknown"}),
        result_of({**GOOD, "fee": 11}),
        result_of({**GOOD, "eta": "soon"}),
        result_of({}),
        result_of(None),
        result_of(ABSENT, raw=b"<html>"),
        result_of(GOOD, status_code=404),
        result_of(GOOD, body=Body(size_bytes=MAX_BYTES + 1)),
        result_of(GOOD, body=Body(size_bytes=1, truncated=True)),
    ],
)
def test_what_does_not_surely_pass_and_what_is_large_is_left_to_the_careful_way(result: ActionResult) -> None:
    careful = Counted(PARCEL)

    assert QuickJudge(careful.checks, POLICY, careful).judge(ObserveRequest(result=result), result, ()) is None
    assert careful.times == 0


def test_nothing_of_a_result_is_kept_for_those_that_follow() -> None:
    careful = Counted(replace(PARCEL, observe=replace(PARCEL.observe, expose=None)))
    quick = QuickJudge(careful.checks, POLICY, careful)
    result = result_of({**GOOD, "depot": "Musterstadt"})

    quick.judge(ObserveRequest(result=result), result, ())

    assert "Musterstadt" not in repr([words.__globals__ for words in quick._words.values()])
