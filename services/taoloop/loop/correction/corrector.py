"""Corrects the failures of one plan or thought: chooses by the machine, tells what is done, and does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from taoloop.core.clock import Clock
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics
from taoloop.loop.correction.failure import Failure, Situation
from taoloop.loop.correction.finding import doubtful_steps, failed_steps
from taoloop.loop.correction.machine import Edge, Reaction, Skipped, SkipReason, choose
from taoloop.loop.correction.progress import second_of
from taoloop.loop.correction.second_source import preferred, second_step, verdict
from taoloop.loop.correction.settings import CorrectionRules
from taoloop.loop.correction.wording import tool_name, user_message
from taoloop.loop.runlog.writer import RunWriter
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.running import CorrectionMade, ResultObserved

RETRY_SKIPPED: Final = "retry_skipped_insufficient_deadline"
"""The event of a reaction that is not taken for want of time."""

_log: Final = EventLog(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionServices:
    """What corrections need of the world.

    Attributes:
        rules: What holds for every correction.
        random: Draws the pauses.
        metrics: Counts; in vain when left out.
    """

    rules: CorrectionRules = field(default_factory=CorrectionRules)
    random: Random = field(default_factory=Random)
    metrics: Metrics = field(default_factory=Metrics)


@dataclass(frozen=True, slots=True)
class Corrected:
    """A failure and what is done about it, not yet written.

    Attributes:
        failure: The failure.
        edge: What is done.
        event: The same as the event that tells it.
        skipped: What would have been done with more time, thoughts or leave.
    """

    failure: Failure
    edge: Edge
    event: CorrectionMade
    skipped: tuple[Skipped, ...]


class Corrector:
    """Corrects failures of one run.

    Args:
        services: Rules, chance and counters.
        writer: Where events go.
        situation: Where the run stands.
        clock: Makes the pauses.
    """

    def __init__(self, services: CorrectionServices, writer: RunWriter, situation: Situation, clock: Clock) -> None:
        self._services = services
        self._writer = writer
        self._situation = situation
        self._clock = clock

    async def ask_second_sources(self, plan: ThoughtPlan, run: Callable[[PlanStep], Awaitable[None]]) -> None:
        """Ask the other sources that corrections have announced, and write what holds then.

        A source that may be asked only with a person's leave is waited for.

        Args:
            plan: The plan that goes on.
            run: Runs one step.
        """
        for step_id, reaction in self._writer.state.corrections.open_comparisons.items():
            step = next((step for step in plan.steps if step.step_id == step_id), None)
            if step is None:
                continue
            record, second = self._writer.state.steps[step_id], self._writer.state.steps.get(second_of(step_id))
            # Another host may have begun to ask, or even have got the result.
            tool = self._situation.other_source(record) if second is None else second.tool
            if tool and (second is None or not (second.is_done or second.is_waiting)):
                await run(second_step(step, tool, self._situation.tools.parameters(tool)))
                second = self._writer.state.steps.get(second_of(step_id))
            if second is None or not second.is_waiting:
                await self._writer.emit(ResultObserved(result=verdict(record, second, reaction)))

    async def correct(self, plan: ThoughtPlan) -> tuple[Corrected, ...] | None:
        """React to what failed in a plan whose steps have run.

        Returns:
            Empty when nothing stands in the way of an answer; None when the plan goes on after what was done; else what
            has to be done outside of the plan, chosen and not yet written.
        """
        chosen = self.chosen(failed_steps(self._situation, plan))
        if not chosen:
            # What nobody can be asked about ends at the answer, which a person gives then.
            chosen = tuple(each for each in self.chosen(doubtful_steps(self._situation, plan)) if _goes_on(each))
        inside = [each for each in chosen if _goes_on(each)]
        if inside:
            await self._act(inside)
            return None
        return chosen

    def chosen(self, found: Iterable[Failure]) -> tuple[Corrected, ...]:
        """Return what is done about each failure."""
        return tuple(self._choose(failure) for failure in found)

    def report(self, made: Sequence[Corrected]) -> None:
        """Tell operators of corrections that were written."""
        counter = self._services.metrics.counter(names.CORRECTIONS)
        for each in made:
            self._note_skipped(each)
            counter.labels(fault_class=each.edge.kind.value, reaction=each.edge.reaction.value).inc()
            # A failure that passes by itself is the operator's to look at, and the user's to wait for.
            write = _log.warning if each.edge.is_transient or each.edge.reaction in _ENDS else _log.info
            write(
                "failure_corrected",
                step_id=each.failure.step_id,
                tool=each.failure.tool,
                code=str(each.failure.fault.code),
                fault_class=each.edge.kind.value,
                state=each.event.state,
                reaction=each.edge.reaction.value,
                is_transient=each.edge.is_transient,
            )

    def _choose(self, failure: Failure) -> Corrected:
        choice = choose(
            failure.kind,
            failure.state,
            self._situation.needs_met(failure),
            switched_off=self._services.rules.switched_off,
            is_optional=failure.is_optional,
        )
        return Corrected(failure, choice.edge, self._event(failure, choice.edge), choice.skipped)

    def _event(self, failure: Failure, edge: Edge) -> CorrectionMade:
        state = self._writer.state
        is_chinese = state.task.locale.lower().startswith("zh")
        return CorrectionMade(
            fault=failure.fault,
            reaction=edge.reaction.value,
            is_transient=edge.is_transient,
            is_retry_useful=edge.is_retry_useful,
            is_told_to_user=edge.is_told,
            message=edge.because,
            user_message=user_message(
                edge,
                failure.fault,
                tool_name(self._situation.tools.by_name.get(failure.tool), failure.tool, is_chinese=is_chinese),
                is_chinese=is_chinese,
                is_untouched=not self._situation.has_acted(),
            ),
            step_id=failure.step_id,
            tool=failure.tool,
            state=failure.state.word,
            attempt=state.corrections.attempts(failure.step_id) + 1,
            fault_class=edge.kind.value,
        )

    def _note_skipped(self, made: Corrected) -> None:
        counter = self._services.metrics.counter(names.CORRECTIONS_SKIPPED)
        for skipped in made.skipped:
            counter.labels(reaction=skipped.reaction.value, reason=skipped.reason.value).inc()
            is_late = skipped.reason is SkipReason.INSUFFICIENT_DEADLINE
            _log.info(
                RETRY_SKIPPED if is_late else "correction_skipped",
                step_id=made.failure.step_id,
                reaction=skipped.reaction.value,
                reason=skipped.reason.value,
                remaining_seconds=round(self._situation.deadline.remaining_seconds(), 3),
            )

    async def _act(self, made: Sequence[Corrected]) -> None:
        """Write corrections inside of the plan; what the plan does next follows from the run's state."""
        events: list[CorrectionMade | ResultObserved] = []
        for each in made:
            events.append(each.event)
            record = each.failure.record
            if each.edge.reaction is Reaction.PREFER and record is not None:
                second = self._writer.state.steps[second_of(record.step_id)]
                events.append(ResultObserved(result=preferred(record, second, each.failure.fault.message)))
        await self._writer.emit(*events)
        self.report(made)
        if any(each.edge.reaction is Reaction.RETRY for each in made):
            rules = self._services.rules
            await self._clock.sleep(self._services.random.uniform(rules.min_pause_seconds, rules.max_pause_seconds))


_ENDS: Final = frozenset({Reaction.FAIL, Reaction.HAND_OVER})


def _goes_on(made: Corrected) -> bool:
    return made.edge.reaction.is_in_plan or made.edge.reaction is Reaction.LEAVE_OUT
