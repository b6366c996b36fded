"""Asks a language model again with the faults of its plan, as often and as late as that is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.core.deadlines import Deadline
from taoloop.core.faults import Fault
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import names
from taoloop.core.telemetry.tracing import current_span
from taoloop.models.ports import ChatMessage, Role
from taoloop.plan.task import Usage
from taoloop.thought.pipeline.asking import Asking, Attempt
from taoloop.thought.pipeline.ports import PlanningModel
from taoloop.thought.pipeline.stages import OK, REFUSED, Stage, Stages
from taoloop.thought.planners.model.prompts import PromptSet, repair_message
from taoloop.thought.planners.model.questions import Question

RETRY_SKIPPED: Final = "retry_skipped_insufficient_deadline"
"""The event of a model that is not asked again for want of time."""
MAX_SAID_CHARACTERS: Final = 4000
"""How much of a refused reply a model is shown again; more than any plan has."""

_log: Final = EventLog(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRules:
    """When a model is asked again.

    Attributes:
        is_on: Whether it is.
        attempts: How often for one thought.
        margin_seconds: What must be left beside the model's own timeout.
        final: Codes of faults about which a model is not asked again.
    """

    is_on: bool = True
    attempts: int = 2
    margin_seconds: float = 0.5
    final: frozenset[str] = frozenset()

    def has_time(self, deadline: Deadline, timeout_seconds: float) -> bool:
        """Tell whether what remains is enough to ask a model with this timeout again."""
        return deadline.remaining_seconds() >= timeout_seconds + self.margin_seconds


@dataclass(frozen=True, slots=True)
class Tried:
    """What one model came to.

    Attributes:
        last: Its last attempt.
        faults: Those of the last plan that it wrote; empty when it wrote none.
        usage: What all its attempts consumed.
    """

    last: Attempt
    faults: tuple[Fault, ...]
    usage: Usage


class Repairing:
    """Asks one model until its plan passes, or until it must not be asked again.

    Args:
        asking: Asks once.
        prompts: What is said about faults.
        rules: When it is asked again.
        stages: Tell of it.
    """

    def __init__(self, asking: Asking, prompts: PromptSet, rules: RepairRules, stages: Stages) -> None:
        self._asking = asking
        self._prompts = prompts
        self._rules = rules
        self._stages = stages
        self._repairs = stages.metrics.counter(names.THOUGHT_REPAIRS)
        self._skipped = stages.metrics.counter(names.THOUGHT_RETRY_SKIPPED)

    @property
    def rules(self) -> RepairRules:
        """When a model is asked again."""
        return self._rules

    async def plan(self, planning: PlanningModel, question: Question, deadline: Deadline) -> Tried:
        """Ask, and ask again while the reply has faults that the model can be told; a failed call is not repeated."""
        attempt = await self._asking.ask(planning, question, deadline)
        usage, faults = attempt.usage, attempt.faults
        said: tuple[ChatMessage, ...] = ()
        while attempt.faults and self._may_repeat(attempt, len(said) // 2, planning, deadline):
            said = (*said, _said(attempt), repair_message(self._prompts, attempt.faults))
            attempt = await self._again(attempt, said, planning, question, deadline)
            usage, faults = usage.plus(attempt.usage), attempt.faults or faults
        return Tried(attempt, faults, usage)

    async def _again(
        self,
        refused: Attempt,
        said: Sequence[ChatMessage],
        planning: PlanningModel,
        question: Question,
        deadline: Deadline,
    ) -> Attempt:
        with self._stages.of(Stage.REPAIR, {names.Attribute.FAULT_CODE: refused.reason}) as run:
            attempt = await self._asking.ask(planning, question, deadline, said)
            run.outcome = OK if attempt.expansion else REFUSED if attempt.faults else attempt.reason
        self._repairs.labels("repaired" if attempt.expansion else run.outcome).inc()
        return attempt

    def _may_repeat(self, refused: Attempt, repairs: int, planning: PlanningModel, deadline: Deadline) -> bool:
        if any(str(fault.code) in self._rules.final for fault in refused.faults):
            return False
        if not self._rules.is_on:
            return self._skip("switched_off", planning, deadline)
        if repairs >= self._rules.attempts:
            return self._skip("attempts", planning, deadline)
        if not self._rules.has_time(deadline, planning.timeout_seconds):
            return self.skip_for_time(planning, deadline)
        return True

    def skip_for_time(self, planning: PlanningModel, deadline: Deadline) -> bool:
        """Tell that a model is not asked since too little time is left."""
        current_span().add_event(RETRY_SKIPPED)
        return self._skip("insufficient_deadline", planning, deadline)

    def _skip(self, reason: str, planning: PlanningModel, deadline: Deadline) -> bool:
        self._skipped.labels(reason).inc()
        event = RETRY_SKIPPED if reason == "insufficient_deadline" else "retry_skipped"
        _log.info(
            event,
            reason=reason,
            rung=planning.rung.value,
            remaining_seconds=round(deadline.remaining_seconds(), 3),
            timeout_seconds=planning.timeout_seconds,
        )
        return False


def _said(refused: Attempt) -> ChatMessage:
    text = refused.said
    return ChatMessage(Role.ASSISTANT, text if len(text) <= MAX_SAID_CHARACTERS else f"{text[:MAX_SAID_CHARACTERS]}…")
