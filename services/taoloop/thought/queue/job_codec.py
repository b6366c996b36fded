"""How jobs and replies become the fields of a stream entry and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Final

from taoloop.core.exact_json import JsonSyntaxError, dumps, loads
from taoloop.plan.thinking import ThinkRequest, ThinkResponse
from taoloop.thought.model import ThinkFailure, ThinkJob, ThinkReply

ENTRY_VERSION: Final = b"1"
_TRACE_FIELDS: Final = ("traceparent", "tracestate")
_OK: Final = b"+"
_FAILED: Final = b"-"


class UnreadableEntry(ValueError):
    """An entry of another version, or bytes that are no entry."""


@dataclass(frozen=True, slots=True)
class RecordCodec:
    """Requests and responses as bytes; the composition root brings the wire's own.

    What cannot be read is a ValueError.
    """

    encode_request: Callable[[ThinkRequest], bytes]
    decode_request: Callable[[bytes], ThinkRequest]
    encode_response: Callable[[ThinkResponse], bytes]
    decode_response: Callable[[bytes], ThinkResponse]


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A job as its entry holds it.

    Attributes:
        job: The job.
        expires_seconds: When nobody waits any more, in seconds of the server's clock.
    """

    job: ThinkJob
    expires_seconds: float


class JobCodec:
    """Fields: `v`, `job`, `tenant`, `request`, the trace context where there is one, and `expires_ms`.

    The last is written by the script that puts the entry there, since only the server's clock counts.
    """

    def __init__(self, records: RecordCodec) -> None:
        self._records = records

    def entry(self, job: ThinkJob) -> list[bytes | str]:
        """Return the entry's fields without its expiry, names and values in turn."""
        fields: list[bytes | str] = ["v", ENTRY_VERSION, "job", job.job_id, "tenant", job.tenant]
        fields += ["request", self._records.encode_request(job.request)]
        for name in _TRACE_FIELDS:
            if name in job.trace:
                fields += [name, job.trace[name]]
        return fields

    def job(self, fields: Mapping[bytes, bytes]) -> QueuedJob:
        """Return the job of an entry and when it expires.

        Raises:
            UnreadableEntry: With what is wrong.
        """
        if fields.get(b"v") != ENTRY_VERSION:
            raise UnreadableEntry(
                f"entry of version {fields.get(b'v', b'(none)')[:20]!r}; this worker reads {ENTRY_VERSION!r}"
            )
        try:
            expires_seconds = int(fields[b"expires_ms"]) / 1000
            job = ThinkJob(
                job_id=fields[b"job"].decode(),
                tenant=fields[b"tenant"].decode(),
                request=self._records.decode_request(fields[b"request"]),
                trace={name: fields[name.encode()].decode() for name in _TRACE_FIELDS if name.encode() in fields},
            )
        except KeyError as error:
            raise UnreadableEntry(f"field {error.args[0]!r} is missing") from error
        except (ValueError, OverflowError, RecursionError) as error:
            raise UnreadableEntry(f"a field cannot be read: {error}"[:200]) from error
        return QueuedJob(job, expires_seconds)

    def reply(self, reply: ThinkReply) -> bytes:
        """Return a reply as bytes."""
        match reply.outcome:
            case ThinkFailure() as failure:
                return _FAILED + dumps({**asdict(failure), "metadata": dict(failure.metadata)}).encode()
            case response:
                return _OK + self._records.encode_response(response)

    def read_reply(self, data: bytes) -> ThinkReply:
        """Return the reply that `reply` made bytes of.

        Raises:
            UnreadableEntry: The bytes are no reply.
        """
        mark, body = data[:1], data[1:]
        try:
            if mark == _OK:
                return ThinkReply(self._records.decode_response(body))
            value = loads(body) if mark == _FAILED else None
        except (JsonSyntaxError, ValueError) as error:
            raise UnreadableEntry(f"a reply cannot be read: {error}"[:200]) from error
        if not isinstance(value, dict):
            raise UnreadableEntry("a reply has neither mark")
        return ThinkReply(_failure(value))


def _failure(value: Mapping[str, object]) -> ThinkFailure:
    metadata, seconds = value.get("metadata"), value.get("retry_after_seconds")
    return ThinkFailure(
        reason=str(value.get("reason", "INTERNAL")),
        message=str(value.get("message", "")),
        metadata={str(key): str(item) for key, item in metadata.items()} if isinstance(metadata, dict) else {},
        retry_after_seconds=float(str(seconds)) if seconds is not None else None,
    )
