"""One recorded exchange with a tool, and what the services would make of it: action's verdict, then observation's."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Final

from taoloop.action import faulting
from taoloop.action.ports import Reply
from taoloop.core.clock import Clock
from taoloop.core.exact_json import ABSENT, Absent, Json, dumps
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.observer import Observer
from taoloop.observation.ports import FixedCatalogue
from taoloop.plan.acting import ActionResult, ActionStatus, Body, ServedBy
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import Empty
from taoloop.tools.loading.samples import Sample, SampleExpectation, filled
from taoloop.tools.signature import Effect

STEP_ID: Final = "1.t1"
"""The step that a recorded exchange is judged as."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What a tool was asked once and what it answered.

    Attributes:
        tool: Who answered.
        arguments: What was asked; absent where the record does not say.
        status_code: Of the answer.
        body: Its parsed body; absent when there was none, or when it was no JSON.
        raw: The bytes of a body that was no JSON.
        content_type: Lower case, without parameters; empty where the record does not say.
        retry_after: The `Retry-After` header as sent.
        response_time_seconds: How long the answer took; None where the record does not say.
        expect: What it should be judged to be; None where the record does not say.
    """

    tool: str
    arguments: Json = ABSENT
    status_code: int = 200
    body: Json = ABSENT
    raw: bytes | None = None
    content_type: str = ""
    retry_after: str = ""
    response_time_seconds: float | None = None
    expect: SampleExpectation | None = None

    @classmethod
    def of_sample(cls, tool: str, sample: Sample) -> Exchange:
        """Return a sample as an exchange, with its placeholders filled from its own arguments."""
        headers = {name.lower(): text for name, text in sample.headers.items()}
        return cls(
            tool=tool,
            arguments=dict(sample.arguments),
            status_code=sample.status,
            body=filled(sample.body, sample.arguments) if sample.has_body else ABSENT,
            content_type=headers.get("content-type", "").partition(";")[0].strip().lower(),
            retry_after=headers.get("retry-after", ""),
            response_time_seconds=sample.response_time_seconds,
            expect=sample.expect,
        )


class RecordedObserver:
    """Judges recorded exchanges by one catalogue, through the code that the services run.

    A record that does not say how long the answer took counts as fast: its time is nothing that could have changed.

    Args:
        catalogue: The contracts.
        clock: What a `Retry-After` date is held against.
        policy: What holds for every tool.
    """

    def __init__(self, catalogue: Catalogue, clock: Clock, policy: ObservationPolicy | None = None) -> None:
        self.catalogue: Final = catalogue
        self._clock = clock
        self._observer = Observer(FixedCatalogue(catalogue), policy or ObservationPolicy())

    def observe(self, exchange: Exchange) -> ObservationResult:
        """Return the verdict on an exchange; the same exchange always gets the same one."""
        return self._observer.observe(self.request(exchange))

    def request(self, exchange: Exchange) -> ObserveRequest:
        """Return what the observer is asked about an exchange."""
        return ObserveRequest(result=self.acted(exchange), arguments=exchange.arguments)

    def acted(self, exchange: Exchange) -> ActionResult:
        """Return the envelope that the action service would have made of the answer."""
        envelope = _envelope(exchange)
        if exchange.tool not in self.catalogue:
            return envelope
        tool = self.catalogue.compiled(exchange.tool)
        envelope = replace(envelope, trust=tool.contract.trust, contract_digest=tool.contract.digest)
        return acted(tool, envelope, self._clock, retry_after=exchange.retry_after)

    def __repr__(self) -> str:
        return f"RecordedObserver({self.catalogue!r})"


def acted(tool: CompiledTool, envelope: ActionResult, clock: Clock, *, retry_after: str = "") -> ActionResult:
    """Return what the action service makes of an answer: by the contract's `errors`, the status class and `empty`.

    Args:
        tool: Whose contract.
        envelope: The answer as a success, as it came.
        clock: What a `Retry-After` date is held against.
        retry_after: That header as sent; empty for none.
    """
    if not envelope.status_code:
        return envelope  # a transport without codes has its own verdict
    parsed = None if isinstance(envelope.parsed, Absent) else envelope.parsed
    reply = Reply(status_code=envelope.status_code, retry_after=retry_after)
    found = faulting.judge_reply(tool, reply, parsed, clock.now())
    has_data = parsed is not None or envelope.raw is not None
    if found is None and tool.contract.empty is Empty.RETRY and envelope.status_code != 202 and not has_data:
        found = faulting.judge_empty()
    if found is None and envelope.raw is not None and tool.contract.response is not True:
        found = faulting.judge_malformed("The body is not JSON.")
    if found is None:
        return envelope
    if tool.contract.effect is not Effect.READ and not found.is_certain:
        # A write that may have taken effect has an unknown outcome.
        return replace(envelope, status=ActionStatus.OUTCOME_UNKNOWN, fault=faulting.unknown_outcome(found.fault))
    return replace(envelope, status=ActionStatus.FAILED, fault=found.fault)


def _envelope(exchange: Exchange) -> ActionResult:
    content = exchange.raw or b""
    if not isinstance(exchange.body, Absent):
        content = dumps(exchange.body).encode()
    seconds = exchange.response_time_seconds
    body = Body(content_type=exchange.content_type, size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    return ActionResult(
        step_id=STEP_ID,
        tool=exchange.tool,
        status=ActionStatus.PENDING if exchange.status_code == 202 else ActionStatus.SUCCEEDED,
        parsed=exchange.body,
        raw=exchange.raw,
        body=body,
        status_code=exchange.status_code,
        response_time_seconds=0.0 if seconds is None else seconds,
        served_by=ServedBy.PRIMARY,
    )
