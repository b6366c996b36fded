"""A failure as the corrections see it, and what holds for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import Absent
from taoloop.core.faults import Fault, FaultCode
from taoloop.loop.correction.asking import candidates_of, value_at_fault
from taoloop.loop.correction.classes import FaultClass
from taoloop.loop.correction.fixing import is_fixable, reading_at, readings
from taoloop.loop.correction.machine import Need, State
from taoloop.loop.correction.progress import second_of
from taoloop.loop.correction.settings import CorrectionRules
from taoloop.loop.limits import RunLimits
from taoloop.loop.state import RunState
from taoloop.loop.steps.step_record import MAY_HAVE_ACTED, StepRecord
from taoloop.loop.tool_directory import KnownTools
from taoloop.plan.flow.fan_out import planned_step_id
from taoloop.plan.observing import ConfidenceLevel
from taoloop.plan.task import Permissions
from taoloop.tools.signature import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failure.

    Attributes:
        fault: What went wrong.
        kind: What kind of failure that is.
        state: Where its correction stands.
        step_id: The step that failed; empty when it was a thought.
        tool: Its tool; empty when it was a thought.
        record: What is known of the step; None when it was a thought.
        is_optional: Whether the plan goes on without the step.
        is_escalated: Whether the planner itself wants a person.
        is_news: Whether the next thought would learn of it.
    """

    fault: Fault
    kind: FaultClass
    state: State
    step_id: str = ""
    tool: str = ""
    record: StepRecord | None = None
    is_optional: bool = False
    is_escalated: bool = False
    is_news: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Where a run stands when it fails.

    Attributes:
        run: The run so far.
        tools: The tools as the executor lists them.
        limits: The run's limits.
        deadline: When the run's time is up, on the monotonic clock.
        rules: What holds for every correction.
    """

    run: RunState
    tools: KnownTools
    limits: RunLimits
    deadline: Deadline
    rules: CorrectionRules

    def needs_met(self, failure: Failure) -> frozenset[Need]:
        """Return what holds for a failure."""
        met = {
            Need.TIME: self._has_time(),
            Need.THOUGHT_TIME: self._has_thought_time(),
            Need.ITERATIONS: self.limits.reached(self.run.usage_of_round, self.run.result_bytes) is None,
            Need.NEXT_ROUND: self.limits.reached_for_good(self.run.usage, self.run.result_bytes) is None,
            Need.RETRIABLE: failure.fault.retriable,
            Need.NEWS: failure.is_news,
            Need.MODEL: self._is_by_model(),
            Need.ESCALATED: failure.is_escalated,
        }
        if failure.record is not None:
            met |= self._of_step(failure, failure.record)
        return frozenset(need for need, holds in met.items() if holds)

    def may_have_acted(self, record: StepRecord) -> bool:
        """Tell whether a step's call may have changed something."""
        actions = [each.action for each in self._calls(record) if each.action is not None]
        acted = [action for action in actions if action.status in MAY_HAVE_ACTED]
        return any(action.effect_id for action in acted) or (bool(acted) and self.writes(record.tool))

    def has_acted(self) -> bool:
        """Tell whether any call of the run may have changed something."""
        return any(self.may_have_acted(record) for record in self.run.steps.values())

    def writes(self, tool: str) -> bool:
        """Tell whether a tool is known to change something."""
        summary = self.tools.by_name.get(tool)
        return summary is not None and summary.effect is not Effect.READ

    def other_source(self, record: StepRecord) -> str:
        """Return the tool that gives the same facts as a step's own and was not asked yet; empty for none."""
        summary = self.tools.by_name.get(record.tool)
        if summary is None or not summary.fallback_tool or summary.effect is not Effect.READ:
            return ""
        name = summary.fallback_tool
        other = self.tools.by_name.get(name)
        if other is None or other.effect is not Effect.READ:
            return ""
        is_down = other.availability is not None and not other.availability.available
        allowed = (self.run.task.permissions or Permissions()).allowed_tools
        has_served = record.action is not None and record.action.served_by_tool == name
        is_item = record.step is None or record.step.for_each is not None
        if is_down or has_served or is_item or (allowed and name not in allowed):
            return ""
        return "" if second_of(record.step_id) in self.run.steps else name

    def _of_step(self, failure: Failure, record: StepRecord) -> dict[Need, bool]:
        place = value_at_fault(failure.fault, record, self.tools.parameters(record.tool))
        calls = self._calls(record)
        made = self.run.calls_per_tool.get(record.tool, 0)
        return {
            Need.CALLS: made + len(calls) <= self.limits.max_calls_per_tool,
            Need.FIRST_ATTEMPT: bool(calls) and all(_is_one_attempt(each) for each in calls),
            Need.FIXABLE: self._is_fixable(failure.fault, record),
            Need.ASKABLE: bool(place),
            Need.CANDIDATES: bool(place)
            and bool(candidates_of(failure.fault, record, self.tools.parameters(record.tool), place)),
            Need.OTHER_SOURCE: bool(self.other_source(record)),
            Need.SURE_SOURCE: failure.fault.code == FaultCode.SOURCES_DISAGREE and self._is_second_sure(record),
            Need.WRITE: self.writes(record.tool),
            Need.PARTLY_WRITTEN: self.writes(record.tool) and any(each.has_succeeded for each in self._items(record)),
        }

    def _calls(self, record: StepRecord) -> list[StepRecord]:
        """Return the calls by which a step failed: its own, or those of its items that failed."""
        if record.step is None or record.step.for_each is None:
            return [record]
        return [each for each in self._items(record) if not each.has_succeeded]

    def _items(self, record: StepRecord) -> Iterator[StepRecord]:
        return (each for each in self.run.steps.values() if planned_step_id(each.step_id) == record.step_id)

    def _is_fixable(self, fault: Fault, record: StepRecord) -> bool:
        schema = self.tools.parameters(record.tool).schema
        if isinstance(record.arguments, dict) and record.arguments:
            return is_fixable(readings(record.arguments, schema))
        if isinstance(fault.actual, Absent) or not fault.field.startswith("/"):  # a limit's name is no place
            return False
        found = reading_at(schema, fault.field, fault.actual)
        return found is not None and is_fixable((found,))

    def _is_second_sure(self, record: StepRecord) -> bool:
        second = self.run.steps.get(second_of(record.step_id))
        return (
            second is not None
            and second.has_succeeded
            and second.observation is not None
            and second.observation.confidence_level is ConfidenceLevel.HIGH
        )

    def _has_time(self) -> bool:
        return self.deadline.remaining_seconds() > self.rules.max_pause_seconds + self.rules.call_seconds

    def _has_thought_time(self) -> bool:
        model_seconds = self.rules.model_timeout_seconds if self.run.usage.model_calls else 0.0
        return self.deadline.remaining_seconds() >= model_seconds + self.rules.margin_seconds

    def _is_by_model(self) -> bool:
        thought = self.run.thought
        if thought is None:
            return False
        return thought.planner.startswith("model") or bool(thought.usage and thought.usage.model_calls)


def _is_one_attempt(record: StepRecord) -> bool:
    return record.action is not None and len(record.action.attempts) <= 1
