"""Answers that point at results, and when a run has made calls enough to be answered with those that it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue, dumps, equal
from taoloop.plan.thinking import Answer, AnswerOrigin, CompletedStep, Grounding, ThinkRequest


def answer_of(results: Sequence[CompletedStep]) -> Answer:
    """Return the answer that completed steps hold; its text lists what they brought, for whoever reads the thought.

    Args:
        results: The steps, each of which succeeded; what was brought last is the data.
    """
    return Answer(
        text="\n".join(_facts(result) for result in results),
        data=results[-1].exposed if results else ABSENT,
        grounding=tuple(Grounding(text="", step_id=result.step_id, pointer="") for result in results),
        origin=AnswerOrigin.FACTS,
    )


@dataclass(frozen=True, slots=True)
class SummaryRules:
    """When a thought has to do with what is known, so that a run does not go on for its own sake.

    Attributes:
        is_on: Whether one ever has to.
        after_calls: After more calls of tools than this in the run.
    """

    is_on: bool = True
    after_calls: int = 3

    def apply_to(self, request: ThinkRequest) -> bool:
        """Tell whether a thought about the request plans no more calls.

        It needs results to answer with. Calls may still be planned where the run would otherwise stop short of what
        it was about to do: round the first plan that failed, with an answer of the user's that no call has used, and
        after a person let the run go on.
        """
        if not self.is_on or request.step_count <= self.after_calls or request.notes:
            return False
        if not any(step.fault is None for step in request.completed):
            return False
        return not _is_first_failure(request.completed) and not _has_unused_input(request)


def _is_first_failure(completed: Sequence[CompletedStep]) -> bool:
    """Tell whether the latest plan failed, and no plan before it did."""
    failed = {_plan_of(step) for step in completed if step.fault is not None}
    return failed == {_plan_of(completed[-1])}


def _plan_of(step: CompletedStep) -> str:
    """Return what the ids of one plan's steps begin with, `2` of `2.t1`; all ids without a dot count as one plan's."""
    return step.step_id.rpartition(".")[0]


def _has_unused_input(request: ThinkRequest) -> bool:
    used = [leaf for step in request.completed for leaf in _leaves(step.arguments)]
    given = [leaf for answer in request.inputs for leaf in _leaves(answer.values)]
    return any(not any(equal(leaf, value) for value in used) for leaf in given)


def _leaves(value: Json) -> Iterator[JsonValue]:
    if isinstance(value, Absent):
        return
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)
    else:
        yield value


def _facts(result: CompletedStep) -> str:
    if isinstance(result.exposed, Absent):
        return result.tool
    if isinstance(result.exposed, dict):
        return ", ".join(
            f"{name}: {value if isinstance(value, str) else dumps(value)}" for name, value in result.exposed.items()
        )
    return result.exposed if isinstance(result.exposed, str) else dumps(result.exposed)
