"""Approvals that are forgotten with their process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from taoloop.action.errors import UnknownApproval
from taoloop.action.ledger.approvals import (
    STATE_OF,
    ApprovalQuery,
    ApprovalQuestion,
    Decision,
    LeaveLost,
    has_lapsed,
)
from taoloop.action.ledger.effects import EffectIntent
from taoloop.core import exact_json
from taoloop.core.clock import Clock
from taoloop.core.errors import RequestIdReused
from taoloop.core.exact_json import ABSENT
from taoloop.core.ids import new_id
from taoloop.plan.effects import ApprovalDecision, ApprovalRecord, ApprovalState


@dataclass(slots=True)
class StoredApprovals:
    """What several books may share, as several processes share a database."""

    questions: dict[str, ApprovalQuestion] = field(default_factory=dict)
    records: dict[str, ApprovalRecord] = field(default_factory=dict)
    decisions: dict[str, Decision] = field(default_factory=dict)


class InMemoryApprovalBook:
    """An `ApprovalBook` in dictionaries.

    Args:
        clock: Dates the records.
        store: Shared by books that play several processes; a new one by default.
        is_blocking: Tells whether the call with an effect id may have taken effect; by default every call may.
        check_store: Raises while the store is to be down.
    """

    def __init__(
        self,
        clock: Clock,
        store: StoredApprovals | None = None,
        is_blocking: Callable[[str], bool] = lambda _: True,
        check_store: Callable[[], None] = lambda: None,
    ) -> None:
        self._clock = clock
        self._store = StoredApprovals() if store is None else store
        self._is_blocking = is_blocking
        self._check_store = check_store

    async def ask(self, question: ApprovalQuestion) -> ApprovalRecord:
        """Return the approval that stands for the call, or a new one; see `ApprovalBook.ask`."""
        self._check_store()
        self._let_lapse()
        same = [known for known, asked in self._store.questions.items() if _binding(asked) == _binding(question)]
        newest = self._store.records[same[-1]] if same else None
        if newest is not None and (not newest.effect_id or self._is_blocking(newest.effect_id)):
            return newest
        approval = ApprovalRecord(
            approval_id=new_id(self._clock),
            run_id=question.run_id,
            step_id=question.step_id,
            tool=question.tool,
            arguments_hash=question.arguments_hash,
            arguments=exact_json.loads(question.arguments_text) if question.arguments_text else ABSENT,
            state=ApprovalState.OPEN,
            requested_at=self._clock.now(),
            expires_at=self._clock.now() + timedelta(seconds=question.expires_in_seconds),
        )
        self._store.questions[approval.approval_id] = question
        self._store.records[approval.approval_id] = approval
        return approval

    async def decide(self, tenant: str, decision: Decision) -> ApprovalRecord:
        """Record a decision; see `ApprovalBook.decide`."""
        self._check_store()
        self._let_lapse()
        approval = self._store.records.get(decision.approval_id)
        if approval is None or self._store.questions[decision.approval_id].tenant != tenant:
            raise UnknownApproval.of(decision.approval_id)
        self._refuse_reused_id(tenant, decision)
        if not _may_become(approval, decision.decision):
            return approval
        lasts = timedelta(seconds=self._store.questions[decision.approval_id].expires_in_seconds)
        is_approved = decision.decision is ApprovalDecision.APPROVED
        decided = replace(
            approval,
            state=STATE_OF[decision.decision],
            decided_at=self._clock.now(),
            decided_by=decision.decided_by,
            comment=decision.comment,
            expires_at=self._clock.now() + lasts if is_approved else approval.expires_at,
        )
        self._store.decisions[decision.approval_id] = decision
        self._store.records[decision.approval_id] = decided
        return decided

    async def list(self, tenant: str, query: ApprovalQuery) -> tuple[ApprovalRecord, ...]:
        """Return the approvals that the query wants, newest first; see `ApprovalBook.list`."""
        self._check_store()
        self._let_lapse()
        wanted = [
            approval
            for approval_id, approval in sorted(self._store.records.items(), reverse=True)
            if self._store.questions[approval_id].tenant == tenant
            and query.run_id in {"", approval.run_id}
            and query.state in {None, approval.state}
            and query.approval_id in {"", approval_id}
            and (not query.before_approval_id or approval_id < query.before_approval_id)
        ]
        return tuple(wanted[: query.limit])

    def use(self, approval_id: str, effect_id: str, intent: EffectIntent) -> None:
        """Use an approval up for a call.

        Raises:
            LeaveLost: It is not good for this call.
        """
        self._let_lapse()
        approval = self._store.records.get(approval_id)
        if approval is None or approval.state is not ApprovalState.APPROVED or approval.effect_id:
            raise LeaveLost(approval_id)
        asked = self._store.questions[approval_id]
        call = (intent.tenant, intent.run_id, intent.step_id, intent.tool, intent.arguments_hash)
        if _binding(asked) != call:
            raise LeaveLost(approval_id)
        self._store.records[approval_id] = replace(approval, effect_id=effect_id)

    def release(self, effect_id: str) -> None:
        """Make the approval of a call that never left good again."""
        for approval_id, approval in self._store.records.items():
            if approval.effect_id == effect_id:
                self._store.records[approval_id] = replace(approval, effect_id="")

    def _let_lapse(self) -> None:
        for approval_id, approval in self._store.records.items():
            if has_lapsed(approval, self._clock.now()):
                self._store.records[approval_id] = replace(approval, state=ApprovalState.EXPIRED)

    def _refuse_reused_id(self, tenant: str, decision: Decision) -> None:
        for approval_id, earlier in self._store.decisions.items():
            is_same_id = decision.request_id and earlier.request_id == decision.request_id
            is_other = (earlier.approval_id, earlier.decision) != (decision.approval_id, decision.decision)
            if is_same_id and is_other and self._store.questions[approval_id].tenant == tenant:
                raise RequestIdReused.of(decision.request_id)

    def __repr__(self) -> str:
        return f"InMemoryApprovalBook(approvals={len(self._store.records)})"


def _binding(question: ApprovalQuestion) -> tuple[str, str, str, str, str]:
    return question.tenant, question.run_id, question.step_id, question.tool, question.arguments_hash


def _may_become(approval: ApprovalRecord, decision: ApprovalDecision) -> bool:
    if decision is ApprovalDecision.CANCELLED and approval.state is ApprovalState.APPROVED:
        return not approval.effect_id
    return approval.state is ApprovalState.OPEN
