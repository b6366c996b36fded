"""Documents to records: every field of the form arrives, under our names and under those that we accept."""

from decimal import Decimal
from typing import Any

import pytest

from taoloop.tools.contract import (
    ApiKeyAuth,
    Approval,
    BasicAuth,
    BearerAuth,
    Cache,
    ConsecutiveBreaker,
    Empty,
    Fallback,
    GrpcTransport,
    HttpTransport,
    Idempotency,
    Jitter,
    JobState,
    JobTransport,
    KeyLocation,
    KeyPlace,
    Limiter,
    McpCommandServer,
    McpHttpServer,
    McpTransport,
    MutualTls,
    OAuth2ClientCredentials,
    Part,
    PartEncoding,
    Pool,
    PythonTransport,
    Reconcile,
    Redirects,
    Retry,
    SlidingWindowType,
    SqlTransport,
    WindowBreaker,
)
from taoloop.tools.loading.contract_document import UNSERVED, read_contract, unserved_fields
from taoloop.tools.loading.forms import contract_form
from tests.unit.tools.contracts import document

_CREATE: dict[str, Any] = {"method": "POST", "url": "{{base.orders}}/tasks"}
_QUERY: dict[str, Any] = {"method": "GET", "url": "{{base.orders}}/tasks/{job.id}"}


def _read(value: dict[str, Any]) -> Any:
    assert contract_form().violations(value) == ()
    return read_contract(value)


@pytest.mark.parametrize(
    ("field", "written", "record"),
    [
        (
            "idempotency",
            {"in": "body", "name": "key", "ttl": "24h"},
            Idempotency(location=KeyLocation.BODY, name="key", ttl_seconds=86400.0),
        ),
        ("retry", {"attempts": 2}, Retry(attempts=2)),
        (
            "retry",
            {
                "attempts": 3,
                "backoff": "1s",
                "multiplier": 1.5,
                "max_backoff": "8s",
                "jitter": "none",
                "on": ["reset", 503],
                "never": ["NOT_FOUND"],
                "budget_ratio": 0.1,
            },
            Retry(
                attempts=3,
                backoff_seconds=1.0,
                multiplier=1.5,
                max_backoff_seconds=8.0,
                jitter=Jitter.NONE,
                on=frozenset({"reset", "503"}),
                never=frozenset({"NOT_FOUND"}),
                budget_ratio=0.1,
            ),
        ),
        (
            "retry",
            {
                "maximum_attempts": 3,
                "initial_interval": "1s",
                "backoff_coefficient": 1.5,
                "maximum_interval": "8s",
                "non_retryable_error_types": ["NOT_FOUND"],
            },
            Retry(
                attempts=3,
                backoff_seconds=1.0,
                multiplier=1.5,
                max_backoff_seconds=8.0,
                never=frozenset({"NOT_FOUND"}),
            ),
        ),
        ("breaker", {"preset": "mesh"}, ConsecutiveBreaker(failures=5, open_for_seconds=30.0, half_open_calls=1)),
        ("breaker", {"preset": "strict"}, ConsecutiveBreaker(failures=3, open_for_seconds=60.0, half_open_calls=1)),
        (
            "breaker",
            {"consecutive_failures": 2, "open_for": "5s", "half_open_calls": 3},
            ConsecutiveBreaker(failures=2, open_for_seconds=5.0, half_open_calls=3),
        ),
        ("breaker", {"failureRateThreshold": 50}, WindowBreaker()),
        (
            "breaker",
            {"slidingWindowSize": 10},
            WindowBreaker(sliding_window_size=10, minimum_number_of_calls=10),
        ),
        (
            "breaker",
            {
                "failureRateThreshold": 25,
                "slidingWindowType": "TIME_BASED",
                "slidingWindowSize": 30,
                "minimumNumberOfCalls": 40,
                "waitDurationInOpenState": "10s",
                "permittedNumberOfCallsInHalfOpenState": 2,
                "slowCallRateThreshold": 80,
                "slowCallDurationThreshold": "2s",
            },
            WindowBreaker(
                failure_rate_threshold=25.0,
                sliding_window_type=SlidingWindowType.TIME_BASED,
                sliding_window_size=30,
                minimum_number_of_calls=40,
                wait_duration_in_open_state_seconds=10.0,
                permitted_number_of_calls_in_half_open_state=2,
                slow_call_rate_threshold=80.0,
                slow_call_duration_threshold_seconds=2.0,
            ),
        ),
        ("limiter", {"in_flight": 5}, Limiter(in_flight=5)),
        (
            "limiter",
            {"in_flight": 5, "queue": 6, "max_wait": "500ms"},
            Limiter(in_flight=5, queue=6, max_wait_seconds=0.5),
        ),
        ("pool", {"size": 5, "idle_timeout": "3s"}, Pool(size=5, idle_timeout_seconds=3.0)),
        ("cache", {"ttl": "1m", "last_good": "1h"}, Cache(ttl_seconds=60.0, last_good_seconds=3600.0)),
        ("fallback", {"tool": "other"}, Fallback(tool="other")),
        (
            "fallback",
            {"tool": "other", "arguments": {"a": ["{order_id}"]}},
            Fallback(tool="other", arguments={"a": ["{order_id}"]}),
        ),
        ("approval", {}, Approval(when=True, expires_in_seconds=86400.0)),
        ("approval", {"when": {"!": 1}, "expires_in": "1h"}, Approval(when={"!": 1}, expires_in_seconds=3600.0)),
        (
            "reconcile",
            {"tool": "other", "took_place": True, "arguments": {"a": "b"}},
            Reconcile(tool="other", took_place=True, arguments={"a": "b"}),
        ),
        ("empty", "retry", Empty.RETRY),
    ],
)
def test_a_policy_is_read(field: str, written: Any, record: Any) -> None:
    assert getattr(_read(document(**{f"spec__{field}": written})), field) == record


