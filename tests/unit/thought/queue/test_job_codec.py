"""Jobs and replies as stream entries: whole ones come back, garbage is told as such."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.plan.task import Role, Turn
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.model import ThinkFailure, ThinkJob, ThinkReply
from taoloop.thought.queue.job_codec import JobCodec, QueuedJob, UnreadableEntry
from taoloop.thought.servicer import record_codec

CODEC = JobCodec(record_codec())
JOB = ThinkJob(
    job_id="t:r:1",
    tenant="t",
    request=ThinkRequest(run_id="r", iteration=1, turns=(Turn(role=Role.USER, text="订单 12345678901234567"),)),
    trace={"traceparent": "00-" + "1" * 32 + "-" + "2" * 16 + "-01"},
)


def as_fields(job: ThinkJob) -> dict[bytes, bytes]:
    flat = [part if isinstance(part, bytes) else part.encode() for part in CODEC.entry(job)]
    return {b"expires_ms": b"1773129600500", **dict(zip(flat[::2], flat[1::2], strict=True))}


def test_a_job_comes_back_whole() -> None:
    assert CODEC.job(as_fields(JOB)) == QueuedJob(JOB, 1773129600.5)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({b"v": b"2"}, "version"),
        ({b"expires_ms": b"soon"}, "cannot be read"),
        ({b"expires_ms": b"9" * 5000}, "cannot be read"),
        ({b"request": b"\xff\xff\xff"}, "cannot be read"),
        ({b"job": b"\xff"}, "cannot be read"),
    ],
)
def test_an_entry_at_fault_says_what_is_wrong(change: dict[bytes, bytes], told: str) -> None:
    with pytest.raises(UnreadableEntry, match=told):
        CODEC.job({**as_fields(JOB), **change})


@pytest.mark.parametrize("name", [b"v", b"job", b"tenant", b"request", b"expires_ms"])
def test_an_entry_without_a_field_names_it(name: bytes) -> None:
    fields = as_fields(JOB)
    del fields[name]

    with pytest.raises(UnreadableEntry):
        CODEC.job(fields)


@given(st.dictionaries(st.sampled_from([b"v", b"job", b"tenant", b"request", b"expires_ms"]), st.binary(max_size=64)))
def test_garbage_is_unreadable_and_nothing_else(fields: dict[bytes, bytes]) -> None:
    try:
        CODEC.job({**as_fields(JOB), **fields})
    except UnreadableEntry:
        return


@given(st.binary(max_size=64))
def test_a_garbled_reply_is_unreadable_and_nothing_else(data: bytes) -> None:
    try:
        CODEC.read_reply(data)
    except UnreadableEntry:
        return


def test_a_failure_comes_back_whole() -> None:
    reply = ThinkReply(ThinkFailure(reason="X", message="出错", metadata={"a": "b"}, retry_after_seconds=0.5))

    assert CODEC.read_reply(CODEC.reply(reply)) == reply
