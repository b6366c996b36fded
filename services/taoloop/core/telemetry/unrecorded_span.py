"""The span of a trace that nobody keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Self

from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

_SPAN_ID_BITS: Final = 64
_SPAN_ID: Final = (1 << _SPAN_ID_BITS) - 1


class UnrecordedSpan(NonRecordingSpan):
    """Stands for every span of a trace that is not recorded; its ids are written out once for all who send them on.

    It is its own block where it is the current span already.

    Args:
        context: Of the span that it goes on from.
        ids: Of trace and span, one behind the other, where a trace begins.
        traceparent: Of the span that it goes on from, as a caller sent it.
    """

    __slots__ = ("_headers", "_ids", "_made", "_trace_id")

    def __init__(self, context: SpanContext | None = None, *, ids: int = 0, traceparent: str = "") -> None:
        self._made = context
        self._ids = ids
        self._trace_id = ""
        self._headers = {"traceparent": traceparent} if traceparent else None

    @property
    def headers(self) -> Mapping[str, str]:
        """What `headers_of` returns; written out when it is first asked for."""
        headers = self._headers
        if headers is None:
            headers = self._headers = self._written_out()
        return headers

    @property
    def trace_id(self) -> str:
        """What `trace_id_of` returns; written out when it is first asked for."""
        trace_id = self._trace_id
        if not trace_id:
            ids = self._ids
            trace_id = self._trace_id = f"{ids >> _SPAN_ID_BITS:032x}" if ids else self.headers["traceparent"][3:35]
        return trace_id

    def get_span_context(self) -> SpanContext:
        """Return the ids of the trace and of the span from which others go on."""
        if self._made is None:
            _, trace_id, span_id, flags = (int(part, 16) for part in self.headers["traceparent"].split("-"))
            self._made = SpanContext(trace_id, span_id, is_remote=not self._ids, trace_flags=TraceFlags(flags))
        return self._made

    def _written_out(self) -> dict[str, str]:
        made = self._made
        if made is None or self._ids:
            return {"traceparent": f"00-{self.trace_id}-{self._ids & _SPAN_ID:016x}-00"}
        headers = {"traceparent": f"00-{made.trace_id:032x}-{made.span_id:016x}-{made.trace_flags:02x}"}
        if made.trace_state:
            headers["tracestate"] = made.trace_state.to_header()
        return headers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return
