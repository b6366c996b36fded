"""How often the graph planner's replies are right from which of its numbers on: what routing's thresholds rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.evaluation.planning.cases import PlanningCase
from taoloop.evaluation.planning.predicting import predict
from taoloop.evaluation.planning.scoring import score
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.thinking import NeedInput, Refusal
from taoloop.thought.planners.graph.planner import PlannerReply

STEPS: Final = tuple(round(0.1 * step, 1) for step in range(10))
"""The thresholds that are tried."""


@dataclass(frozen=True, slots=True)
class TrustRow:
    """What taking the planner's replies of one kind from a threshold on comes to.

    Attributes:
        kind: `plan`, `ask` or `none`.
        number: Which of the planner's numbers is compared: `arguments`, `missing` or `fit`.
        threshold: From where on (for `none`: up to where) a reply is taken.
        replies: How many replies of the kind there are.
        taken: How many of them are taken.
        right: How many of those are right, strictly.
    """

    kind: str
    number: str
    threshold: float
    replies: int
    taken: int
    right: int

    @property
    def precision(self) -> float:
        """Return the share of right replies among those taken, 0 to 1; 0 for none."""
        return self.right / self.taken if self.taken else 0.0

    def as_json(self) -> dict[str, JsonValue]:
        """Return the row as one JSON object."""
        return {
            "kind": self.kind,
            "number": self.number,
            "threshold": self.threshold,
            "replies": self.replies,
            "taken": self.taken,
            "precision": round(self.precision, 3),
        }


_NUMBERS: Final[dict[str, tuple[type, str, Callable[[PlannerReply], float]]]] = {
    "plan": (ThoughtPlan, "arguments", lambda reply: reply.arguments),
    "ask": (NeedInput, "missing", lambda reply: reply.missing),
    "none": (Refusal, "fit", lambda reply: reply.decision.fit),
}


def trust(cases: Iterable[PlanningCase]) -> tuple[TrustRow, ...]:
    """Plan every case and return, for each kind of reply and each threshold, how far the replies can be trusted."""
    judged: list[tuple[PlannerReply, bool]] = []
    for case in cases:
        predicted = predict(case)
        judged.append((predicted.reply, score(case, predicted.prediction).is_right))
    return tuple(
        _row(kind, threshold, [(reply, right) for reply, right in judged if isinstance(reply.outcome, outcome)])
        for kind, (outcome, _, _) in _NUMBERS.items()
        for threshold in STEPS
    )


def _row(kind: str, threshold: float, judged: list[tuple[PlannerReply, bool]]) -> TrustRow:
    _, name, number = _NUMBERS[kind]
    taken = [
        right
        for reply, right in judged
        if (number(reply) <= threshold if kind == "none" else number(reply) >= threshold)
    ]
    return TrustRow(kind, name, threshold, len(judged), len(taken), sum(taken))
