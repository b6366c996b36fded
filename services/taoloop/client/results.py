"""What became of a run, as a caller reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from taoloop.core.errors import InternalError
from taoloop.core.faults import Fault
from taoloop.plan.running import ApprovalRequired, HandoverRequired, InputRequired, RunSummary
from taoloop.plan.task import Outcome, Usage
from taoloop.plan.thinking import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Where a run stands that has ended or rests.

    Attributes:
        run_id: The run.
        outcome: How it ended, or what it rests for.
        answer: The answer, when there is one.
        fault: Why there is none, when that is known.
        question: What it asks for; `provide_input` answers it.
        approvals: The steps that wait for leave; `approve` and `reject` decide about each by itself.
        handovers: What persons have to take over.
        usage: What it consumed.
        last_sequence: Number of its last event.
    """

    run_id: str
    outcome: Outcome
    answer: Answer | None = None
    fault: Fault | None = None
    question: InputRequired | None = None
    approvals: tuple[ApprovalRequired, ...] = ()
    handovers: tuple[HandoverRequired, ...] = ()
    usage: Usage = field(default_factory=Usage)
    last_sequence: int = 0

    @classmethod
    def of(cls, summary: RunSummary) -> Self:
        """Return the result of a run that is not being worked on.

        Raises:
            InternalError: It is being worked on.
        """
        if summary.outcome is None:
            raise InternalError(f"Run {summary.run_id} goes on.", metadata={"run_id": summary.run_id})
        return cls(
            run_id=summary.run_id,
            outcome=summary.outcome,
            answer=summary.answer,
            fault=summary.fault,
            question=summary.input_required,
            approvals=summary.approvals_required,
            handovers=summary.handovers_required,
            usage=summary.usage or Usage(),
            last_sequence=summary.last_sequence,
        )

    @property
    def text(self) -> str:
        """The answer's text; empty when there is no answer."""
        return self.answer.text if self.answer is not None else ""

    @property
    def is_answered(self) -> bool:
        """Whether the request was answered."""
        return self.outcome is Outcome.ANSWERED
