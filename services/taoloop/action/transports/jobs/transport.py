"""The transport of jobs: one request of a contract's three, sent by the HTTP transport and read strictly."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from taoloop.action.ports import JobTicket, Reply, ToolCall, Transport, TransportFault
from taoloop.action.transports.http_request import placed_names
from taoloop.action.transports.jobs.job_state import JobProtocolError, read_created, read_queried, read_result
from taoloop.core import exact_json, pointers
from taoloop.core.clock import Clock
from taoloop.core.exact_json import JsonSyntaxError, JsonValue
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import HttpTransport, JobState, JobTransport, ToolContract

JOB_ID: Final = "job.id"
"""The placeholder of a job's id."""

_ID_POINTER: Final = pointers.join(JOB_ID)
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_FAULTS: Final = {JobState.FAILED: FaultCode.JOB_FAILED, JobState.CANCELLED: FaultCode.JOB_CANCELLED}


class JobHttpTransport:
    """A `Transport` that creates a job, or asks about one, over HTTP.

    A call without a ticket creates; one with a ticket asks. As long as the job is not over, the reply has the
    status 202 and a ticket; then it is the job's result with the status 200.

    Args:
        http: Sends the requests, each as that of a contract with this request alone.
        clock: Tells when a job was created.
    """

    def __init__(self, http: Transport, clock: Clock) -> None:
        self._http = http
        self._clock = clock

    async def attempt(self, call: ToolCall) -> Reply:
        """Make one attempt; see `Transport.attempt`.

        Raises:
            TransportFault: No whole answer came; JOB_PROTOCOL_FAULT, the answer is not of the declared form;
                JOB_FAILED or JOB_CANCELLED, the job ended so.
        """
        form = _form(call.contract)
        if call.job is None:
            return await self._create(form, call)
        return await self._ask(form, call, call.job)

    async def cancel(self, call: ToolCall) -> bool:
        """Ask the tool to cancel the job of the call's ticket.

        Returns:
            Whether the tool agreed; False also when the contract declares no way to ask.

        Raises:
            TransportFault: No whole answer came.
        """
        form = _form(call.contract)
        if form.cancel is None or call.job is None:
            return False
        reply = await self._http.attempt(_about(call, form.cancel, call.job))
        return _is_success(reply)

    async def _create(self, form: JobTransport, call: ToolCall) -> Reply:
        created_at = self._clock.now()
        reply = await self._http.attempt(replace(call, contract=_with(call.contract, form.create)))
        if not _is_success(reply):
            return reply
        try:
            created = read_created(form, _parsed(reply))
        except JobProtocolError as exc:
            raise _protocol_fault(exc.message, reply) from exc
        if created.state in _FAULTS:
            raise _ended(created.state, reply)
        return _pending(reply, JobTicket(job_id=created.job_id, created_at=created_at, state=created.state))

    async def _ask(self, form: JobTransport, call: ToolCall, job: JobTicket) -> Reply:
        try:
            reply = await self._http.attempt(_about(call, form.query, job))
        except TransportFault as fault:
            if fault.code == FaultCode.INVALID_PARAMETER and fault.pointer == _ID_POINTER:
                raise _protocol_fault("The id of the job cannot be put into the query.", None) from fault
            raise
        if not _is_success(reply):
            return reply
        try:
            body = _parsed(reply)
            state = read_queried(form, body, job.job_id, job.state)
            if state is JobState.SUCCEEDED:
                return _result(reply, read_result(form, body))
        except JobProtocolError as exc:
            raise _protocol_fault(exc.message, reply) from exc
        if state in _FAULTS:
            raise _ended(state, reply)
        return _pending(reply, replace(job, state=state, misses=0))

    def __repr__(self) -> str:
        return f"JobHttpTransport({self._http!r})"


def _form(contract: ToolContract) -> JobTransport:
    if not isinstance(contract.transport, JobTransport):
        message = f"The tool {contract.name} is no job."
        raise TransportFault(FaultCode.NOT_YET_SUPPORTED, message, may_have_left=False)
    return contract.transport


def _with(contract: ToolContract, request: HttpTransport) -> ToolContract:
    return replace(contract, transport=request)


def _about(call: ToolCall, request: HttpTransport, job: JobTicket) -> ToolCall:
    """Return the call of a request about a job: the arguments that it names, and never the key of the creation."""
    named = set(placed_names(request))
    arguments: dict[str, JsonValue] = {name: value for name, value in call.arguments.items() if name in named}
    arguments[JOB_ID] = job.job_id
    return replace(call, contract=_with(call.contract, request), arguments=arguments, idempotency_key="")


def _parsed(reply: Reply) -> JsonValue:
    try:
        return exact_json.loads(reply.body.removeprefix(_BYTE_ORDER_MARK))
    except JsonSyntaxError as exc:
        raise JobProtocolError("The answer is not JSON.") from exc


def _pending(reply: Reply, job: JobTicket) -> Reply:
    return replace(reply, status_code=202, content_type="application/json", job=job)


def _result(reply: Reply, result: JsonValue) -> Reply:
    return replace(reply, status_code=200, content_type="application/json", body=exact_json.dumps(result).encode())


def _is_success(reply: Reply) -> bool:
    return 200 <= reply.status_code < 300


def _protocol_fault(message: str, reply: Reply | None) -> TransportFault:
    return TransportFault(FaultCode.JOB_PROTOCOL_FAULT, message, may_have_left=True, received=reply)


def _ended(state: JobState, reply: Reply) -> TransportFault:
    message = f"The job ended and is {state}."
    return TransportFault(_FAULTS[state], message, may_have_left=True, received=reply)
