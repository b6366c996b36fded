"""The condition of a step: JsonLogic over earlier results, the session's state and the caller's answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import Absent, Json, JsonEncodeError, JsonValue, dumps, loads
from taoloop.plan.model import InputValue, PlanStep, StatePath, StepOutput
from taoloop.plan.task import ProvidedInput
from taoloop.tools.rules.compiled import CompiledRule, RuleData, RuleOutcome, Verdict

STEPS: Final = "steps"
STATE: Final = "state"
INPUTS: Final = "inputs"
ROOTS: Final = (STEPS, STATE, INPUTS)
"""The names that a condition may read under."""

_MAX_COMPILED: Final = 512

ConditionSource = StepOutput | StatePath | InputValue


class ConditionRefused(ValueError):
    """A condition reads what it may not.

    Attributes:
        candidates: What it may read instead.
    """

    def __init__(self, message: str, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.candidates = candidates


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled condition, and the places that it reads.

    Attributes:
        rule: The rule.
        sources: Where it reads, each once.
    """

    rule: CompiledRule
    sources: tuple[ConditionSource, ...]

    @classmethod
    def of(cls, when: JsonValue, step_ids: Collection[str]) -> Condition:
        """Compile a condition.

        A path is `steps.<id>.<path>`, `state.<path>` or `inputs.<id>.<path>`, written out in the rule: what a step
        waits for must be seen before it runs, so that no path is computed, and no item of a list is looped over.

        Args:
            when: The rule.
            step_ids: The steps that there are; an id may hold one dot, as the separator of paths does.

        Raises:
            RuleRefused: It is no rule.
            ConditionRefused: A path is not written out, or names nothing that a condition may read.
        """
        rule = _compiled(dumps(when))
        if rule.paths is None:
            raise ConditionRefused("The condition computes a path, or loops over items.")
        sources = tuple(dict.fromkeys(_source(path, step_ids) for path in sorted(rule.paths)))
        ids = {source.step_id for source in sources if isinstance(source, StepOutput)}
        hidden = next((each for each in sorted(ids) if "." in each and each.partition(".")[0] in ids), None)
        if hidden is not None:
            raise ConditionRefused(f"The condition reads {hidden!r} and a step whose name is the part before its dot.")
        return cls(rule, sources)

    def judged(self, results: Mapping[str, JsonValue], state: Json, inputs: Sequence[ProvidedInput]) -> RuleOutcome:
        """Judge the condition; never raises.

        Args:
            results: Data of the steps that succeeded, by id.
            state: The session's state.
            inputs: Answers of the caller; of those to one question the last counts.
        """
        steps: dict[str, JsonValue] = {}
        for source in self.sources:
            if isinstance(source, StepOutput) and source.step_id in results:
                _put(steps, source.step_id.split("."), results[source.step_id])
        given = {each.input_id: each.values for each in inputs if not isinstance(each.values, Absent)}
        data: JsonValue = {STEPS: steps, STATE: {} if isinstance(state, Absent) else state, INPUTS: given}
        try:
            return self.rule.verdict(RuleData(data))
        except JsonEncodeError:
            return RuleOutcome(Verdict.ERROR, cause="the data nests too deep for a condition")


def steering_sources(step: PlanStep, step_ids: Collection[str]) -> tuple[ConditionSource, ...]:
    """Return what decides whether and how often a step runs: what its condition reads, and the list that it runs over.

    A condition that is none, which the check refuses, reads nothing.
    """
    items = step.for_each.items if step.for_each is not None else None
    listed = () if items is None else (items,)
    if isinstance(step.when, Absent):
        return listed
    try:
        return (*Condition.of(step.when, step_ids).sources, *listed)
    except ValueError:
        return listed


@lru_cache(maxsize=_MAX_COMPILED)
def _compiled(text: str) -> CompiledRule:
    return CompiledRule.compile(loads(text))


def _source(path: str, step_ids: Collection[str]) -> ConditionSource:
    root, *names = path.split(".")
    if root == STATE:
        return StatePath(pointer=pointers.join(*names))
    if root == INPUTS and names:
        return InputValue(input_id=names[0], pointer=pointers.join(*names[1:]))
    if root == STEPS and names:
        length = 2 if ".".join(names[:2]) in step_ids or names[0] not in step_ids else 1
        return StepOutput(step_id=".".join(names[:length]), pointer=pointers.join(*names[length:]))
    message = f"The condition reads {path!r}, which is no `steps.<id>.<path>`, `state.<path>` or `inputs.<id>.<path>`."
    raise ConditionRefused(message, ROOTS)


def _put(steps: dict[str, JsonValue], names: list[str], data: JsonValue) -> None:
    if len(names) == 1:
        steps[names[0]] = data
        return
    inner = steps.setdefault(names[0], {})
    assert isinstance(inner, dict)  # the condition reads no step whose name is the part before another's dot
    inner[names[1]] = data
