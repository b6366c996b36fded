"""The calls of both clients: each is made again where that is safe, and a run that nobody waits for is ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import replace
from typing import Final, TypeVar

from taoloop.client.following import followed
from taoloop.client.repeating import Repeats
from taoloop.client.results import RunResult
from taoloop.core.calls import CallContext
from taoloop.core.errors import InternalError, TaoError
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.running import (
    CancelRunRequest,
    HandoverOutcome,
    ListRunsRequest,
    LoopServiceDecideApprovalRequest,
    ProvideInputRequest,
    RunEvent,
    RunSummary,
    SubmitResponse,
)
from taoloop.plan.running.handovers import DecideHandoverRequest, Handover, ListHandoversRequest, OpenHandover
from taoloop.plan.task import Outcome, Task
from taoloop.wire.clients import LoopClient

RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")

LEAVING_SECONDS: Final = 5.0
"""How long it may take to end a run that nobody waits for any more."""


class LoopCalls:
    """Calls the loop service for one tenant.

    Args:
        client: Reaches the service.
        repeats: Says when a call is made again. Every request that changes something has an id, so that all may be.
        new_call: Gives the context of a call that may take so many seconds.
    """

    def __init__(self, client: LoopClient, repeats: Repeats, new_call: Callable[[float], CallContext]) -> None:
        self._client = client
        self._repeats = repeats
        self._new_call = new_call
        self._starting: set[asyncio.Task[SubmitResponse]] = set()
        self._owned: set[str] = set()
        self._is_closed = False

    async def aclose(self) -> None:
        """End the runs that somebody still waits for; to be called while the channel is open."""
        self._is_closed = True
        owned, starting = set(self._owned), set(self._starting)  # those who wait take them out when they are told
        if starting:
            await asyncio.wait(starting, timeout=LEAVING_SECONDS)
        started = [each for each in starting if each.done() and not each.cancelled() and each.exception() is None]
        async with asyncio.TaskGroup() as group:
            for run_id in owned | {each.result().run_id for each in started}:
                group.create_task(self._leave(run_id), name="leave run")

    async def streamed(self, task: Task, call: CallContext) -> AsyncGenerator[RunEvent, None]:
        """Start a run and yield its events; it is ended when the iterator is left before."""
        run_id = await self._begun(task, call)
        self._owned.add(run_id)
        is_left = True
        try:
            async with aclosing(self.followed(run_id, 1, call)) as events:
                async for event in events:
                    yield event
            is_left = False
        finally:
            self._owned.discard(run_id)
            if is_left and not self._is_closed:
                await self._leave(run_id)

    async def submit(self, task: Task, call: CallContext) -> SubmitResponse:
        """Start a run that goes on without the caller."""
        return await self._answered("Submit", lambda: self._client.submit(task, call), call)

    async def followed(
        self, run_id: str, from_sequence: int, call: CallContext, *, through_waits: bool = False
    ) -> AsyncGenerator[RunEvent, None]:
        """Yield a run's events over broken connections and dead hosts."""
        following = followed(self._client, run_id, from_sequence, call, self._repeats, through_waits=through_waits)
        with self._while_open():
            async with aclosing(following) as events:
                async for event in events:
                    yield event

    async def waited_for(self, run_id: str, call: CallContext) -> RunResult:
        """Return where a run stands once it has ended or rests."""
        while True:
            summary = await self.get(run_id, call)
            if summary.outcome is not None:
                return RunResult.of(summary)
            async with aclosing(self.followed(run_id, summary.last_sequence + 1, call)) as events:
                async for _ in events:
                    pass

    async def get(self, run_id: str, call: CallContext) -> RunSummary:
        """Return where a run stands now."""
        return await self._answered("GetRun", lambda: self._client.get_run(run_id, call), call)

    async def runs(self, request: ListRunsRequest, page_seconds: float) -> AsyncGenerator[RunSummary, None]:
        """Yield runs page by page; each page may take so long."""
        while True:
            page = await self._page("ListRuns", self._client.list_runs, request, page_seconds)
            for summary in page.runs:
                yield summary
            if not page.next_page_token:
                return
            request = replace(request, page_token=page.next_page_token)

    async def provide_input(self, request: ProvideInputRequest, call: CallContext) -> int:
        """Answer a run's question; return the number of its next event."""
        reply = await self._answered("ProvideInput", lambda: self._client.provide_input(request, call), call)
        return reply.next_sequence

    async def decide_approval(self, request: LoopServiceDecideApprovalRequest, call: CallContext) -> ApprovalDecision:
        """Give or deny leave; return what holds."""
        reply = await self._answered("DecideApproval", lambda: self._client.decide_approval(request, call), call)
        return reply.decision or request.decision

    async def handovers(self, request: ListHandoversRequest, page_seconds: float) -> AsyncGenerator[OpenHandover, None]:
        """Yield open handovers page by page; each page may take so long."""
        while True:
            page = await self._page("ListHandovers", self._client.list_handovers, request, page_seconds)
            for handover in page.handovers:
                yield handover
            if not page.next_page_token:
                return
            request = replace(request, page_token=page.next_page_token)

    async def handover(self, run_id: str, handover_id: str, call: CallContext) -> Handover:
        """Return all that a person needs who takes over."""
        return await self._answered("GetHandover", lambda: self._client.get_handover(run_id, handover_id, call), call)

    async def decide_handover(self, request: DecideHandoverRequest, call: CallContext) -> HandoverOutcome:
        """Tell a run what a person made of a handover; return what holds."""
        reply = await self._answered("DecideHandover", lambda: self._client.decide_handover(request, call), call)
        if reply.outcome is None:
            raise InternalError("The reply of DecideHandover is empty.", metadata={"rpc": "DecideHandover"})
        return reply.outcome

    async def cancel(self, run_id: str, reason: str, call: CallContext) -> Outcome | None:
        """End a run; return how it ended."""
        request = CancelRunRequest(run_id=run_id, reason=reason)
        return (await self._answered("CancelRun", lambda: self._client.cancel_run(request, call), call)).outcome

    async def _begun(self, task: Task, call: CallContext) -> str:
        """Start a run and return its id; who gives up meanwhile leaves no run behind."""
        # Not in a task group, which would cancel it with its caller; it is awaited below, however that ends.
        submitting = asyncio.get_running_loop().create_task(self.submit(task, call), name="submit")
        self._starting.add(submitting)
        submitting.add_done_callback(self._starting.discard)
        try:
            return (await asyncio.shield(submitting)).run_id
        except asyncio.CancelledError:
            await asyncio.wait([submitting], timeout=LEAVING_SECONDS)
            submitting.cancel()  # changes nothing when it has ended
            with suppress(TaoError, asyncio.CancelledError):
                await self._leave((await submitting).run_id)
            raise

    async def _leave(self, run_id: str) -> None:
        """End a run that nobody waits for; one that cannot be reached ends by its own limit."""
        request, call = CancelRunRequest(run_id=run_id, reason="Its caller gave up."), self._new_call(LEAVING_SECONDS)
        with suppress(TaoError):
            await self._repeats.until_answered(
                "CancelRun", lambda: self._client.cancel_run(request, call), call.deadline
            )

    @contextmanager
    def _while_open(self) -> Iterator[None]:
        """Tell a caller whose call was ended by `aclose`; gRPC would tell it that it had been cancelled itself."""
        if self._is_closed:
            raise RuntimeError("The client is closed.")
        try:
            yield
        except (TaoError, GeneratorExit):
            raise
        except BaseException as error:
            task = asyncio.current_task()
            is_cancelled = isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling()
            if is_cancelled or not self._is_closed:
                raise
            raise RuntimeError("The client was closed during the call.") from error

    async def _page(
        self, rpc: str, listed: Callable[[RequestT, CallContext], Awaitable[ReplyT]], request: RequestT, seconds: float
    ) -> ReplyT:
        call = self._new_call(seconds)
        return await self._answered(rpc, lambda: listed(request, call), call)

    async def _answered(self, rpc: str, make: Callable[[], Awaitable[ReplyT]], call: CallContext) -> ReplyT:
        with self._while_open():
            return await self._repeats.until_answered(rpc, make, call.deadline)
