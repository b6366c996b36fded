"""How a run ends or comes to rest, and the events that say so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable, EventTooLarge, TaoError
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.ids import new_id
from taoloop.loop.correction.asking import question, value_at_fault
from taoloop.loop.correction.classes import FaultClass
from taoloop.loop.correction.corrector import Corrected
from taoloop.loop.correction.machine import Reaction, SkipReason, edges_of
from taoloop.loop.correction.wording import tool_name
from taoloop.loop.limits import RunLimits
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.loop.steps.lost_calls import cut_off, unknown_effects
from taoloop.loop.tool_directory import KnownTools
from taoloop.plan.running import EventBody, HandoverRequired, InputRequired, LimitReached, RunFinished
from taoloop.plan.task import InputField, Outcome, Usage
from taoloop.plan.thinking import Answer

# Failures of steps that a limit of the run refused; their field is its name.
_LIMITS: Final = frozenset({FaultCode.LIMIT_REACHED, FaultCode.LOOP_DETECTED})

_ENDS_BADLY: Final = frozenset({Outcome.FAILED, Outcome.LIMIT_REACHED})
_LOOKED_UP: Final = edges_of(FaultClass.EFFECT_UNKNOWN)[0].because

CANCELLED: Final = "The run was cancelled."
"""What is told of a cancelled run where nobody said why."""
_FIRST: Final = (Reaction.HAND_OVER, Reaction.FAIL, Reaction.ASK, Reaction.REPROMPT, Reaction.REPLAN)
"""Of several failures, what is done about one of them goes for all: a person first, another thought last."""


def decisive(chosen: Sequence[Corrected]) -> tuple[Corrected, ...]:
    """Return those of several corrections outside of a plan that are carried out: all of the weightiest kind."""
    kind = min((each.edge.reaction for each in chosen), key=_FIRST.index)
    thinks = kind.thinks_again
    return tuple(each for each in chosen if each.edge.reaction is kind or (thinks and each.edge.reaction.thinks_again))


class RunEnd:
    """Ends one run, or brings it to rest. What it writes stands or falls together.

    Args:
        writer: Where events go.
        limits: The run's limits.
        clock: For the run's duration and new ids.
        is_read: Tells whether a tool is known to change nothing.
    """

    def __init__(self, writer: RunWriter, limits: RunLimits, clock: Clock, is_read: Callable[[str], bool]) -> None:
        self._writer = writer
        self._limits = limits
        self._clock = clock
        self._is_read = is_read

    async def finish(
        self, outcome: Outcome, *before: EventBody, fault: Fault | None = None, spent: Usage | None = None
    ) -> None:
        """Write the last event, with those that lead to it; nothing when the run is at rest already.

        Args:
            outcome: How the run ended.
            before: Events that say why.
            fault: Why it did not answer; see `last_events`.
            spent: What these events consumed.
        """
        await self._writer.settle()  # what is being written may be the run's end already, or the start of a step
        state = self._writer.state
        if state.is_at_rest:
            return
        usage = state.usage.plus(spent) if spent is not None else state.usage
        finished = RunFinished(outcome=outcome, fault=fault, usage=usage)
        await self._writer.emit(*last_events(state, finished, self._is_read, self._clock, *before))

    async def answered(self, answer: Answer) -> None:
        """Answer: the only way to a run that is called answered, unless a person answers in its place."""
        await self.finish(Outcome.ANSWERED, answer, spent=answer.usage)

    async def needs_input(self, input_id: str, fields: tuple[InputField, ...]) -> None:
        """Rest until the user has given values."""
        await self.finish(Outcome.NEEDS_INPUT, InputRequired(input_id=input_id, fields=fields))

    async def still_waits(self) -> bool:
        """Rest again while people are asked for something; return whether they are."""
        outcome, handovers = self._writer.state.waits_for, self._writer.state.waits.open_handovers
        if outcome is not None:
            await self.finish(outcome, fault=handovers[0].fault if handovers else None)
        return outcome is not None

    async def all_doubtful(self, step_ids: tuple[str, ...]) -> None:
        """Give a run over whose every result is doubtful."""
        message = f"Every result that an answer could rest on has a low confidence: {', '.join(step_ids)}."
        fault = Fault(
            code=FaultCode.DECISION_BY_PERSON_NEEDED,
            stage=FaultStage.LOOP,
            message=message,
            suggestion="Look at the results' stages and sources, and decide whether they will do.",
        )
        await self.finish(Outcome.NEEDS_HUMAN, self._handover("", message, fault), fault=fault)

    async def after(self, made: Sequence[Corrected], tools: KnownTools) -> None:
        """End or rest with what corrections of one kind come to: hand over, fail, or ask."""
        events: list[EventBody] = [*self._in_the_way(made), *(each.event for each in made)]
        faults = [each.failure.fault for each in made]
        match made[0].edge.reaction:
            case Reaction.HAND_OVER:
                events += [self._handover(each.failure.step_id, each.edge.because, each.failure.fault) for each in made]
                await self.finish(Outcome.NEEDS_HUMAN, *events, fault=faults[0])
            case Reaction.ASK:
                fields = {(field.tool, field.pointer): field for field in (self._field(each, tools) for each in made)}
                asked = InputRequired(input_id=new_id(self._clock), fields=tuple(fields.values()))
                await self.finish(Outcome.NEEDS_INPUT, *events, asked)
            case _:
                await self._failed(events, faults)

    async def at_limit(self, limit: str, value: float) -> None:
        """End at a limit of the run."""
        fault = Fault(
            code=FaultCode.LIMIT_REACHED,
            stage=FaultStage.LOOP,
            message=f"The run reached its limit {limit} of {value:g}.",
            field=limit,
            suggestion=f"Raise limits.{limit} if the task needs more.",
        )
        await self.finish(Outcome.LIMIT_REACHED, LimitReached(limit=limit, value=value), fault=fault)

    async def late(self, *, by_caller: bool) -> None:
        """End since the time is up: the run's own, or that of its caller."""
        if not by_caller:
            await self.at_limit("max_wall_time", self._limits.max_wall_time_seconds)
            return
        message = "The caller's deadline passed."
        fault = Fault(code=FaultCode.DEADLINE_EXCEEDED, stage=FaultStage.LOOP, message=message)
        await self.finish(Outcome.FAILED, fault=fault)

    async def cancelled(self, reason: str) -> None:
        """End since the run was cancelled; the one await that a cancellation may not cut off.

        Args:
            reason: Why, in the words of whoever cancelled it; empty when nobody said so.
        """
        fault = Fault(code=FaultCode.CANCELLED, stage=FaultStage.LOOP, message=reason or CANCELLED)
        await asyncio.shield(self.finish(Outcome.CANCELLED, fault=fault))

    async def broken(self, error: TaoError, *, by_caller: bool) -> None:
        """End since a service did not serve."""
        if error.code == "DEADLINE_EXCEEDED":
            await self.late(by_caller=by_caller)
        elif isinstance(error, EventTooLarge):
            fault = Fault(
                code=FaultCode.LIMIT_REACHED,
                stage=FaultStage.LOOP,
                message=error.message,
                field="max_event_bytes",
                suggestion="What the step did is not undone. Let its tool return less, or raise the limit.",
            )
            limit = LimitReached(limit=fault.field, value=float(error.limit_bytes))
            await self.finish(Outcome.LIMIT_REACHED, limit, fault=fault)
        else:
            await self.finish(Outcome.FAILED, fault=fault_of(error))

    def _in_the_way(self, made: Sequence[Corrected]) -> list[LimitReached]:
        """Return the limit for which nothing else could be done."""
        reached = self._limits.reached(self._writer.state.usage_of_round, self._writer.state.result_bytes)
        reasons = {skipped.reason for each in made for skipped in each.skipped}
        if reached is None or SkipReason.MAX_ITERATIONS not in reasons:
            return []
        return [LimitReached(limit=reached[0], value=reached[1])]

    async def _failed(self, events: list[EventBody], faults: list[Fault]) -> None:
        limit = next((fault for fault in faults if fault.code in _LIMITS and fault.field), None)
        if limit is not None:
            value = float(getattr(self._limits, limit.field, 0.0))
            events.append(LimitReached(limit=limit.field, value=value))
            await self.finish(Outcome.LIMIT_REACHED, *events, fault=limit)
            return
        outcome = Outcome.NO_TOOL if faults[0].code == FaultCode.NO_TOOL else Outcome.FAILED
        await self.finish(outcome, *events, fault=faults[0])

    def _handover(self, step_id: str, reason: str, fault: Fault) -> HandoverRequired:
        return _handed_over(step_id, reason, fault, self._clock)

    def _field(self, made: Corrected, tools: KnownTools) -> InputField:
        record, fault = made.failure.record, made.failure.fault
        assert record is not None  # only a step's values are asked for
        parameters = tools.parameters(record.tool)
        pointer = value_at_fault(fault, record, parameters)
        is_chinese = self._writer.state.task.locale.lower().startswith("zh")
        called = tool_name(tools.by_name.get(record.tool), record.tool, is_chinese=is_chinese)
        return question(fault, record, parameters, pointer, called, is_chinese=is_chinese)


