"""The client of the loop service for programs without an event loop: the same calls, each waited for."""

from __future__ import annotations

import weakref
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping
from typing import Any, Self, TypeVar

from prometheus_client import CollectorRegistry

from taoloop.client.async_client import CALL_SECONDS, RUN_SECONDS, WATCH_SECONDS, AsyncClient
from taoloop.client.background import BackgroundLoop
from taoloop.client.results import RunResult
from taoloop.core.exact_json import JsonValue
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.running import HandoverOutcome, RunEvent, RunSummary, SubmitResponse
from taoloop.plan.running.handovers import Handover, OpenHandover
from taoloop.plan.task import Outcome, Task

T = TypeVar("T")


class Client:
    """Calls the loop service as `AsyncClient` does, from any thread; several threads may share it.

    The calls are made on one event loop in a thread of the client's own. A call that is interrupted from the keyboard
    is cancelled first: the run of `run` and `stream` is ended. After a fork each process opens a client of its own.

    ```python
    with Client("127.0.0.1:7701") as client:
        result = client.run("Where is order 20260308000012345?")
        print(result.outcome, result.text)
    ```

    Args:
        address: As for `AsyncClient`.
        tenant: As for `AsyncClient`.
        registry: As for `AsyncClient`.
        fixed: As for `AsyncClient`.

    Raises:
        ConfigurationError: A setting is wrong; the message names its variable.
    """

    def __init__(
        self, address: str = "", *, tenant: str = "", registry: CollectorRegistry | None = None, **fixed: Any
    ) -> None:
        self._client = AsyncClient(address, tenant=tenant, registry=registry, **fixed)
        self._background: BackgroundLoop | None = None

    def __repr__(self) -> str:
        return f"<Client on {self._background!r} with {self._client!r}>"

    def __enter__(self) -> Self:
        self._background = background = BackgroundLoop("taoloop-client")
        # Also when the client is forgotten, and before the interpreter ends.
        self._closing = weakref.finalize(self, _close, background, self._client)
        try:
            background.run(self._client.__aenter__())
        except BaseException:
            background.close()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._closing()

    def run(self, task: Task | str, *, timeout_seconds: float = RUN_SECONDS) -> RunResult:
        """Start a run and return what became of it; see `AsyncClient.run`."""
        return self._wait(self._client.run(task, timeout_seconds=timeout_seconds))

    def stream(self, task: Task | str, *, timeout_seconds: float = RUN_SECONDS) -> Iterator[RunEvent]:
        """Start a run and yield its events; it is cancelled when the iterator is closed; see `AsyncClient.stream`."""
        return self._iterate(self._client.stream(task, timeout_seconds=timeout_seconds))

    def submit(self, task: Task | str, *, timeout_seconds: float = CALL_SECONDS) -> SubmitResponse:
        """Start a run that goes on without the caller; see `AsyncClient.submit`."""
        return self._wait(self._client.submit(task, timeout_seconds=timeout_seconds))

    def watch(
        self,
        run_id: str,
        from_sequence: int = 1,
        *,
        through_waits: bool = False,
        timeout_seconds: float = WATCH_SECONDS,
    ) -> Iterator[RunEvent]:
        """Yield a run's events, each once and in order, whatever breaks meanwhile; see `AsyncClient.watch`."""
        return self._iterate(
            self._client.watch(run_id, from_sequence, through_waits=through_waits, timeout_seconds=timeout_seconds)
        )

    def wait(self, run_id: str, *, timeout_seconds: float = RUN_SECONDS) -> RunResult:
        """Return where a run stands once it has ended or rests; see `AsyncClient.wait`."""
        return self._wait(self._client.wait(run_id, timeout_seconds=timeout_seconds))

    def get(self, run_id: str, *, timeout_seconds: float = CALL_SECONDS) -> RunSummary:
        """Return where a run stands now; see `AsyncClient.get`."""
        return self._wait(self._client.get(run_id, timeout_seconds=timeout_seconds))

    def list(
        self, *, outcome: Outcome | None = None, page_size: int = 50, timeout_seconds: float = CALL_SECONDS
    ) -> Iterator[RunSummary]:
        """Yield the tenant's runs, newest first; see `AsyncClient.list`."""
        return self._iterate(self._client.list(outcome=outcome, page_size=page_size, timeout_seconds=timeout_seconds))

    def provide_input(
        self,
        run_id: str,
        input_id: str,
        values: Mapping[str, JsonValue],
        *,
        request_id: str = "",
        timeout_seconds: float = CALL_SECONDS,
    ) -> int:
        """Answer a run's question; see `AsyncClient.provide_input`."""
        return self._wait(
            self._client.provide_input(run_id, input_id, values, request_id=request_id, timeout_seconds=timeout_seconds)
        )

    def approve(
        self, run_id: str, approval_id: str, *, decided_by: str, comment: str = "", timeout_seconds: float = RUN_SECONDS
    ) -> ApprovalDecision:
        """Give leave for a step; see `AsyncClient.approve`."""
        return self._wait(
            self._client.approve(
                run_id, approval_id, decided_by=decided_by, comment=comment, timeout_seconds=timeout_seconds
            )
        )

    def reject(
        self, run_id: str, approval_id: str, *, decided_by: str, comment: str = "", timeout_seconds: float = RUN_SECONDS
    ) -> ApprovalDecision:
        """Deny leave for a step; see `AsyncClient.reject`."""
        return self._wait(
            self._client.reject(
                run_id, approval_id, decided_by=decided_by, comment=comment, timeout_seconds=timeout_seconds
            )
        )

    def handovers(
        self, run_id: str = "", *, page_size: int = 50, timeout_seconds: float = CALL_SECONDS
    ) -> Iterator[OpenHandover]:
        """Yield what persons have to take over; see `AsyncClient.handovers`."""
        return self._iterate(self._client.handovers(run_id, page_size=page_size, timeout_seconds=timeout_seconds))

    def handover(self, run_id: str, handover_id: str = "", *, timeout_seconds: float = CALL_SECONDS) -> Handover:
        """Return all that a person needs who takes over; see `AsyncClient.handover`."""
        return self._wait(self._client.handover(run_id, handover_id, timeout_seconds=timeout_seconds))

    def decide_handover(
        self, run_id: str, wanted: HandoverOutcome, *, timeout_seconds: float = CALL_SECONDS
    ) -> HandoverOutcome:
        """Tell a run what a person made of a handover; see `AsyncClient.decide_handover`."""
        return self._wait(self._client.decide_handover(run_id, wanted, timeout_seconds=timeout_seconds))

    def cancel(self, run_id: str, *, reason: str = "", timeout_seconds: float = CALL_SECONDS) -> Outcome | None:
        """End a run; see `AsyncClient.cancel`."""
        return self._wait(self._client.cancel(run_id, reason=reason, timeout_seconds=timeout_seconds))

    @property
    def _loop(self) -> BackgroundLoop:
        if self._background is None:
            raise RuntimeError("The client is not open: use it within `with`.")
        return self._background

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        if self._background is None:
            work.close()
        return self._loop.run(work)

    def _iterate(self, items: AsyncGenerator[T, None]) -> Iterator[T]:
        """Yield what an asynchronous iterator yields, asked for one by one; it is closed however this one is left."""
        loop = self._loop

        async def following() -> tuple[T, ...]:
            async for item in items:
                return (item,)
            return ()

        try:
            while found := loop.run(following()):
                yield found[0]
        finally:
            loop.leave(items.aclose())


def _close(background: BackgroundLoop, client: AsyncClient) -> None:
    try:
        background.leave(client.__aexit__())
    finally:
        background.close()
