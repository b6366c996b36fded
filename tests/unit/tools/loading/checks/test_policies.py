"""Policies: each one that makes no sense is found, and each that does is not."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.tools.contracts import document
from tests.unit.tools.loading.checks.findings import findings, found, writing

_KEY = {"in": "header", "name": "Idempotency-Key"}


@pytest.mark.parametrize(
    ("code", "pointer", "changes"),
    [
        ("RETRY", "/spec/retry/maximum_attempts", {"spec__retry": {"attempts": 2, "maximum_attempts": 2}}),
        ("RETRY", "/spec/retry", {"spec__retry": {"backoff": "1s"}}),
        ("RETRY", "/spec/retry/backoff", {"spec__retry": {"attempts": 2, "backoff": "0"}}),
        ("RETRY", "/spec/retry/initial_interval", {"spec__retry": {"attempts": 2, "initial_interval": "0s"}}),
        ("RETRY", "/spec/retry/max_backoff", {"spec__retry": {"attempts": 2, "backoff": "6s"}}),
        ("RETRY_ON", "/spec/retry/on", {"spec__retry": {"attempts": 2, "on": ["timeout", 404]}}),
        ("FORM", "/spec/retry/on/0", {"spec__retry": {"attempts": 2, "on": ["always"]}}),
        ("FORM", "/spec/retry/on/0", {"spec__retry": {"attempts": 2, "on": [200]}}),
        ("FORM", "/spec/retry/attempts", {"spec__retry": {"attempts": 11}}),
        ("FORM", "/spec/retry/budget_ratio", {"spec__retry": {"attempts": 2, "budget_ratio": 2}}),
        ("BREAKER", "/spec/breaker", {"spec__breaker": {"preset": "mesh", "open_for": "1s"}}),
        ("BREAKER", "/spec/breaker", {"spec__breaker": {"consecutive_failures": 1, "slidingWindowSize": 10}}),
        ("BREAKER", "/spec/breaker/open_for", {"spec__breaker": {"consecutive_failures": 1, "open_for": "0"}}),
        (
            "BREAKER",
            "/spec/breaker/minimumNumberOfCalls",
            {"spec__breaker": {"slidingWindowSize": 10, "minimumNumberOfCalls": 11}},
        ),
        ("BREAKER", "/spec/breaker/waitDurationInOpenState", {"spec__breaker": {"waitDurationInOpenState": "0"}}),
        ("BREAKER", "/spec/breaker/slowCallDurationThreshold", {"spec__breaker": {"slowCallDurationThreshold": "0"}}),
        ("FORM", "/spec/breaker/failureRateThreshold", {"spec__breaker": {"failureRateThreshold": 0}}),
        ("FORM", "/spec/breaker/slidingWindowSize", {"spec__breaker": {"slidingWindowSize": 10001}}),
        ("FORM", "/spec/breaker/preset", {"spec__breaker": {"preset": "lenient"}}),
        ("LIMITER", "/spec/limiter", {"spec__limiter": {"in_flight": 1, "queue": 1}}),
        ("LIMITER", "/spec/limiter/max_wait", {"spec__limiter": {"in_flight": 1, "max_wait": "1s"}}),
        ("FORM", "/spec/limiter/in_flight", {"spec__limiter": {"in_flight": 0}}),
        ("POOL", "/spec/pool/idle_timeout", {"spec__pool": {"idle_timeout": "0s"}}),
        ("CACHE", "/spec/cache/last_good", {"spec__cache": {"ttl": "2s", "last_good": "1s"}}),
        ("INVALID_RULE", "/spec/approval/when", {"spec__approval": {"when": {"equals": [1, 1]}}}),
        ("APPROVAL", "/spec/approval/expires_in", {"spec__approval": {"expires_in": "0"}}),
        ("IDEMPOTENCY", "/spec/idempotency", {"spec__idempotency": _KEY}),
    ],
)
def test_a_policy_that_makes_no_sense_is_found(
    tmp_path: Path, code: str, pointer: str, changes: dict[str, Any]
) -> None:
    assert found(tmp_path, document(**changes)) == [(code, pointer)]


@pytest.mark.parametrize(
    ("code", "pointer", "changes"),
    [
        ("RETRY_WRITE", "/spec/retry", {"spec__retry": {"attempts": 2}}),
        ("RETRY_WRITE", "/spec/retry", {"spec__retry": {"attempts": 2, "on": ["connect", "reset"]}}),
        ("RETRY_WRITE", "/spec/retry", {"spec__retry": {"attempts": 2}, "spec__effect": "idempotent_write"}),
        ("RETRY_WRITE", "/spec/empty", {"spec__empty": "retry"}),
        ("CACHE", "/spec/cache", {"spec__cache": {"ttl": "1s"}}),
        ("CACHE", "/spec/cache", {"spec__cache": {"last_good": "1s"}}),
        (
            "IDEMPOTENCY",
            "/spec/idempotency/in",
            {"spec__idempotency": {"in": "body", "name": "key"}, "spec__transport__http__json": ["{order_id}"]},
        ),
        (
            "IDEMPOTENCY",
            "/spec/idempotency/in",
            {
                "spec__idempotency": {"in": "body", "name": "key"},
                "spec__transport": {"http": {"method": "DELETE", "url": "{{base.orders}}/orders/{order_id}"}},
            },
        ),
        (
            "IDEMPOTENCY",
            "/spec/idempotency",
            {"spec__idempotency": _KEY, "spec__transport": {"python": {"entry_point": "shop.orders:change"}}},
        ),
    ],
)
def test_a_policy_that_a_write_must_not_have_is_found(
    tmp_path: Path, code: str, pointer: str, changes: dict[str, Any]
) -> None:
    assert found(tmp_path, writing(**changes)) == [(code, pointer)]


@pytest.mark.parametrize(
    "changes",
    [
        {"spec__retry": {"attempts": 3}, "spec__idempotency": _KEY},
        {"spec__retry": {"attempts": 3, "on": ["connect"]}},
        {"spec__retry": {"attempts": 1}},
        {"spec__cache": {"ttl": "0s"}},
        {"spec__idempotency": {"in": "body", "name": "key", "ttl": "24h"}},
        {"spec__breaker": {"slidingWindowSize": 10}},
        {"spec__breaker": {"slidingWindowType": "TIME_BASED", "slidingWindowSize": 10, "minimumNumberOfCalls": 50}},
        {"spec__limiter": {"in_flight": 5, "queue": 5, "max_wait": "1s"}},
        {"spec__approval": {}},
    ],
)
def test_a_policy_that_a_write_may_have_is_let_through(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert found(tmp_path, writing(**changes)) == []


def test_a_forbidden_repeat_is_named_at_its_line(tmp_path: Path) -> None:
    finding = findings(tmp_path, writing(spec__retry={"attempts": 2}))[0]
    assert "a repeat is forbidden" in finding.cause
    assert (finding.line, finding.column > 1) == (1, True)


@pytest.mark.parametrize(
    ("content", "kind", "codes"),
    [("html", "string", []), ("rich", "string", ["CONTENT"]), ("html", "integer", ["CONTENT"])],
)
def test_the_content_of_a_text_parameter_is_of_a_known_kind(
    tmp_path: Path, content: str, kind: str, codes: list[str]
) -> None:
    order_id = {"type": kind, "description": "Order number", "x-taoloop-content": content}
    assert [code for code, _ in found(tmp_path, document(spec__parameters__properties__order_id=order_id))] == codes


@pytest.mark.parametrize(
    ("changes", "codes"),
    [({}, ["STYLE"]), ({"spec__cache": {"last_good": "1h"}}, []), ({"spec__effect": "write"}, ["METHOD"])],
)
def test_an_outward_read_without_anything_in_its_place_is_a_warning(
    tmp_path: Path, changes: dict[str, Any], codes: list[str]
) -> None:
    assert [code for code, _ in found(tmp_path, document(spec__reach="outward", **changes))] == codes


@pytest.mark.parametrize("name", ["X-Request-ID", "x-request-id", "X-Trace-ID", "TraceParent", "tracestate", "Host"])
def test_a_header_that_the_transport_writes_itself_carries_no_idempotency_key(tmp_path: Path, name: str) -> None:
    contract = writing(spec__idempotency={"in": "header", "name": name})
    assert found(tmp_path, contract) == [("RESERVED_HEADER", "/spec/idempotency/name")]
