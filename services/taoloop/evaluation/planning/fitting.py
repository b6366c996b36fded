"""Fits the graph planner's calibration on generated cases: three logistic models and where their answers count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from taoloop.evaluation.planning.cases import ASK, NONE, PLAN, PlanningCase
from taoloop.evaluation.planning.predicting import predict, request_of, signatures
from taoloop.evaluation.planning.scoring import score
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.planners.graph.calibration.evidence import ArgumentEvidence, FitEvidence, GapEvidence
from taoloop.thought.planners.graph.calibration.model import Calibration, Logistic, calibration_of
from taoloop.thought.planners.graph.chain import Chaining
from taoloop.thought.planners.graph.decide import Ask, Call, argument_evidence, choose, decide, gap_evidence
from taoloop.thought.planners.graph.index import PlannerIndex
from taoloop.thought.planners.graph.view import RequestView, read_request

ROUNDS: Final = 400
RATE: Final = 0.5
PENALTY: Final = 1e-3
"""Weight decay: it keeps a number that says nothing near 0."""

Example = tuple[tuple[float, ...], bool]


@dataclass(frozen=True, slots=True)
class Reading:
    """One case, read once.

    Attributes:
        case: The case.
        view: Its request.
        chaining: What is needed to draft its calls.
    """

    case: PlanningCase
    view: RequestView
    chaining: Chaining


def read_case(case: PlanningCase) -> Reading | None:
    """Read a case; None when its request has no words."""
    request: ThinkRequest = request_of(case)
    view = read_request(request)
    if view is None:
        return None
    index = PlannerIndex(signatures(case.tools))
    return Reading(case, view, Chaining(index, view, 1, frozenset(tool.name for tool in index.tools)))


def fit_example(reading: Reading, calibration: Calibration) -> Example | None:
    """Return what speaks for the best tool of a case, and whether it is the right one; None for a wrong choice."""
    case, chaining = reading.case, reading.chaining
    found = [
        choice
        for clause in reading.view.clauses
        if (choice := choose(chaining, {}, (clause.start, clause.end), (), calibration)) is not None
    ]
    if not found:
        return None
    best = max(found, key=lambda choice: choice.evidence.explained + choice.evidence.named)
    if case.kind == NONE:
        return best.evidence.values(), False
    wanted = {step["tool"] for step in case.expected.get("steps", ())} | {case.expected.get("tool")}
    return (best.evidence.values(), True) if best.tool.name in wanted else None


def decision_examples(reading: Reading, calibration: Calibration) -> tuple[Example | None, Example | None]:
    """Return what speaks for the arguments of a plan and for a gap, and whether either is so, under a calibration."""
    case = reading.case
    verdict = decide(reading.chaining, {}, calibration)
    match verdict:
        case Call(steps=steps, fit=fit):
            is_right = score(case, predict(case).prediction).is_right
            arguments = (argument_evidence(steps, reading.view, fit).values(), is_right) if case.kind == PLAN else None
            gap = gap_evidence(steps[-1].tool, None, reading.view, fit, steps).values()
            return arguments, (gap, case.kind == ASK) if case.kind != NONE else None
        case Ask(missing=missing, fit=fit) if case.kind != NONE:
            draft = reading.chaining.draft(missing.tool, (0, len(reading.view.text)))
            return None, (gap_evidence(missing.tool, draft, reading.view, fit).values(), case.kind == ASK)
        case _:
            return None, None


def logistic(examples: Sequence[Example], count: int, prior: float) -> tuple[float, tuple[float, ...]]:
    """Return bias and weights of a logistic regression, by gradient descent with momentum from zero.

    Args:
        examples: Numbers and truth.
        count: How many numbers an example has.
        prior: What share of the examples counts as true, however many are; 0 to 1.
    """
    true = sum(truth for _, truth in examples)
    shares = {True: prior / max(1, true), False: (1.0 - prior) / max(1, len(examples) - true)}
    weights, bias = [0.0] * count, 0.0
    speed = [0.0] * (count + 1)
    for _ in range(ROUNDS):
        slope = [PENALTY * weight for weight in weights] + [0.0]
        for numbers, truth in examples:
            total = bias + sum(weight * number for weight, number in zip(weights, numbers, strict=True))
            apart = (1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, total)))) - truth) * shares[truth]
            for place, number in enumerate(numbers):
                slope[place] += apart * number
            slope[count] += apart
        speed = [0.9 * before - RATE * now for before, now in zip(speed, slope, strict=True)]
        weights = [weight + step for weight, step in zip(weights, speed[:count], strict=True)]
        bias += speed[count]
    return bias, tuple(weights)


def document_of(
    name: type[FitEvidence | ArgumentEvidence | GapEvidence], examples: Sequence[Example], prior: float
) -> dict[str, Any]:
    """Return one calibration as the data file keeps it."""
    names = [item.name for item in fields(name)]
    bias, weights = logistic(examples, len(names), prior)
    return {
        "bias": round(bias, 4),
        "threshold": 0.5,
        "weights": {name: round(weight, 4) for name, weight in zip(names, weights, strict=True)},
    }


QUESTION_REPEATS: Final = 4
"""How often a case that lacks a value counts, so that there are about as many of them as of plans: else a call that is
not complete would look like one that does not fit."""
FIT_THRESHOLD: Final = 0.45
QUESTION_THRESHOLD: Final = 0.62
FURTHER_THRESHOLD: Final = 0.12
"""A complete call in a clause after another one is seldom an accident."""
SERVED_PRIOR: Final = 0.7
"""What share of requests is taken to have a tool that serves them: fewer than in the generated cases, where requests
and tools share more words than those of strangers do."""


def fit(cases: Sequence[PlanningCase], start: Calibration) -> dict[str, Any]:
    """Return the data file of a calibration that is fitted on cases.

    Args:
        cases: What the weights are fitted on.
        start: The calibration to begin with.
    """
    readings = [reading for case in cases if (reading := read_case(case)) is not None]
    found = [
        example
        for reading in readings
        if (example := fit_example(reading, start)) is not None
        for _ in range(QUESTION_REPEATS if reading.case.kind == ASK else 1)
    ]
    document: dict[str, Any] = {
        "fits": document_of(FitEvidence, found, SERVED_PRIOR) | {"threshold": FIT_THRESHOLD},
        "arguments": document_from(ArgumentEvidence, start.arguments),
        "missing": document_from(GapEvidence, start.missing),
        "question_threshold": QUESTION_THRESHOLD,
        "further_threshold": FURTHER_THRESHOLD,
    }
    pairs = [decision_examples(reading, calibration_of(document)) for reading in readings]
    arguments = [one for one, _ in pairs if one is not None]
    gaps = [two for _, two in pairs if two is not None]
    document["arguments"] = document_of(ArgumentEvidence, arguments, _share(arguments))
    document["missing"] = document_of(GapEvidence, gaps, _share(gaps))
    return document


def document_from(name: type[ArgumentEvidence | GapEvidence], logistic_: Logistic) -> dict[str, Any]:
    """Return a calibration that is there already as the data file keeps it."""
    names = [item.name for item in fields(name)]
    weights = dict(zip(names, logistic_.weights, strict=True))
    return {"bias": logistic_.bias, "threshold": logistic_.threshold, "weights": weights}


def _share(examples: Sequence[Example]) -> float:
    return sum(truth for _, truth in examples) / max(1, len(examples))
