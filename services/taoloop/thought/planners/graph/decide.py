"""Decides what a request comes to: calls, a question, a refusal for want of leave, or nothing that is offered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph.calibration.evidence import (
    ArgumentEvidence,
    CallEvidence,
    FitEvidence,
    GapEvidence,
    fit_evidence,
)
from taoloop.thought.planners.graph.calibration.model import Calibration
from taoloop.thought.planners.graph.calls.model import Budget, Draft, Missing, Step
from taoloop.thought.planners.graph.chain import Chaining
from taoloop.thought.planners.graph.index import PlannerIndex, ToolView
from taoloop.thought.planners.graph.language.mentions import MentionKind
from taoloop.thought.planners.graph.language.segment import Clause
from taoloop.thought.planners.graph.language.text import Word
from taoloop.thought.planners.graph.language.vocabulary import CHANGING_WORDS
from taoloop.thought.planners.graph.rank import Intent, Ranked, rank, read_intent
from taoloop.thought.planners.graph.view import Place, RequestView

# Set by hand; what decides between plan, question and refusal is fitted: see `calibration`.
MISSING_FACTOR: Final = 0.4
"""What share of its score a tool loses when none of its required parameters has a value."""
CLEAR_MARGIN: Final = 0.15
"""How much better a forbidden tool must be than the best permitted one to be surely what was asked for."""
WORDLESS_WORTH: Final = 0.2
"""What a tool is worth, beside 1.0 for the best by words, whose values alone speak for it."""
FIT_SHARE: Final = 0.3
"""How much of a tool's worth hangs on its probability of fit."""
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
    arguments: float = 0.0
    missing: float = 0.0


@dataclass(frozen=True, slots=True)
class Ask:
    """The decision to ask for one value."""

    missing: Missing
    fit: float
    margin: float
    gap: float = 0.0


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
class Choice:
    """The tool that a clause asks for.

    Attributes:
        tool: The tool.
        place: The clause.
        fit: Probability that the tool is what the clause asks for.
        margin: How much better than the second tool it is, 0 to 1.
        worth: By what the tools of a clause are compared.
        draft: The call, as far as the clause gives it.
        forbidden: Whether the tool may not be planned with.
        evidence: What speaks for the tool.
    """

    tool: ToolView
    place: Place
    fit: float
    margin: float
    worth: float
    draft: Draft
    forbidden: bool
    evidence: FitEvidence


def decide(chaining: Chaining, blocks: Mapping[str, Block], calibration: Calibration) -> Verdict:
    """Decide on a request.

    Args:
        chaining: The request and the catalogue.
        blocks: The tools that may not be planned with, and why.
        calibration: Turns evidence into probabilities, and says from where on they count.
    """
    choices, best_fit = labelled(chaining, blocks, calibration)
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
            if not draft.bound and choice.fit < calibration.question_threshold:
                return Nothing(choice.fit)
            gap = calibration.missing.probability(gap_evidence(choice.tool, draft, chaining.view, fit).values())
            return Ask(draft.missing[0], choice.fit, choice.margin, gap)
        if not draft.has_room:
            return TooMuch(choice.fit)
        steps = draft.steps
    arguments = calibration.arguments.probability(argument_evidence(steps, chaining.view, fit).values())
    gap = calibration.missing.probability(gap_evidence(steps[-1].tool, None, chaining.view, fit, steps).values())
    return Call(steps, fit, margin, arguments, gap)


def labelled(
    chaining: Chaining, blocks: Mapping[str, Block], calibration: Calibration
) -> tuple[tuple[Choice, ...], float]:
    """Give each clause its tool, and each clause without one to its neighbour; also return the best fit of all."""
    labels: list[tuple[Clause, Choice | None]] = []
    stated: Choice | None = None
    steps: tuple[Step, ...] = ()
    best_fit = 0.0
    for clause in chaining.view.clauses:
        choice = choose(chaining, blocks, (clause.start, clause.end), steps, calibration)
        best_fit = max(best_fit, choice.fit if choice else 0.0)
        if choice is not None and choice.draft.missing and _STATEMENT.match(chaining.view.lowered, *choice.place):
            stated = stated or (choice if choice.fit >= calibration.fits.threshold else None)
            choice = None
        if choice is not None and not _stands_alone(choice, labels, calibration, chaining):
            choice = None
        if choice is not None and not choice.draft.missing:
            steps = choice.draft.steps
        labels.append((clause, choice))
    if stated is not None and all(choice is None for _, choice in labels):
        return (replace(stated, place=(labels[0][0].start, labels[-1][0].end)),), best_fit
    return _grouped(labels, chaining), best_fit


