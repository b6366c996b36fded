"""Decides what a request comes to: calls, a question, a refusal for want of leave, or nothing that is offered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from taoloop.thought.planners.graph.chain import Budget, Chaining, Draft, Missing, Step
from taoloop.thought.planners.graph.index import ToolView
from taoloop.thought.planners.graph.language.segment import Clause
from taoloop.thought.planners.graph.language.vocabulary import CHANGING_WORDS
from taoloop.thought.planners.graph.rank import Intent, Ranked, rank, read_intent
from taoloop.thought.planners.graph.view import Place

# Set by hand on the example tasks; to be fitted on generated data.
MINIMUM_FIT: Final = 0.3
"""Below this share of its words explained, an English clause asks for nothing that is offered."""
MINIMUM_FIT_CHINESE: Final = 0.25
"""The same for Chinese, where pairs across word borders explain nothing."""
QUESTION_FIT: Final = 0.45
"""A question whose call would have no argument yet is put only from this fit on: below it, it would be a guess."""
FURTHER_FIT: Final = 0.5
"""Of several clauses, one whose call lacks a value counts as a request of its own only from this fit on."""
MISSING_FACTOR: Final = 0.4
"""What share of its score a tool loses when none of its required parameters has a value."""
CLEAR_MARGIN: Final = 0.15
"""How much better a forbidden tool must be than the best permitted one to be surely what was asked for."""
COMPARED_TOOLS: Final = 5
"""How many of the ranked tools are filled to be compared."""


class Block(StrEnum):
    """Why a tool may not be planned with."""

    EFFECT = "effect"
    NOT_LISTED = "not_listed"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Call:
    """The decision to call tools."""

    steps: tuple[Step, ...]
    fit: float
    margin: float


@dataclass(frozen=True, slots=True)
class Ask:
    """The decision to ask for one value."""

    missing: Missing
    fit: float
    margin: float


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The decision to refuse: a tool serves the request and may not be used."""

    tool: ToolView
    block: Block
    fit: float


@dataclass(frozen=True, slots=True)
class Nothing:
    """The decision that no tool serves the request."""

    fit: float


@dataclass(frozen=True, slots=True)
class TooMuch:
    """The decision that the request needs more calls than one plan may have."""

    fit: float


Verdict = Call | Ask | Forbidden | Nothing | TooMuch


@dataclass(frozen=True, slots=True)
class _Choice:
    """The tool that a clause asks for."""

    tool: ToolView
    place: Place
    fit: float
    margin: float
    worth: float
    draft: Draft
    forbidden: bool


def decide(chaining: Chaining, blocks: Mapping[str, Block]) -> Verdict:
    """Decide on a request.

    Args:
        chaining: The request and the catalogue.
        blocks: The tools that may not be planned with, and why.
    """
    choices, best_fit = _labelled(chaining, blocks)
    if not choices:
        return Nothing(best_fit)
    chaining = replace(chaining, budget=Budget())  # what comparing the tools cost is no reason to find less now
    steps: tuple[Step, ...] = ()
    fit, margin = min(choice.fit for choice in choices), min(choice.margin for choice in choices)
    for choice in choices:
        if choice.forbidden:
            return Forbidden(choice.tool, blocks[choice.tool.name], choice.fit)
        draft = chaining.draft(choice.tool, choice.place, steps)
        if draft.missing:
            if not draft.bound and choice.fit < QUESTION_FIT:
                return Nothing(choice.fit)
            return Ask(draft.missing[0], choice.fit, choice.margin)
        if not draft.has_room:
            return TooMuch(choice.fit)
        steps = draft.steps
    return Call(steps, fit, margin)


