"""Makes the answer of a run from what its steps brought, or checks the one that a planner made."""

from __future__ import annotations

from taoloop.core.calls import CallContext
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.answering.facts import compose
from taoloop.loop.state import RunState
from taoloop.loop.tool_directory import KnownTools
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.thinking import Answer
from taoloop.tools.schemas import CompiledSchema


class Answerer:
    """Answers in the user's language and, where the task has an output schema, in its form."""

    async def of_plan(self, state: RunState, plan: ThoughtPlan, tools: KnownTools, call: CallContext) -> Answer | Fault:
        """Return the answer to a plan whose steps have run, or why there is none."""
        del call
        return _fitting(compose(plan, state.steps, tools.templates(), state.task.locale), state)

    async def of_planner(self, state: RunState, answer: Answer, tools: KnownTools, call: CallContext) -> Answer | Fault:
        """Return what a planner answered as it may leave, or why it may not."""
        del tools, call
        return _fitting(answer, state)


def _fitting(answer: Answer, state: RunState) -> Answer | Fault:
    schema = state.task.output_schema
    data = None if answer.data is ABSENT else answer.data
    violations = CompiledSchema.compile(schema).violations(data) if isinstance(schema, dict) else ()
    if not violations:
        return answer
    first = violations[0]
    return Fault(
        code=FaultCode.SCHEMA_VIOLATION,
        stage=FaultStage.ANSWER,
        message=f"The answer's data does not fit the task's output schema: {first.message}",
        field=first.pointer,
        expected=first.expected,
        actual=first.actual,
    )
