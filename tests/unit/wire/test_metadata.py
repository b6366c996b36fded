"""Metadata crosses unchanged or is refused before anything is sent."""

import pytest
from opentelemetry import baggage
from opentelemetry.trace import get_current_span

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import InvalidMetadata
from taoloop.testing.clock import FakeClock
from taoloop.wire.metadata import IncomingMetadata, checked, outgoing, trace_context

_TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
_PARENT = f"00-{_TRACE_ID}-00f067aa0ba902b7-01"


def _call(tenant: str = "default", request_id: str = "") -> CallContext:
    return CallContext(deadline=Deadline.after(1.0, FakeClock()), tenant=tenant, request_id=request_id)


@pytest.mark.parametrize("value", ["北京", "a\nb", "\x7f", " leading", "trailing ", "é"])
def test_value_that_is_not_printable_ascii_is_refused(value: str) -> None:  # C073-1
    with pytest.raises(InvalidMetadata) as caught:
        checked([("x-note", value)])
    assert caught.value.metadata == {"key": "x-note"}


@pytest.mark.parametrize("key", ["X-Note", "grpc-timeout", "x note", "", "x-bin", "x-注"])
def test_key_that_grpc_reserves_or_refuses_is_refused(key: str) -> None:
    with pytest.raises(InvalidMetadata):
        checked([(key, "a")])


def test_printable_values_pass_unchanged() -> None:
    entries = (("x-note", "a b~!"), ("x-empty", ""))
    assert checked(entries) == entries


def test_tenant_and_request_id_are_sent_whole() -> None:
    request_id = "r" * 1_000
    assert outgoing(_call("acme", request_id), (("x-a", "1"),)) == (
        ("x-a", "1"),
        ("x-taoloop-tenant", "acme"),
        ("x-request-id", request_id),
    )


def test_defaults_are_not_sent() -> None:
    assert outgoing(_call(), ()) == ()


@pytest.mark.parametrize("call", [_call(tenant="租户"), _call(request_id="请求")])
def test_call_with_other_than_ascii_is_refused(call: CallContext) -> None:
    with pytest.raises(InvalidMetadata):
        outgoing(call, ())


def test_tenant_is_believed_only_where_the_setting_says_so() -> None:
    entries = IncomingMetadata([("x-taoloop-tenant", "acme")])
    assert entries.tenant(is_trusted=True) == "acme"
    assert entries.tenant(is_trusted=False) == "default"


def test_entry_given_twice_is_refused() -> None:
    entries = IncomingMetadata([("x-request-id", "a"), ("x-request-id", "b")])
    with pytest.raises(InvalidMetadata, match="more than once"):
        entries.request_id()


def test_trace_and_baggage_cross() -> None:
    incoming = IncomingMetadata([("traceparent", _PARENT), ("tracestate", "a=1"), ("baggage", "shop=7")])
    context = trace_context(incoming.trace())
    span_context = get_current_span(context).get_span_context()
    assert f"{span_context.trace_id:032x}" == _TRACE_ID
    assert baggage.get_baggage("shop", context) == "7"
    assert set(outgoing(_call(), (), context)) == {
        ("traceparent", _PARENT),
        ("tracestate", "a=1"),
        ("baggage", "shop=7"),
    }


@pytest.mark.parametrize("entries", [[], [("traceparent", "zz")], [("traceparent", _PARENT), ("traceparent", _PARENT)]])
def test_missing_malformed_or_doubled_trace_is_no_trace(entries: list[tuple[str, str | bytes]]) -> None:
    context = trace_context(IncomingMetadata(entries).trace())
    assert not get_current_span(context).get_span_context().is_valid


def test_binary_entries_are_left_alone() -> None:
    assert IncomingMetadata([("x-request-id", b"\x00")]).request_id() == ""
