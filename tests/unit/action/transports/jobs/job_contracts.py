"""Contracts of jobs and answers about them, for the tests of this folder."""

from __future__ import annotations

from dataclasses import replace

from taoloop.core.exact_json import JsonValue
from taoloop.tools.contract import HttpTransport, JobState, JobTransport
from taoloop.tools.signature import Effect
from tests.unit.action.contracts import LOOK_UP

FORM = JobTransport(
    create=HttpTransport(method="POST", url="{{base.things}}/tasks"),
    query=HttpTransport(method="GET", url="{{base.things}}/tasks/{job.id}"),
    cancel=HttpTransport(method="DELETE", url="{{base.things}}/tasks/{job.id}"),
    id="/data/task/id",
    created_status="/data/task/status",
    queried_id="/data/id",
    status="/data/status",
    states={
        JobState.PENDING: ("pending", 0),
        JobState.RUNNING: ("running", "processing", 1),
        JobState.SUCCEEDED: ("succeeded",),
        JobState.FAILED: ("failed",),
        JobState.CANCELLED: ("cancelled",),
    },
    result="/data/result",
    poll_every_seconds=2.0,
    total_seconds=20.0,
)
READ_JOB = replace(LOOK_UP, name="count_all", transport=FORM, document={"name": "count_all"})
WRITE_JOB = replace(LOOK_UP, name="build_all", effect=Effect.WRITE, transport=FORM, document={"name": "build_all"})


def created(job_id: JsonValue = "j-1", status: JsonValue = "pending") -> JsonValue:
    """Return the answer to a creation."""
    return {"data": {"task": {"id": job_id, "status": status}}}


def queried(status: JsonValue = "running", job_id: JsonValue = "j-1", **more: JsonValue) -> JsonValue:
    """Return the answer to a query."""
    return {"data": {"id": job_id, "status": status, **more}}
