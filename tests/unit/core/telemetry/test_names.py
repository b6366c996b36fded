"""Rules of the registry of names."""

import re

import pytest

from taoloop.core.telemetry import names
from taoloop.core.telemetry.names import (
    METRICS,
    OPERATION_SECONDS,
    Attribute,
    MetricKind,
    MetricSpec,
    http_span,
    observe_span,
    plan_span,
    tool_span,
)

FORBIDDEN_LABELS = {"id", "run_id", "thought_id", "step_id", "session_id", "tenant", "url", "request_id"}


@pytest.mark.parametrize("spec", METRICS, ids=lambda spec: spec.name)
def test_every_metric_has_a_name_with_unit_and_a_sentence(spec: MetricSpec) -> None:
    assert re.fullmatch(r"taoloop_[a-z][a-z0-9_]*", spec.name)
    assert spec.name.endswith("_total") is (spec.kind is MetricKind.COUNTER)
    assert spec.help.endswith(".")
    assert spec.unit
    assert bool(spec.buckets) is (spec.kind is MetricKind.HISTOGRAM)
    assert list(spec.buckets) == sorted(set(spec.buckets))
    assert FORBIDDEN_LABELS.isdisjoint(spec.labels)


def test_every_metric_is_listed_once() -> None:
    assert len({spec.name for spec in METRICS}) == len(METRICS)
    assert names.RUNS in METRICS
    assert names.REDIS_RECONNECTS in METRICS


def test_span_names_follow_the_conventions() -> None:
    assert names.RUN_SPAN == "invoke_agent taoloop"
    assert plan_span("graph") == "plan graph"
    assert tool_span("get_order") == "execute_tool get_order"
    assert observe_span("get_order") == "observe get_order"


@pytest.mark.parametrize(
    ("method", "template", "expected"),
    [
        pytest.param("GET", "/users/{id}/orders", "GET /users/{id}/orders", id="C075-1"),
        ("post", "/orders", "POST /orders"),
        ("BREW", "/pot", "HTTP /pot"),
        ("GET", "", "GET"),
    ],
)
def test_the_span_of_a_request_is_named_by_method_and_template(method: str, template: str, expected: str) -> None:
    assert http_span(method, template) == expected


def test_attributes_use_the_present_conventions_or_our_own_prefix() -> None:
    allowed = (
        "gen_ai.",
        "http.",
        "rpc.",
        "messaging.",
        "server.",
        "url.",
        "error.",
        "code.",
        "db.",
        "mcp.",
        "taoloop.",
    )
    for attribute in Attribute:
        assert attribute.startswith(allowed)
    assert {"gen_ai.system", "http.method", "rpc.system"}.isdisjoint(set(Attribute))


def test_operation_buckets_double_from_ten_milliseconds() -> None:
    assert OPERATION_SECONDS[:3] == (0.01, 0.02, 0.04)
    assert OPERATION_SECONDS[-1] == 81.92
