"""Lists, shows and settles what runs hand over to people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.errors import FieldViolation, InvalidRequest, NotWaiting, RunConflict, UnknownHandover
from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics
from taoloop.loop.people.approvals import too_long
from taoloop.loop.people.package import package
from taoloop.loop.people.resting import RestingRuns
from taoloop.loop.people.waits import HandoverRecord
from taoloop.loop.ports import RunLog, RunsWanted
from taoloop.loop.state import RunState
from taoloop.plan.effects import MAX_COMMENT_CHARACTERS, MAX_NAME_CHARACTERS
from taoloop.plan.running import EventBody, HandoverDecision, HandoverOutcome, RunFinished, RunResumed, RunSummary
from taoloop.plan.running.handovers import (
    DecideHandoverRequest,
    DecideHandoverResponse,
    GetHandoverRequest,
    Handover,
    ListHandoversRequest,
    ListHandoversResponse,
    OpenHandover,
)
from taoloop.plan.task import Outcome
from taoloop.plan.thinking import Answer, AnswerOrigin
from taoloop.tools.schemas import CompiledSchema

MAX_ANSWER_CHARACTERS: Final = 65_536


class HandoverDesk:
    """Where persons see what they have to take over, and say what they made of it. The first decision stands.

    Args:
        runs: The runs that wait.
        log: Holds their events.
        metrics: Counts decisions.
        clock: Says how long a run took.
    """

    def __init__(self, runs: RestingRuns, log: RunLog, metrics: Metrics, clock: Clock) -> None:
        self._runs = runs
        self._log = log
        self._count = metrics.counter(names.HANDOVERS)
        self._clock = clock

    def __repr__(self) -> str:
        return f"<HandoverDesk of {self._runs!r}>"

    async def list(self, request: ListHandoversRequest, call: CallContext) -> ListHandoversResponse:
        """Return the open handovers of one page of runs, newest run first.

        Raises:
            UnknownRun: No such run for this tenant, where one is asked for.
            InvalidRequest: The page size is negative, or the page token none that the list gave out.
            BackendUnavailable: The log does not answer in time.
        """
        if request.run_id:
            run = (await self._runs.read(request.run_id, call)).summary()
            return ListHandoversResponse(handovers=tuple(_open_of(run)))
        wanted = RunsWanted.on_page(request.page_size, request.page_token, Outcome.NEEDS_HUMAN)
        page = await self._log.list_runs(call.tenant, wanted, call.deadline)
        handovers = tuple(each for run in page.runs for each in _open_of(run))
        return ListHandoversResponse(handovers=handovers, next_page_token=page.next_page_token)

    async def get(self, request: GetHandoverRequest, call: CallContext) -> Handover:
        """Return a handover, decided or not, with all that a person needs.

        Raises:
            UnknownRun: No such run for this tenant.
            UnknownHandover: The run has no such handover.
        """
        events = await self._log.read(call.tenant, request.run_id, 1, call.deadline)
        state = RunState.from_events(request.run_id, events)
        return package(state, events, _found(state, request.handover_id))

    async def decide(self, request: DecideHandoverRequest, call: CallContext) -> DecideHandoverResponse:
        """Take a person's decision: an answer or a close ends the run, leave to think again lets it go on.

        A run with other handovers or questions rests until they are decided as well.

        Raises:
            UnknownRun: No such run for this tenant.
            UnknownHandover: The run has no such handover.
            NotWaiting: The run has ended.
            InvalidRequest: The decision cannot be taken.
            DeadlineExceeded: The run did not come to rest in time.
        """
        _check(request)
        while True:
            state = await self._runs.at_rest(request.run_id, call)
            repeated = _repeated(state, request)
            if repeated is not None:
                return _held(state, repeated)
            record = _found(state, request.handover_id)
            if record.outcome is not None:
                return _held(state, record.outcome)
            if state.has_ended:
                raise NotWaiting(
                    f"Run {state.run_id} has ended; nobody waits for handover {record.required.handover_id}.",
                    metadata={"run_id": state.run_id, "handover_id": record.required.handover_id},
                )
            try:
                return await self._settle(state, record, request, call)
            except RunConflict:  # another decision was faster; the run goes on, and this one has its turn later
                continue

    async def _settle(
        self, state: RunState, record: HandoverRecord, request: DecideHandoverRequest, call: CallContext
    ) -> DecideHandoverResponse:
        outcome = HandoverOutcome(
            handover_id=record.required.handover_id,
            decision=request.decision,
            decided_by=request.decided_by,
            comment=request.comment,
            answer_text=request.answer_text,
            request_id=request.request_id,
        )
        resumed = RunResumed(reason="handover", handover=outcome)
        if request.decision is HandoverDecision.RESUMED:
            await self._runs.take_on(state, call, resumed)
        else:
            ending = self._ending(state, record, request)
            await self._runs.settle(state, call, resumed, *ending)
        self._count.labels(event=request.decision.value).inc()
        return _held(state, outcome)

    def _ending(self, state: RunState, record: HandoverRecord, request: DecideHandoverRequest) -> tuple[EventBody, ...]:
        seconds, usage = state.active_seconds, state.usage
        if request.decision is HandoverDecision.CLOSED:
            fault = record.required.fault or _closed(record, request)
            return (RunFinished(outcome=Outcome.FAILED, fault=fault, usage=usage, duration_seconds=seconds),)
        data = _fitting(state.task.output_schema, request.answer_data)
        answer = Answer(text=request.answer_text, data=data, origin=AnswerOrigin.PERSON)
        return (answer, RunFinished(outcome=Outcome.ANSWERED, usage=usage, duration_seconds=seconds))


def _repeated(state: RunState, request: DecideHandoverRequest) -> HandoverOutcome | None:
    """Return what was made of a request that was sent before and names no handover: another one may be open by now."""
    if request.handover_id or not request.request_id:
        return None
    outcomes = (record.outcome for record in state.waits.handovers.values())
    return next((each for each in outcomes if each is not None and each.request_id == request.request_id), None)


def _found(state: RunState, handover_id: str) -> HandoverRecord:
    """Return a handover of a run: the named one, or the only open one.

    Raises:
        UnknownHandover: There is none.
    """
    if handover_id and handover_id in state.waits.handovers:
        return state.waits.handovers[handover_id]
    open_ids = [each.handover_id for each in state.waits.open_handovers]
    if not handover_id and len(open_ids) == 1:
        return state.waits.handovers[open_ids[0]]
    which = f"no handover {handover_id}" if handover_id else "more than one" if open_ids else "none"
    listed = f" Open: {', '.join(open_ids)}." if open_ids else " None is open."
    raise UnknownHandover(
        f"Run {state.run_id} has {which}.{listed}",
        metadata={"run_id": state.run_id, "handover_id": handover_id, "open": ",".join(open_ids)},
    )


def _held(state: RunState, outcome: HandoverOutcome) -> DecideHandoverResponse:
    """Return the reply to a decision: what holds, and where the event is that says so."""
    sequence = state.waits.said_at[outcome.handover_id]
    return DecideHandoverResponse(run_id=state.run_id, next_sequence=sequence, outcome=outcome)


def _check(request: DecideHandoverRequest) -> None:
    violations = list(_violations(request))
    if violations:
        what = "; ".join(f"{each.field} {each.description}" for each in violations)
        raise InvalidRequest(f"The decision cannot be taken: {what}.", violations=violations)


def _violations(request: DecideHandoverRequest) -> Iterator[FieldViolation]:
    is_answer = request.decision is HandoverDecision.ANSWERED
    if is_answer and not request.answer_text.strip():
        yield FieldViolation("answer_text", "must hold the answer")
    if not is_answer and request.answer_text:
        yield FieldViolation("answer_text", "may be given with the decision ANSWERED alone")
    if not is_answer and request.answer_data is not ABSENT:
        yield FieldViolation("answer_data_json", "may be given with the decision ANSWERED alone")
    if not request.decided_by.strip():
        yield FieldViolation("decided_by", "must name who decided")
    yield from too_long(
        ("request_id", request.request_id, MAX_NAME_CHARACTERS),
        ("decided_by", request.decided_by, MAX_NAME_CHARACTERS),
        ("comment", request.comment, MAX_COMMENT_CHARACTERS),
        ("answer_text", request.answer_text, MAX_ANSWER_CHARACTERS),
    )


def _fitting(schema: Json, data: Json) -> Json:
    """Return a person's answer as data.

    Raises:
        InvalidRequest: It does not fit what the task wants.
    """
    if not isinstance(schema, dict):
        return data
    if data is ABSENT:
        raise InvalidRequest(
            "The task wants its answer as data.",
            violations=[FieldViolation("answer_data_json", "is missing; it must fit the task's output_schema_json")],
        )
    violations = [
        FieldViolation(f"answer_data_json{each.pointer}", each.message)
        for each in CompiledSchema.compile(schema).violations(data)
    ]
    if violations:
        what = "; ".join(f"{each.field} {each.description}" for each in violations)
        raise InvalidRequest(f"The answer's data does not fit the task's schema: {what}.", violations=violations)
    return data


def _closed(record: HandoverRecord, request: DecideHandoverRequest) -> Fault:
    why = request.comment or record.required.reason
    return Fault(
        code=FaultCode.DECISION_BY_PERSON_NEEDED,
        stage=FaultStage.LOOP,
        message=f"{request.decided_by} closed the run" + (f": {why}" if why else "."),
    )


def _open_of(run: RunSummary) -> Iterator[OpenHandover]:
    for required in run.handovers_required:
        yield OpenHandover(run_id=run.run_id, required=required, opened_at=run.updated_at, request_id=run.request_id)
