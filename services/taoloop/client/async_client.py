"""The client of the loop service for programs that run on asyncio."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from random import Random
from typing import Any, Final, Self

from prometheus_client import CollectorRegistry

from taoloop.client.calls import LoopCalls
from taoloop.client.connecting import connected, telemetry_of
from taoloop.client.repeating import Pauses, Repeats
from taoloop.client.results import RunResult
from taoloop.client.settings import ClientSettings
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import JsonValue
from taoloop.core.ids import new_id
from taoloop.core.settings import load_settings
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.running import (
    HandoverOutcome,
    ListRunsRequest,
    LoopServiceDecideApprovalRequest,
    ProvideInputRequest,
    RunEvent,
    RunSummary,
    SubmitResponse,
)
from taoloop.plan.running.handovers import DecideHandoverRequest, Handover, ListHandoversRequest, OpenHandover
from taoloop.plan.task import Outcome, ProvidedInput, Role, Task, Turn

RUN_SECONDS: Final = 60.0
"""How long a run is waited for where the caller does not say."""
CALL_SECONDS: Final = 10.0
"""How long a call may take that waits for no run, repeats included."""
WATCH_SECONDS: Final = 3600.0
"""How long a run is watched where the caller does not say."""
LONGEST_SECONDS: Final = 366 * 86_400.0
"""What a longer time is cut to, such as one without end: gRPC takes none of these."""


def user_says(text: str) -> tuple[Turn, ...]:
    """Return the conversation in which the user says this, and nothing was said before."""
    return (Turn(role=Role.USER, text=text),)


class AsyncClient:
    """Calls the loop service; every call has a deadline, and is made again where that is safe and of use.

    Use it as an asynchronous context manager, on one event loop; many tasks may share it.

    ```python
    async with AsyncClient("127.0.0.1:7701") as client:
        result = await client.run("Where is order 20260308000012345?")
        print(result.outcome, result.text)
    ```

    Args:
        address: `host:port`, or `dns:///name:port`, over whose addresses calls are spread; else TAOLOOP_LOOP_ADDRESS.
        tenant: For whom the calls are made; else TAOLOOP_TENANT.
        registry: Where the client's metrics are shown; nowhere by default.
        fixed: Other settings of `ClientSettings`, by field, which win over the environment: a group's members are in
            a mapping of their own, as in `client={"tls": {"is_on": True}}`.

    Raises:
        ConfigurationError: A setting is wrong; the message names its variable.
    """

    def __init__(
        self, address: str = "", *, tenant: str = "", registry: CollectorRegistry | None = None, **fixed: Any
    ) -> None:
        given = {name: value for name, value in (("loop_address", address), ("tenant", tenant)) if value}
        self._settings = load_settings(ClientSettings, fixed | given)
        self._registry = registry
        self._clock = SystemClock()
        self._stack = AsyncExitStack()
        self._opened: LoopCalls | None = None

    def __repr__(self) -> str:
        state = "open" if self._opened is not None else "not open"
        return f"<AsyncClient of {self._settings.loop_address} [{state}]>"

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            telemetry = await stack.enter_async_context(telemetry_of(self._settings, self._registry))
            library = self._settings.client
            pauses = Pauses(library.first_pause_seconds, library.longest_pause_seconds)
            repeats = Repeats(pauses, telemetry.metrics, self._clock, Random())
            client = await stack.enter_async_context(connected(self._settings, telemetry))
            self._opened = LoopCalls(client, repeats, self._call)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        opened, self._opened = self._opened, None
        try:
            if opened is not None:
                await opened.aclose()
        finally:
            await self._stack.aclose()

    async def run(self, task: Task | str, *, timeout_seconds: float = RUN_SECONDS) -> RunResult:
        """Start a run and return what became of it; it is cancelled when the caller gives up or the time is over.

        A run that asks, or waits for leave or for a person, is a result: answer it, then `wait`.

        Args:
            task: What to do, or what the user says. A request id is drawn where it has none.
            timeout_seconds: How long the caller waits.

        Raises:
            DeadlineExceeded: The time is over before the run has ended.
            RequestIdReused: The request id stands for another task.
            InvalidRequest: The task cannot be run.
            TaoError: The service could not do its job.
        """
        call = self._call(timeout_seconds)
        run_id = ""
        async with aclosing(self._calls.streamed(self._task(task), call)) as events:
            async for event in events:
                run_id = event.run_id
        return await self._calls.waited_for(run_id, call)

    def stream(self, task: Task | str, *, timeout_seconds: float = RUN_SECONDS) -> AsyncGenerator[RunEvent, None]:
        """Start a run and yield its events; it is cancelled when the iterator is closed before its end.

        Use it within `contextlib.aclosing`, so that it is closed however it is left. Arguments and errors are those of
        `run`.
        """
        return self._calls.streamed(self._task(task), self._call(timeout_seconds))

    async def submit(self, task: Task | str, *, timeout_seconds: float = CALL_SECONDS) -> SubmitResponse:
        """Start a run that goes on without the caller; the same task under the same request id attaches to its run.

        Args:
            task: As for `run`.
            timeout_seconds: How long the call may take, repeats included.

        Raises:
            RequestIdReused: The request id stands for another task.
            InvalidRequest: The task cannot be run.
            TaoError: The service could not do its job.
        """
        return await self._calls.submit(self._task(task), self._call(timeout_seconds))

    def watch(
        self,
        run_id: str,
        from_sequence: int = 1,
        *,
        through_waits: bool = False,
        timeout_seconds: float = WATCH_SECONDS,
    ) -> AsyncGenerator[RunEvent, None]:
        """Yield a run's events until it ends or rests, over broken connections and dead hosts: each once, in order.

        Closing the iterator leaves the run alone. To go on later, ask from the number after that of the last event
        that you have seen.

        Args:
            run_id: The run.
            from_sequence: Number of the first event wanted, from 1.
            through_waits: Whether to go on while the run waits for people, and to end with the run alone.
            timeout_seconds: How long the caller watches.

        Raises:
            UnknownRun: No such run for this tenant.
            DeadlineExceeded: The time is over before the run has ended.
        """
        call = self._call(timeout_seconds)
        return self._calls.followed(run_id, from_sequence, call, through_waits=through_waits)

    async def wait(self, run_id: str, *, timeout_seconds: float = RUN_SECONDS) -> RunResult:
        """Return where a run stands once it has ended or rests; the run is left alone.

        Raises:
            UnknownRun: No such run for this tenant.
            DeadlineExceeded: The time is over before the run has ended.
        """
        return await self._calls.waited_for(run_id, self._call(timeout_seconds))

    async def get(self, run_id: str, *, timeout_seconds: float = CALL_SECONDS) -> RunSummary:
        """Return where a run stands now.

        Raises:
            UnknownRun: No such run for this tenant.
        """
        return await self._calls.get(run_id, self._call(timeout_seconds))

    def list(
        self, *, outcome: Outcome | None = None, page_size: int = 50, timeout_seconds: float = CALL_SECONDS
    ) -> AsyncGenerator[RunSummary, None]:
        """Yield the tenant's runs, newest first, page by page as they are asked for.

        Args:
            outcome: Only runs that ended so; None for all, those that go on included.
            page_size: Runs of a page, 1 to 200.
            timeout_seconds: How long each page may take.
        """
        return self._calls.runs(ListRunsRequest(outcome=outcome, page_size=page_size), timeout_seconds)

    async def provide_input(
        self,
        run_id: str,
        input_id: str,
        values: Mapping[str, JsonValue],
        *,
        request_id: str = "",
        timeout_seconds: float = CALL_SECONDS,
    ) -> int:
        """Answer a run's question; return the number of the run's next event, for `watch`.

        Args:
            run_id: The run.
            input_id: The question, `RunResult.question.input_id`.
            values: By name of the parameter, or by its pointer where one name stands for several fields.
            request_id: Names the answer, so that another process may give it again; one is drawn by default.
            timeout_seconds: How long the call may take, repeats included.

        Raises:
            NotWaiting: The run waits for no such answer.
            InvalidRequest: The values do not fit what was asked for.
            UnknownRun: No such run for this tenant.
        """
        given = ProvidedInput(input_id=input_id, values=dict(values))
        request = ProvideInputRequest(request_id=request_id or self._new_id(), run_id=run_id, input=given)
        return await self._calls.provide_input(request, self._call(timeout_seconds))

    async def approve(
        self, run_id: str, approval_id: str, *, decided_by: str, comment: str = "", timeout_seconds: float = RUN_SECONDS
    ) -> ApprovalDecision:
        """Give leave for a step, and return what holds: a decision that came earlier stands.

        Args:
            run_id: The run.
            approval_id: The approval, from `RunResult.approvals`.
            decided_by: Who decided, for the record.
            comment: Why, for the record.
            timeout_seconds: How long the call may take; it waits while the run still works on other steps.

        Raises:
            NotWaiting: The run waits for no such approval.
            UnknownRun: No such run for this tenant.
        """
        request = LoopServiceDecideApprovalRequest(
            request_id=self._new_id(),
            run_id=run_id,
            approval_id=approval_id,
            decision=ApprovalDecision.APPROVED,
            decided_by=decided_by,
            comment=comment,
        )
        return await self._calls.decide_approval(request, self._call(timeout_seconds))

    async def reject(
        self, run_id: str, approval_id: str, *, decided_by: str, comment: str = "", timeout_seconds: float = RUN_SECONDS
    ) -> ApprovalDecision:
        """Deny leave for a step, and return what holds; arguments and errors are those of `approve`."""
        request = LoopServiceDecideApprovalRequest(
            request_id=self._new_id(),
            run_id=run_id,
            approval_id=approval_id,
            decision=ApprovalDecision.REJECTED,
            decided_by=decided_by,
            comment=comment,
        )
        return await self._calls.decide_approval(request, self._call(timeout_seconds))

    def handovers(
        self, run_id: str = "", *, page_size: int = 50, timeout_seconds: float = CALL_SECONDS
    ) -> AsyncGenerator[OpenHandover, None]:
        """Yield what persons of the tenant have to take over, newest run first, page by page as they are asked for.

        Args:
            run_id: Only those of one run; empty for all.
            page_size: Runs of a page.
            timeout_seconds: How long each page may take.
        """
        return self._calls.handovers(ListHandoversRequest(run_id=run_id, page_size=page_size), timeout_seconds)

    async def handover(self, run_id: str, handover_id: str = "", *, timeout_seconds: float = CALL_SECONDS) -> Handover:
        """Return all that a person needs who takes over; without its id the only open handover of the run.

        Raises:
            UnknownRun: No such run for this tenant.
            UnknownHandover: No such handover, or not just one that is open where no id was given.
        """
        return await self._calls.handover(run_id, handover_id, self._call(timeout_seconds))

    async def decide_handover(
        self, run_id: str, wanted: HandoverOutcome, *, timeout_seconds: float = CALL_SECONDS
    ) -> HandoverOutcome:
        """Tell a run what a person made of a handover, and return what holds: a decision that came earlier stands.

        Args:
            run_id: The run.
            wanted: Who decided what. An empty id means the only open handover of the run; the answer's text goes with
                ANSWERED and with nothing else.
            timeout_seconds: How long the call may take, repeats included.

        Raises:
            NotWaiting: The run waits for no such decision.
            UnknownHandover: No such handover, or not just one that is open where no id was given.
            InvalidRequest: The decision and its text do not go together.
            UnknownRun: No such run for this tenant.
        """
        request = DecideHandoverRequest(
            request_id=self._new_id(),
            run_id=run_id,
            handover_id=wanted.handover_id,
            decision=wanted.decision,
            decided_by=wanted.decided_by,
            comment=wanted.comment,
            answer_text=wanted.answer_text,
        )
        return await self._calls.decide_handover(request, self._call(timeout_seconds))

    async def cancel(self, run_id: str, *, reason: str = "", timeout_seconds: float = CALL_SECONDS) -> Outcome | None:
        """End a run and return how it ended; ending an ended run changes nothing.

        Raises:
            UnknownRun: No such run for this tenant.
        """
        return await self._calls.cancel(run_id, reason, self._call(timeout_seconds))

    @property
    def _calls(self) -> LoopCalls:
        if self._opened is None:
            raise RuntimeError("The client is not open: use it within `async with`.")
        return self._opened

    def _task(self, task: Task | str) -> Task:
        if isinstance(task, str):
            task = Task(turns=user_says(task))
        return task if task.request_id else replace(task, request_id=self._new_id())

    def _call(self, timeout_seconds: float) -> CallContext:
        deadline = Deadline.after(min(timeout_seconds, LONGEST_SECONDS), self._clock)
        return CallContext(deadline=deadline, tenant=self._settings.tenant, request_id=self._new_id())

    def _new_id(self) -> str:
        return new_id(self._clock)