def _labelled(chaining: Chaining, blocks: Mapping[str, Block]) -> tuple[tuple[_Choice, ...], float]:
    """Give each clause its tool, and each clause without one to its neighbour."""
    minimum = MINIMUM_FIT_CHINESE if chaining.view.is_chinese else MINIMUM_FIT
    labels: list[tuple[Clause, _Choice | None]] = []
    steps: tuple[Step, ...] = ()
    best_fit = 0.0
    for clause in chaining.view.clauses:
        choice = _choice(chaining, blocks, (clause.start, clause.end), steps)
        best_fit = max(best_fit, choice.fit if choice else 0.0)
        if choice is not None and choice.fit < minimum:
            choice = None
        if choice is not None and not choice.draft.missing:
            steps = choice.draft.steps
        labels.append((clause, choice))
    if sum(choice is not None for _, choice in labels) > 1:
        labels = [(clause, choice if _stands_alone(choice) else None) for clause, choice in labels]
    return _grouped(labels, chaining), best_fit


def _stands_alone(choice: _Choice | None) -> bool:
    return choice is not None and (not choice.draft.missing or choice.fit >= FURTHER_FIT)


def _grouped(labels: list[tuple[Clause, _Choice | None]], chaining: Chaining) -> tuple[_Choice, ...]:
    groups: list[_Choice] = []
    begin = labels[0][0].start if labels else 0
    for clause, choice in labels:
        if choice is None or (groups and _adds_nothing(choice, groups[-1], chaining)):
            if groups:
                groups[-1] = replace(groups[-1], place=(groups[-1].place[0], clause.end))
            continue
        start = clause.start if groups else begin
        groups.append(replace(choice, place=(start, clause.end)))
    return tuple(groups)


def _adds_nothing(choice: _Choice, before: _Choice, chaining: Chaining) -> bool:
    """Tell whether a further clause only goes on about the call before it."""
    if choice.tool is not before.tool:
        return False
    said = {pointer for pointer, item in choice.draft.bound.items() if item.mention is not None}
    alone = chaining.draft(before.tool, before.place).bound
    return not any(pointer in alone and alone[pointer].mention is not None for pointer in said)


def _choice(chaining: Chaining, blocks: Mapping[str, Block], place: Place, steps: tuple[Step, ...]) -> _Choice | None:
    """Return the tool that a clause asks for: the best by words and by how much of its call is known."""
    intent, verbs = read_intent(chaining.view.plain_text(place))
    ranked = rank(chaining.index, chaining.view.words_in(place), intent, verbs)[:COMPARED_TOOLS]
    if not ranked:
        return None
    top = ranked[0].score or 1.0
    weighed = sorted((_weighed(chaining, item, place, steps, top) for item in ranked), key=lambda choice: -choice.worth)
    permitted = [choice for choice in weighed if choice.tool.name not in blocks]
    best = weighed[0]
    if best.tool.name in blocks:
        is_clear = not permitted or best.worth - permitted[0].worth >= CLEAR_MARGIN
        if is_clear or (intent is Intent.WRITE and best.tool.is_writing):
            return replace(best, forbidden=True)
        weighed = permitted
    if _asks_for_another_change(verbs, weighed[0].tool):
        return None
    margin = weighed[0].worth - (weighed[1].worth if len(weighed) > 1 else 0.0)
    return replace(weighed[0], margin=max(0.0, min(1.0, margin)))


def _asks_for_another_change(verbs: frozenset[str], tool: ToolView) -> bool:
    """Tell whether the clause asks for a change that the tool does not make: to look something up is no answer."""
    return bool(verbs & CHANGING_WORDS) and not tool.is_writing and not verbs & tool.writing_words


def _weighed(chaining: Chaining, ranked: Ranked, place: Place, steps: tuple[Step, ...], top: float) -> _Choice:
    draft = chaining.draft(ranked.tool, place, steps)
    known = 1.0 - MISSING_FACTOR * (1.0 - draft.fill_rate(ranked.tool))
    worth = ranked.score / top * known
    return _Choice(ranked.tool, place, ranked.fit, 0.0, worth, draft, forbidden=False)