def last_events(
    state: RunState,
    finished: RunFinished,
    is_read: Callable[[str], bool],
    clock: Clock,
    *before: EventBody,
    at: datetime | None = None,
) -> tuple[EventBody, ...]:
    """Return the events with which a run ends, those of steps that are cut off first.

    A write of which nobody knows whether it took effect goes to a person, whatever else the run would have ended for;
    only a run that was cancelled asks nobody, and says which steps these are.

    Args:
        state: The run as it ends.
        finished: How it would end; the duration is filled in.
        is_read: Tells whether a tool is known to change nothing.
        clock: For the duration and new ids.
        before: Events that say why.
        at: Until when the run worked; None for now.
    """
    finished = replace(finished, duration_seconds=max(0.0, state.seconds_used(at or clock.now())))
    cut = cut_off(state, is_read, finished.fault) if finished.fault is not None else ()
    unknown = unknown_effects(state, cut)
    if unknown and finished.fault is not None and finished.outcome is Outcome.CANCELLED:
        finished = replace(finished, fault=_with_unknown(finished.fault, unknown))
    elif unknown and finished.outcome in _ENDS_BADLY:
        handovers = [_handed_over(step_id, _LOOKED_UP, fault, clock) for step_id, fault in unknown.items()]
        finished = replace(finished, outcome=Outcome.NEEDS_HUMAN, fault=handovers[0].fault)
        return (*cut, *before, *handovers, finished)
    return (*cut, *before, finished)


def _handed_over(step_id: str, reason: str, fault: Fault, clock: Clock) -> HandoverRequired:
    return HandoverRequired(handover_id=new_id(clock), step_id=step_id, reason=reason, fault=fault)


def _with_unknown(fault: Fault, unknown: Mapping[str, Fault]) -> Fault:
    """Return the fault of a cancelled run with the steps of which nobody knows whether they took effect."""
    told = f"{fault.message.rstrip('.')}. Whether these steps took effect is not known: {', '.join(unknown)}."
    return replace(fault, message=told, suggestion=next(iter(unknown.values())).suggestion)


def fault_of(error: TaoError) -> Fault:
    """Return the fault of a run that a service, or the log, did not serve."""
    return Fault(
        code=FaultCode.SERVICE_UNAVAILABLE,
        stage=FaultStage.LOOP,
        message=f"{error.reason}: {error.message}",
        retriable=isinstance(error, BackendUnavailable) or error.retry_after_seconds is not None,
        retry_after_seconds=error.retry_after_seconds,
    )