_STATEMENT = re.compile(
    r"\s*(?:i|we|my|our|the)\s(?!want|need|would|'d|wish|also)[a-z]+\s|\s*i(?:'m|'ve| am| have)\b|我(?:是|有|今年|家)"
)
_CONTINUED = re.compile(r"\s*and (?:the|a|an|its|their)\s")


def _says_all(choice: Choice) -> bool:
    """Tell whether a clause itself says every required value of its call."""
    return all(
        item.mention is not None and choice.place[0] <= item.mention.start < choice.place[1]
        for item in choice.draft.bound.values()
        if item.slot.is_required
    )


def _stands_alone(
    choice: Choice, labels: list[tuple[Clause, Choice | None]], calibration: Calibration, chaining: Chaining
) -> bool:
    """Tell whether a clause is a request of its own; one that follows another and is complete needs to fit less."""
    text = chaining.view.lowered[choice.place[0] : choice.place[1]]
    previous = next((before for _, before in reversed(labels) if before is not None), None)
    if previous is not None and previous.tool is choice.tool and _CONTINUED.match(text) and not _says_all(choice):
        return False
    if all(before is None for _, before in labels):
        return choice.fit >= (calibration.question_threshold if choice.draft.missing else calibration.fits.threshold)
    if choice.draft.missing:
        return choice.fit >= max(calibration.question_threshold, calibration.fits.threshold)
    return choice.fit >= calibration.further_threshold


def _grouped(labels: list[tuple[Clause, Choice | None]], chaining: Chaining) -> tuple[Choice, ...]:
    groups: list[Choice] = []
    begin = labels[0][0].start if labels else 0
    for clause, choice in labels:
        if choice is None or (groups and _adds_nothing(choice, groups[-1], chaining)):
            if groups:
                groups[-1] = replace(groups[-1], place=(groups[-1].place[0], clause.end))
            continue
        start = clause.start if groups else begin
        groups.append(replace(choice, place=(start, clause.end)))
    return tuple(groups)


def _adds_nothing(choice: Choice, before: Choice, chaining: Chaining) -> bool:
    """Tell whether a further clause only goes on about the call before it."""
    if choice.tool is not before.tool:
        return False
    whole = chaining.draft(before.tool, before.place)
    if whole.missing or choice.draft.missing:
        return True
    said = {
        pointer
        for pointer, item in choice.draft.bound.items()
        if item.mention is not None and item.mention.start >= choice.place[0]
    }
    alone = whole.bound
    return not any(pointer in alone and alone[pointer].mention is not None for pointer in said)


def choose(
    chaining: Chaining, blocks: Mapping[str, Block], place: Place, steps: tuple[Step, ...], calibration: Calibration
) -> Choice | None:
    """Return the tool that a clause asks for: the best by words and by how much of its call is known."""
    intent, verbs = read_intent(chaining.view.plain_text(place))
    ranked = rank(chaining.index, chaining.view.words_in(place), intent, verbs)[:COMPARED_TOOLS]
    if len(chaining.index.tools) <= COMPARED_TOOLS:
        ranked = (*ranked, *_wordless(chaining.index, ranked, intent))
    if not ranked:
        return None
    top = ranked[0].score or 1.0
    weighed = sorted(
        (_weighed(chaining, item, place, steps, top, calibration) for item in ranked), key=lambda choice: -choice.worth
    )
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


def _wordless(index: PlannerIndex, ranked: tuple[Ranked, ...], intent: Intent) -> Iterator[Ranked]:
    """Yield the tools of a small catalogue that share no word with the clause: the values may speak for one."""
    known = {item.tool.name for item in ranked}
    for tool in index.tools:
        if tool.name not in known and not (tool.is_writing and intent is Intent.READ):
            yield Ranked(tool, 0.0, 0.0, 1.0)


def _asks_for_another_change(verbs: frozenset[str], tool: ToolView) -> bool:
    """Tell whether the clause asks for a change that the tool does not make: to look something up is no answer."""
    return bool(verbs & CHANGING_WORDS) and not tool.is_writing and not verbs & tool.writing_words


