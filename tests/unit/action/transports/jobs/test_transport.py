"""Rules of the requests of a job and of what their answers come to."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.action.ports import JobTicket, Reply, ToolCall, TransportFault
from taoloop.action.transports.http_request import build_request, with_base
from taoloop.action.transports.jobs.transport import JobHttpTransport
from taoloop.core import exact_json
from taoloop.core.faults import FaultCode
from taoloop.testing.clock import FakeClock
from taoloop.testing.transport import Answer, ScriptedTransport, json_reply
from taoloop.tools.contract import HttpTransport, Idempotency, JobState, KeyLocation, ToolContract
from tests.unit.action.contracts import LOOK_UP
from tests.unit.action.transports.jobs.job_contracts import FORM, READ_JOB, WRITE_JOB, created, queried

CLOCK = FakeClock()
TICKET = JobTicket(job_id="j/1", created_at=CLOCK.now())
FORM_OF_ANY_ID = replace(FORM, queried_id=None)


def call(contract: ToolContract = READ_JOB, job: JobTicket | None = None) -> ToolCall:
    return ToolCall(
        contract=contract,
        arguments={"key": "abc"},
        timeout_seconds=1.0,
        thought_id="t",
        idempotency_key="k",
        job=job,
    )


def bench(*answers: Answer) -> tuple[JobHttpTransport, ScriptedTransport]:
    http = ScriptedTransport(answers)
    return JobHttpTransport(http, CLOCK), http


async def fault_of(transport: JobHttpTransport, wanted: ToolCall) -> TransportFault:
    with pytest.raises(TransportFault) as caught:
        await transport.attempt(wanted)
    return caught.value


def sent(made: ToolCall) -> Any:
    assert made.contract.http is not None
    return build_request(with_base(made.contract.http, {"things": "http://x"}), made.arguments)


async def test_a_creation_is_pending_with_a_ticket() -> None:
    transport, http = bench(json_reply(created("j-1", "processing"), 201))
    reply = await transport.attempt(call())
    assert reply.status_code == 202
    assert reply.job == JobTicket(job_id="j-1", created_at=CLOCK.now(), state=JobState.RUNNING)
    request = sent(http.calls[0])
    assert (request.method, request.url, request.body) == ("POST", "http://x/tasks", b'{"key":"abc"}')
    assert http.calls[0].idempotency_key == "k"


async def test_a_query_names_the_job_and_nothing_of_the_creation() -> None:
    transport, http = bench(json_reply({"data": {"status": "running"}}))
    contract = replace(READ_JOB, transport=FORM_OF_ANY_ID)
    reply = await transport.attempt(call(contract, replace(TICKET, misses=3)))
    assert reply.job == replace(TICKET, state=JobState.RUNNING)
    request = sent(http.calls[0])
    assert (request.method, request.url, request.body) == ("GET", "http://x/tasks/j%2F1", None)
    assert http.calls[0].idempotency_key == ""


async def test_a_query_may_name_arguments_of_the_tool() -> None:
    transport, http = bench(json_reply({"data": {"status": "running"}}))
    query = HttpTransport(method="GET", url="{{base.things}}/{key}/{job.id}")
    await transport.attempt(call(replace(READ_JOB, transport=replace(FORM_OF_ANY_ID, query=query)), TICKET))
    assert sent(http.calls[0]).url == "http://x/abc/j%2F1"


async def test_the_result_of_a_job_that_succeeded_is_the_answer_exactly() -> None:
    body = b'{"data":{"id":"j/1","status":"succeeded","result":{"total":0.10}}}'
    transport, _ = bench(Reply(status_code=200, body=body))
    reply = await transport.attempt(call(job=TICKET))
    assert (reply.status_code, reply.job, reply.body) == (200, None, b'{"total":0.10}')


@pytest.mark.parametrize(("word", "code"), [("failed", FaultCode.JOB_FAILED), ("cancelled", FaultCode.JOB_CANCELLED)])
@pytest.mark.parametrize("is_new", [True, False])
async def test_a_job_that_ended_badly_is_a_fault_that_is_never_repeated(
    word: str, code: FaultCode, *, is_new: bool
) -> None:
    transport, _ = bench(json_reply(created("j/1", word) if is_new else queried(word, "j/1")))
    fault = await fault_of(transport, call(job=None if is_new else TICKET))
    assert (fault.code, fault.is_retriable) == (code, False)
    assert fault.received is not None


async def test_a_job_that_is_over_at_its_creation_is_asked_for_its_result() -> None:
    transport, _ = bench(json_reply(created("j-1", "succeeded")))
    reply = await transport.attempt(call())
    assert reply.job is not None
    assert reply.job.state is JobState.SUCCEEDED


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize(
    "body", [b"", b"{", b"<html>", b"null", b"[]", b'{"data":{"task":{"id":"a","status":"what"}}}']
)
async def test_an_answer_of_another_form_is_a_protocol_fault_that_is_never_repeated(
    body: bytes, *, is_new: bool
) -> None:
    transport, _ = bench(Reply(status_code=200, body=body))
    fault = await fault_of(transport, call(job=None if is_new else TICKET))
    assert (fault.code, fault.is_retriable, fault.may_have_left) == (FaultCode.JOB_PROTOCOL_FAULT, False, True)


async def test_a_success_without_its_result_is_a_protocol_fault() -> None:
    transport, _ = bench(json_reply(queried("succeeded", "j/1")))
    assert (await fault_of(transport, call(job=TICKET))).code == FaultCode.JOB_PROTOCOL_FAULT


@pytest.mark.parametrize("status", [302, 404, 429, 500])
@pytest.mark.parametrize("job", [None, TICKET])
async def test_a_status_is_left_to_the_policies(status: int, job: JobTicket | None) -> None:
    transport, _ = bench(Reply(status_code=status, body=b"no"))
    assert (await transport.attempt(call(job=job))).status_code == status


async def test_an_id_that_no_url_can_hold_is_the_tools_fault_not_the_callers() -> None:
    refused = TransportFault(FaultCode.INVALID_PARAMETER, "No.", may_have_left=False, pointer="/job.id")
    transport, _ = bench(refused)
    assert (await fault_of(transport, call(job=TICKET))).code == FaultCode.JOB_PROTOCOL_FAULT
    other = TransportFault(FaultCode.INVALID_PARAMETER, "No.", may_have_left=False, pointer="/key")
    transport, _ = bench(other)
    assert (await fault_of(transport, call(job=TICKET))) is other


async def test_the_key_of_the_creation_is_not_sent_with_a_query() -> None:
    contract = replace(WRITE_JOB, idempotency=Idempotency(location=KeyLocation.HEADER, name="Key"))
    transport, http = bench(json_reply(queried("running", "j/1")))
    await transport.attempt(call(contract, TICKET))
    assert http.calls[0].idempotency_key == ""


async def test_a_cancellation_is_one_request_where_the_contract_has_one() -> None:
    transport, http = bench(Reply(status_code=204), Reply(status_code=409))
    assert await transport.cancel(call(job=TICKET))
    assert not await transport.cancel(call(job=TICKET))
    assert (sent(http.calls[0]).method, sent(http.calls[0]).url) == ("DELETE", "http://x/tasks/j%2F1")
    assert not await transport.cancel(call(replace(READ_JOB, transport=replace(FORM, cancel=None)), TICKET))
    assert not await transport.cancel(call())


async def test_a_tool_without_jobs_is_refused() -> None:
    transport, _ = bench()
    assert (await fault_of(transport, call(LOOK_UP))).code == FaultCode.NOT_YET_SUPPORTED
    assert "ScriptedTransport" in repr(transport)


JOB_BODIES = st.binary(max_size=60) | st.builds(
    lambda value: exact_json.dumps(value).encode(),
    st.sampled_from(
        [created(), queried(), queried("succeeded", result=1), {"data": 1}, created("", ""), queried(None)]
    ),
)


@given(body=JOB_BODIES, status=st.integers(100, 599), is_new=st.booleans())
async def test_any_bytes_are_one_reply_or_one_fault(body: bytes, status: int, *, is_new: bool) -> None:
    transport, _ = bench(Reply(status_code=status, body=body))
    with contextlib.suppress(TransportFault):
        reply = await transport.attempt(call(job=None if is_new else replace(TICKET, job_id="j-1")))
        assert (reply.job is None) or reply.status_code == 202
