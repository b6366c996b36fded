"""A call that was checked, and what comes of it before it is put into its envelope."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Final

from taoloop.action.ports import JobTicket
from taoloop.core import exact_json
from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.faults import Fault
from taoloop.plan.acting import ActionResult, ActionStatus, Attempt, Body, Breaker, ExecuteRequest, ServedBy
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.signature import Effect, Trust


@dataclass(slots=True, kw_only=True)
class CheckedCall:
    """One request on its way through the stages, refused by none so far; changed by none of them but in a copy."""

    request: ExecuteRequest
    context: CallContext
    tool: CompiledTool
    arguments: dict[str, JsonValue]
    arguments_hash: str
    """SHA-256 of the canonical arguments as they came, before any was sanitised."""
    deadline: Deadline
    """When all attempts, pauses and stand-ins must be over."""
    began: float | None = None
    """When it came, in monotonic seconds; None for a call that is a part of another."""
    stands_in_for: tuple[str, ...] = ()
    """The tools that failed before this one, in order; empty for the tool that was asked for."""
    job: JobTicket | None = None
    """The job that is asked about; None for a new call."""
    sanitised: tuple[str, ...] = ()
    """Pointers of the arguments whose text was made harmless."""

    @property
    def writes(self) -> bool:
        """Whether the call changes something; asking about a job does not, whatever the job does."""
        return self.job is None and self.tool.contract.effect is not Effect.READ


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What came of a call; its fields are those of `ActionResult`, but for `text`.

    Shared once it was returned: change a copy.
    """

    status: ActionStatus
    fault: Fault | None = None
    parsed: Json = ABSENT
    raw: bytes | None = None
    body: Body | None = None
    status_code: int = 0
    response_time_seconds: float | None = None
    attempts: tuple[Attempt, ...] = ()
    served_by: ServedBy | None = None
    served_by_tool: str = ""
    age_seconds: float | None = None
    breaker: Breaker | None = None
    approval_id: str = ""
    approval_expires_at: datetime | None = None
    approval_reason: str = ""
    job_handle: Json = ABSENT
    contract_digest: str = ""
    """Of the contract that was applied; empty for that of the tool that was asked for."""
    trust: Trust | None = None
    """Of what the body holds; None for that of the tool that was asked for."""
    sanitised: tuple[str, ...] = ()
    """Pointers of changed arguments of the tool that answered; empty for those of the call."""
    text: bytes | None = None
    """The body as it was written, which `parsed` was read from; None when it is not at hand. Not in the envelope."""

    @classmethod
    def of(cls, result: ActionResult) -> Outcome:
        """Return the outcome in an envelope, without its ids and its effect."""
        return cls(**{name: getattr(result, name) for name in _FIELDS})

    def packed(self) -> Outcome:
        """Give up what can be made again, and return itself; only for who is sure that nobody else holds it.

        A parsed body takes ten times the memory of its text, and most answers that are kept are never asked for.
        """
        if self.text is not None:
            self.parsed = ABSENT
        return self

    def unpacked(self) -> Outcome:
        """Return the outcome with its parsed body."""
        return self if self.text is None else replace(self, parsed=exact_json.loads(self.text))

    def envelope(self, call: CheckedCall, total_time_seconds: float | None = None) -> ActionResult:
        """Return the outcome in the envelope of its call."""
        request, contract = call.request, call.tool.contract
        return ActionResult(
            run_id=request.run_id,
            thought_id=request.thought_id,
            step_id=request.step_id,
            tool=request.tool,
            contract_digest=self.contract_digest or contract.digest,
            arguments_hash=call.arguments_hash,
            status=self.status,
            parsed=self.parsed,
            raw=self.raw,
            body=self.body,
            status_code=self.status_code,
            response_time_seconds=self.response_time_seconds,
            total_time_seconds=total_time_seconds,
            attempts=self.attempts,
            served_by=self.served_by,
            served_by_tool=self.served_by_tool,
            age_seconds=self.age_seconds,
            breaker=self.breaker,
            approval_id=self.approval_id,
            approval_expires_at=self.approval_expires_at,
            approval_reason=self.approval_reason,
            job_handle=self.job_handle,
            trust=self.trust or contract.trust,
            fault=self.fault,
            sanitised=self.sanitised or call.sanitised,
        )


_FIELDS: Final = tuple(each.name for each in fields(Outcome) if each.name != "text")