def _weighed(
    chaining: Chaining, ranked: Ranked, place: Place, steps: tuple[Step, ...], top: float, calibration: Calibration
) -> Choice:
    draft = chaining.draft(ranked.tool, place, steps)
    filled = draft.fill_rate(ranked.tool)
    known = 1.0 - MISSING_FACTOR * (1.0 - filled)
    subject = _subject_words(ranked.tool, draft, chaining.view, place)
    evidence = fit_evidence(
        chaining.index, ranked.tool, subject, _call_evidence(ranked.tool, draft, steps, place, chaining.view)
    )
    fit = calibration.fits.probability(evidence.values()) * ranked.factor
    worth = max(ranked.score / top, WORDLESS_WORTH) * known * (1.0 - FIT_SHARE + FIT_SHARE * fit)
    return Choice(ranked.tool, place, fit, 0.0, worth, draft, forbidden=False, evidence=evidence)


def _call_evidence(
    tool: ToolView, draft: Draft, before: tuple[Step, ...], place: Place, view: RequestView
) -> CallEvidence:
    """Return what speaks for a tool in the arguments that a clause gives it, and to the calls that feed it."""
    required = [slot.pointer for slot in tool.slots if slot.is_required]
    scores = [min(1.0, draft.bound[pointer].score) if pointer in draft.bound else 0.0 for pointer in required]
    known = {step.step_id for step in before}
    feeding = [item for step in draft.steps if step.step_id not in known for item in step.bound.values()]
    taken = [item.mention for item in (*draft.bound.values(), *feeding) if item.mention is not None]
    values = [mention for mention in view.mentions_in(place) if mention.kind not in _NO_VALUES]
    used = sum(any(m.start < other.end and other.start < m.end for other in taken) for m in values)
    return CallEvidence(
        filled=draft.fill_rate(tool),
        strong=sum(scores) / len(scores) if scores else 0.5,
        covered=used / len(values) if values else 0.5,
        many=1.0 - 1.0 / (1.0 + len(taken)),
        odd=float(_ODD.match(view.lowered, *place) is not None),
    )


_ODD = re.compile(
    r"\s*(?:(?:and|also|then|so)\s+)?(?:who|why|whose|should|is it|how (?:do|can|should|would) i"
    r"|how to|tell me (?:who|why))\b"
    r"|[^，。]{0,12}(?:为什么|谁|怎么写|应该)"
)
_NO_VALUES: Final = frozenset({MentionKind.STATED, MentionKind.FLAG})


def _subject_words(tool: ToolView, draft: Draft, view: RequestView, place: Place) -> tuple[Word, ...]:
    """Return the words of a clause that say what it is about: values, and names that the tool does not know, do not."""
    names = [mention for mention in view.mentions_in(place) if mention.kind in _NAMES]
    names += [item.mention for item in draft.bound.values() if item.mention is not None]
    return tuple(
        word
        for word in view.words_in(place)
        if word.key in tool.terms or not any(name.start <= word.start and word.end <= name.end for name in names)
    )


_NAMES: Final = frozenset({MentionKind.NAME, MentionKind.PLACE, MentionKind.PERSON, MentionKind.COUNTED})


def argument_evidence(steps: tuple[Step, ...], view: RequestView, fit: float) -> ArgumentEvidence:
    """Return what speaks for the arguments of a plan."""
    scores = [item.score for step in steps for item in step.bound.values() if item.mention is not None]
    return ArgumentEvidence(
        weakest=min(1.0, min(scores, default=0.5)),
        mean=min(1.0, sum(scores) / len(scores) if scores else 0.5),
        unused=_unused(steps, view),
        fit=fit,
        single=float(len(steps) == 1),
        few=1.0 / (1.0 + len(scores)),
        chinese=float(view.is_chinese),
    )


def gap_evidence(
    tool: ToolView, draft: Draft | None, view: RequestView, fit: float, steps: tuple[Step, ...] = ()
) -> GapEvidence:
    """Return what speaks for a value being missing, in a call that is incomplete or in a whole plan."""
    bound = list(draft.bound.values()) if draft else [item for step in steps for item in step.bound.values()]
    scores = [item.score for item in bound if item.mention is not None]
    return GapEvidence(
        open=1.0 - draft.fill_rate(tool) if draft else 0.0,
        refused=float(draft is not None and any(item.reason is not InputReason.MISSING for item in draft.missing)),
        weakest=min(1.0, min(scores, default=0.0)),
        unused=_unused(steps, view),
        fit=fit,
    )


def _unused(steps: tuple[Step, ...], view: RequestView) -> float:
    """Return the share of the typed mentions that no argument covers."""
    typed = [mention for mention in view.mentions if mention.kind is not MentionKind.STATED]
    taken = [item.mention for step in steps for item in step.bound.values() if item.mention is not None]
    free = [m for m in typed if not any(m.start < other.end and other.start < m.end for other in taken)]
    return len(free) / len(typed) if typed else 0.0
