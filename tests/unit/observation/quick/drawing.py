"""Contracts and bodies that mostly fit, so that most results pass, some by one check less, for properties."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from hypothesis import strategies as st

from taoloop.core.exact_json import ABSENT
from taoloop.plan.acting import ActionResult, ActionStatus, Body, ServedBy
from taoloop.plan.observing import ObserveRequest
from taoloop.tools.contract import (
    NormaliseAs,
    NormaliseRule,
    Observe,
    ObserveRule,
    PersonalData,
    Projection,
    RedactField,
    RuleSeverity,
    ToolContract,
)
from taoloop.tools.signature import Trust
from tests.unit.observation.contracts import bare

RESPONSE: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["state"],
    "properties": {
        "state": {"type": "string"},
        "fee": {"type": ["number", "string", "null"]},
        "share": {},
        "eta": {"type": "string"},
        "paid": {"type": "boolean"},
        "message": {"type": "string"},
        "inner": {"type": "object", "properties": {"level": {"type": "integer"}, "phone": {"type": "string"}}},
        "lines": {"type": "array"},
    },
}

bodies: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"state": st.sampled_from(["new", "sent", "SENT", "lost"])},
    optional={
        "fee": st.sampled_from([3, 12, "12.50", "1,250.00", "1.250", Decimal("0.10"), Decimal("1E+20"), None, 10**30]),
        "share": st.sampled_from(["12.5%", "1 %", "0.5", "x", 4]),
        "eta": st.sampled_from(["2026-03-14T18:00:00+08:00", "2026-03-14", "tomorrow", "13912345678"]),
        "paid": st.booleans(),
        "message": st.sampled_from(["ok", "", "connection timed out", "连接超时"]),
        "inner": st.fixed_dictionaries(
            {}, optional={"level": st.integers(-1, 3), "phone": st.sampled_from(["13912345678", "a"])}
        ),
        "lines": st.lists(st.integers(0, 2) | st.none(), max_size=3),
        "password": st.just("token=abc"),
        "unseen": st.just("x" * 150),
    },
)

normalise: st.SearchStrategy[tuple[NormaliseRule, ...]] = st.sampled_from(
    [
        (),
        (
            NormaliseRule(field="/state", to="/order_state", vocabulary={"moving": ("sent", "new"), "gone": ("lost",)}),
            NormaliseRule(field="/fee", to="/fee", convert=NormaliseAs.MONEY, conversion_options={"currency": "CNY"}),
            NormaliseRule(field="/share", to="/percent", convert=NormaliseAs.PERCENTAGE),
            NormaliseRule(field="/eta", to="/eta", convert=NormaliseAs.DATETIME),
        ),
        (NormaliseRule(field="/inner/level", to="/level"),),
        (NormaliseRule(field="/lines/*", to="/lines/*", convert=NormaliseAs.TEXT),),
    ]
)


def _read(name: str) -> dict[str, Any]:
    return {"var": name}


RULES: Final[tuple[Any, ...]] = (
    {"!!": [_read("data.state")]},
    {"==": [_read("body.paid"), True]},
    {"!=": [_read("body.paid"), False]},
    {"in": [_read("body.state"), ["new", "sent", "SENT"]]},
    {"<": [_read("data.fee"), 100]},
    {"<=": [0, _read("body.inner.level"), 9]},
    {"or": [{"!==": [_read("body.state"), "lost"]}, {">=": [_read("data.fee"), 5]}]},
    {"===": [_read("body.state"), _read("arguments.state")]},
    {"!": [{"==": [_read("body.message"), "連"]}]},
    {">": [{"+": [_read("data.fee"), 1]}, 1]},
    {"all": [_read("body.lines"), {">=": [_read(""), 0]}]},
    {"<": [_read("response_time_seconds"), 30]},
    {"==": [_read("status_code"), 200]},
    {"==": [_read("expect"), None]},
)

rules: st.SearchStrategy[tuple[ObserveRule, ...]] = st.lists(
    st.builds(
        ObserveRule, id=st.sampled_from("rs"), severity=st.sampled_from(RuleSeverity), when=st.sampled_from(RULES)
    ),
    max_size=3,
).map(tuple)

contracts: st.SearchStrategy[ToolContract] = st.builds(
    lambda success, observe, trust: replace(
        bare(response=RESPONSE), success=success, observe=observe, trust=trust, document={}
    ),
    st.none() | st.sampled_from(RULES),
    st.builds(
        Observe,
        normalise=normalise,
        rules=rules,
        known=st.sampled_from([{}, {"/state": ("new", "sent")}, {"/lines/*": (0, 1)}]),
        expose=st.sampled_from([None, (), ("/state", "/fee", "/eta", "/order_state", "/password"), ("/inner/level",)]),
        redact=st.sampled_from([(), (PersonalData.PHONE,), (PersonalData.SECRETS,), (RedactField(field="/eta"),)]),
        max_latency_seconds=st.sampled_from([None, 1.0]),
        projections=st.just({"short": Projection(expose=("/state", "/inner"), when="The state alone is asked for.")}),
    ),
    st.sampled_from(Trust),
)

results: st.SearchStrategy[ActionResult] = st.builds(
    ActionResult,
    step_id=st.just("1.t1"),
    tool=st.just("ask_anything"),
    status=st.just(ActionStatus.SUCCEEDED),
    status_code=st.sampled_from([200, 200, 200, 204, 0, 202, 404]),
    parsed=bodies | st.none() | st.lists(bodies, max_size=2),
    body=st.none() | st.builds(Body, size_bytes=st.sampled_from([500, 100_000, 2**40]), truncated=st.booleans()),
    response_time_seconds=st.sampled_from([None, 0.5, 0.5, 1.2, 90.0]),
    served_by=st.none() | st.sampled_from(ServedBy),
    trust=st.sampled_from(Trust),
)

requests: st.SearchStrategy[ObserveRequest] = st.builds(
    ObserveRequest,
    result=results,
    arguments=st.sampled_from([{"state": "new"}, {}, None, []]),
    expect=st.sampled_from([None, None, {}, {"/state": ["new", "sent"]}, {"/lines/0": [0]}, []]),
    projection=st.sampled_from(["", "", "short"]),
    state_snapshot=st.sampled_from([ABSENT, ABSENT, {"state": "new"}, {}, {"state": "old"}, ["new"]]),
)

step_schemas: st.SearchStrategy[list[Any]] = st.sampled_from(
    [[], [], [{"type": "object"}], [{"required": ["state"]}], [{"type": "object"}, {"required": ["nowhere"]}]]
)
