"""What the observer makes of bodies at its bounds, of other catalogues, and of results that are none."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.errors import CatalogueInvalid, InvalidRequest
from taoloop.core.exact_json import ABSENT, dumps, equal, loads
from taoloop.core.faults import Fault, FaultCode
from taoloop.observation.judging import ObservationPolicy
from taoloop.plan.acting import ActionResult, ActionStatus, Body, ServedBy
from taoloop.plan.observing import ObserveRequest
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import Observe, ObserveRule, RuleSeverity
from taoloop.tools.signature import Trust
from tests.unit.observation.contracts import GOOD, PARCEL, OneCatalogue, bare, observed, observer_of, result_of


def test_body_that_is_no_json_is_not_quoted() -> None:
    page = b"<!DOCTYPE html><form><input name='csrf' value='tok-8842'></form>"

    verdict = observed(ABSENT, bare(), raw=page, body=Body(content_type="text/html", size_bytes=len(page)))

    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.RESPONSE_MALFORMED
    assert "tok-8842" not in repr(verdict)


SIGN_IN_PAGE = b'<!DOCTYPE html><form><input name="csrf" value="tok-8842"></form>'
CODE_IS_ZERO = {"==": [{"var": "body.code"}, 0]}


@pytest.mark.parametrize(
    ("status_code", "body", "success", "code"),
    [
        pytest.param(200, '{"error":null,"data":{"id":7}}', None, None, id="C021-1"),
        pytest.param(
            200, '{"code":40301,"msg":"quota exceeded","data":null}', CODE_IS_ZERO, "SUCCESS_RULE_FAILED", id="C021-2"
        ),
        pytest.param(200, '{"code":0,"msg":"ok","data":[1]}', CODE_IS_ZERO, None, id="C021-3"),
        pytest.param(500, '{"result":{"id":1}}', None, "STATUS_FAILED", id="C021-4"),
        pytest.param(201, '{"id":9}', None, None, id="C021-5"),
        pytest.param(200, SIGN_IN_PAGE, None, "RESPONSE_MALFORMED", id="C022-1"),
        pytest.param(200, '{"ok":true}', None, None, id="C022-4"),
    ],
)
def test_reply_of_a_public_case_is_judged_so(status_code: int, body: Any, success: Any, code: str | None) -> None:
    contract = bare() if success is None else bare(success=success)
    parsed, raw = (ABSENT, body) if isinstance(body, bytes) else (loads(body), None)

    verdict = observed(parsed, contract, status_code=status_code, raw=raw)

    assert (verdict.fault.code if verdict.fault else None) == code
    assert verdict.valid is (code is None)


def test_body_above_the_limit_is_not_judged() -> None:
    observer = observer_of(bare(), policy=ObservationPolicy(max_body_bytes=10))
    result = result_of({"a": 1}, tool="ask_anything", body=Body(size_bytes=11))

    verdict = observer.observe(ObserveRequest(result=result))

    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.RESPONSE_TOO_LARGE


def test_unknown_tool_is_a_verdict_with_candidates() -> None:
    verdict = observer_of(PARCEL).observe(ObserveRequest(result=result_of({}, tool="track_parcels")))

    assert not verdict.valid
    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.UNKNOWN_TOOL
    assert verdict.fault.candidates == ("track_parcel",)


def test_result_of_a_stand_in_is_judged_by_its_own_contract_and_by_what_the_planned_tool_promises() -> None:
    promised = {"type": "object", "required": ["n"]}
    planned = bare(name="planned", response=promised, document={"n": 1})
    stand_in = bare(name="stand_in", response={"type": "object", "required": ["m"]}, document={"n": 2})
    observer = observer_of(planned, stand_in)

    def judged(body: Any) -> Any:
        fields = {"served_by": ServedBy.FALLBACK, "served_by_tool": "stand_in"}
        return observer.observe(ObserveRequest(result=result_of(body, tool="planned", **fields)))

    assert judged({"m": 1, "n": 1}).valid
    assert judged({"n": 1}).failures[0].stage == "schema"
    assert judged({"m": 1}).failures[0].stage == "consistency"


def test_request_without_a_result_is_refused() -> None:
    with pytest.raises(InvalidRequest) as caught:
        observer_of(PARCEL).observe(ObserveRequest())
    assert caught.value.violations[0].field == "result"


def test_run_pinned_to_another_catalogue_is_refused() -> None:
    observer = observer_of(PARCEL)
    served = Catalogue.of([PARCEL]).digest

    assert observer.observe(ObserveRequest(result=result_of(GOOD), catalogue_digest=served)).valid
    with pytest.raises(CatalogueInvalid) as caught:
        observer.observe(ObserveRequest(result=result_of(GOOD), catalogue_digest="f" * 64))
    assert caught.value.reason == "CATALOGUE_MISMATCH"


def test_replaced_contract_is_compiled_again_and_the_others_are_kept() -> None:
    other = bare()
    source = OneCatalogue(Catalogue.of([PARCEL, other]))
    observer = observer_of()
    observer._catalogues = source
    observer.observe(ObserveRequest(result=result_of(GOOD)))
    kept = observer.observe(ObserveRequest(result=result_of({}, tool="ask_anything")))
    strict = replace(PARCEL, response={"type": "object", "required": ["colour"]}, document={"v": 2})
    compiled_before = observer._judges.of(observer._catalogues.current(), "ask_anything")
    observer._catalogues = OneCatalogue(Catalogue.of([strict, other]))

    assert not observer.observe(ObserveRequest(result=result_of(GOOD))).valid
    assert observer._judges.of(observer._catalogues.current(), "ask_anything") is compiled_before
    assert kept.valid


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["state", "eta", "fee", "x", "", "a/b"]), inner, max_size=4)
    ),
    max_leaves=12,
)
results = st.builds(
    ActionResult,
    step_id=st.just("1.t1"),
    tool=st.sampled_from(["track_parcel", "ask_anything", "nobody"]),
    status=st.sampled_from(ActionStatus) | st.just(ActionStatus.SUCCEEDED),
    parsed=json_values | st.just(ABSENT),
    raw=st.none() | st.binary(max_size=20),
    body=st.none() | st.builds(Body, size_bytes=st.integers(0, 2**40), truncated=st.booleans()),
    status_code=st.sampled_from([0, 200, 200, 202, 204, 404, 500, -7]),
    response_time_seconds=st.none() | st.floats(0, 1e6),
    served_by=st.none() | st.sampled_from(ServedBy),
    served_by_tool=st.sampled_from(["", "", "ask_anything", "gone"]),
    trust=st.sampled_from(Trust),
    fault=st.none() | st.just(Fault(code="X", stage="action", message="m")),
)


@given(
    result=results,
    arguments=json_values | st.just(ABSENT),
    expect=json_values | st.just(ABSENT) | st.dictionaries(st.just("/parcel_state"), st.lists(json_values)),
    output_schema=json_values | st.just(ABSENT),
)
def test_any_result_with_any_body_gives_a_verdict(
    result: ActionResult, arguments: Any, expect: Any, output_schema: Any
) -> None:
    observer = observer_of(PARCEL, bare(success={"!!": [{"var": "body"}]}))
    request = ObserveRequest(result=result, arguments=arguments, expect=expect, output_schema=output_schema)

    verdict = observer.observe(request)

    assert 0.0 <= verdict.confidence <= 1.0
    assert not (verdict.valid and verdict.fault)
    assert verdict.valid or verdict.fault or verdict.suggested_next == "wait"
    assert verdict.valid or not verdict.execution_permitted
    if verdict.data is not ABSENT:
        assert equal(loads(dumps(verdict.data)), verdict.data)
    for failure in verdict.failures:
        assert len(failure.actual if isinstance(failure.actual, str) else "") <= 200
    assert observer.observe(request) == verdict


def test_deepest_body_that_is_parsed_is_judged_by_rules_too() -> None:
    rule = ObserveRule(id="any", severity=RuleSeverity.HARD, when={"!!": [{"var": "status_code"}]})
    whole = ObserveRule(id="whole", severity=RuleSeverity.HARD, when={"!": [{"var": {"cat": ["no", "thing"]}}]})
    deepest = loads("[" * 64 + "]" * 64)

    verdict = observed(deepest, bare(success={"!==": [{"var": "body"}, None]}, observe=Observe(rules=(rule, whole))))

    assert verdict.failures == ()
    assert verdict.valid


def test_number_beyond_doubles_does_not_break_a_rule() -> None:
    rule = ObserveRule(id="big", severity=RuleSeverity.SOFT, when={">": [{"var": "data.n"}, 1]})

    assert observed({"n": Decimal("1e400")}, bare(observe=Observe(rules=(rule,)))).valid