def test_a_policy_that_is_not_written_is_off() -> None:
    contract = _read(document())
    policies = ("idempotency", "retry", "breaker", "limiter", "pool", "cache", "fallback", "approval", "reconcile")
    assert {getattr(contract, name) for name in policies} == {None}


@pytest.mark.parametrize(
    ("written", "record"),
    [
        (
            {
                "job": {
                    "create": _CREATE,
                    "query": _QUERY,
                    "cancel": _QUERY,
                    "id": "/id",
                    "created_status": "/state",
                    "status": "/data/state",
                    "states": {
                        "pending": "p",
                        "running": ["r", Decimal("2.0")],
                        "succeeded": 3,
                        "failed": "f",
                        "cancelled": "c",
                    },
                    "result": "/data/result",
                    "poll_every": "1s",
                    "total": "1m",
                }
            },
            JobTransport(
                create=HttpTransport(**_CREATE),
                query=HttpTransport(**_QUERY),
                cancel=HttpTransport(**_QUERY),
                id="/id",
                created_status="/state",
                status="/data/state",
                states={
                    JobState.PENDING: ("p",),
                    JobState.RUNNING: ("r", 2),
                    JobState.SUCCEEDED: (3,),
                    JobState.FAILED: ("f",),
                    JobState.CANCELLED: ("c",),
                },
                result="/data/result",
                poll_every_seconds=1.0,
                total_seconds=60.0,
            ),
        ),
        (
            {"mcp": {"server": {"url": "{{base.orders}}/mcp", "auth": {"bearer": {"secret": "A"}}}, "tool": "t"}},
            McpTransport(server=McpHttpServer(url="{{base.orders}}/mcp", auth=BearerAuth(secret="A")), tool="t"),
        ),
        (
            {
                "mcp": {
                    "server": {"command": ["a", "b"], "environment": {"KEY": {"secret": "A"}}},
                    "tool": "t",
                    "protocol_version": "2025-06-18",
                }
            },
            McpTransport(
                server=McpCommandServer(command=("a", "b"), environment={"KEY": "A"}),
                tool="t",
                protocol_version="2025-06-18",
            ),
        ),
        ({"python": {"entry_point": "a.b:c"}}, PythonTransport(entry_point="a.b:c")),
        (
            {"grpc": {"base": "orders", "method": "a.B/C", "descriptor_set": "a.pb"}},
            GrpcTransport(base="orders", method="a.B/C", descriptor_set="a.pb"),
        ),
        (
            {
                "sql": {
                    "database": {"secret": "DB"},
                    "statement": "SELECT 1",
                    "max_rows": 5,
                    "max_bytes": 6,
                    "mask": ["phone"],
                    "read_only": False,
                }
            },
            SqlTransport(
                database="DB", statement="SELECT 1", max_rows=5, max_bytes=6, mask=("phone",), read_only=False
            ),
        ),
    ],
)
def test_a_transport_is_read_and_is_no_http_request(written: Any, record: Any) -> None:
    contract = _read(document(spec__transport=written))
    assert contract.transport == record
    assert contract.http is None


@pytest.mark.parametrize(
    ("written", "record"),
    [
        ({"bearer": {"secret": "A"}}, BearerAuth(secret="A")),
        ({"basic": {"user": "u", "secret": "A"}}, BasicAuth(user="u", secret="A")),
        (
            {"api_key": {"in": "query", "name": "k", "secret": "A"}},
            ApiKeyAuth(location=KeyPlace.QUERY, name="k", secret="A"),
        ),
        (
            {"oauth2": {"token_url": "{{base.orders}}/t", "client_id": "c", "secret": "A", "scope": "a b"}},
            OAuth2ClientCredentials(token_url="{{base.orders}}/t", client_id="c", secret="A", scope="a b"),
        ),
        (
            {"mutual_tls": {"certificate": {"secret": "A"}, "key": {"secret": "B"}, "ca": {"secret": "C"}}},
            MutualTls(certificate="A", key="B", ca="C"),
        ),
    ],
)
def test_credentials_are_read_as_the_names_of_secrets(written: Any, record: Any) -> None:
    http = _read(document(spec__transport__http__auth=written)).http
    assert http is not None
    assert http.auth == record


@pytest.mark.parametrize(
    ("written", "record"),
    [
        ({"form": {"a": "{order_id}"}}, {"form": {"a": "{order_id}"}}),
        ({"text": "hello"}, {"text": "hello"}),
        ({"redirects": "same_origin"}, {"redirects": Redirects.SAME_ORIGIN}),
        (
            {
                "multipart": {
                    "a": "b",
                    "c": {"content": "d", "file_name": "e", "content_type": "f/g", "encoding": "base64"},
                }
            },
            {
                "multipart": {
                    "a": Part(content="b"),
                    "c": Part(content="d", file_name="e", content_type="f/g", encoding=PartEncoding.BASE64),
                }
            },
        ),
    ],
)
def test_a_request_is_read(written: Any, record: Any) -> None:
    assert _read(document(spec__transport={"http": {**_CREATE, **written}})).http == HttpTransport(**_CREATE, **record)


def test_a_field_that_is_not_served_is_found_at_any_depth() -> None:
    nested = {"type": "object", "properties": {"html": {"type": "string", "x-taoloop-content": "html"}}}
    value = document(spec__parameters__properties__letter=nested)
    keyword = [each for each in UNSERVED if "**" in each.pointer]
    pointers = [each.pointer for each in unserved_fields(value)]
    assert pointers == ["/spec/parameters/properties/letter/properties/html/x-taoloop-content"] * len(keyword)


def test_the_digest_does_not_depend_on_the_order_of_keys() -> None:
    policies: dict[str, Any] = {"spec__retry": {"attempts": 2, "backoff": "1s"}, "spec__cache": {"ttl": "1s"}}
    turned: dict[str, Any] = {name: dict(reversed(value.items())) for name, value in reversed(policies.items())}
    assert _read(document(**policies)).digest == _read(document(**turned)).digest
    assert _read(document(**policies)).digest != _read(document()).digest
