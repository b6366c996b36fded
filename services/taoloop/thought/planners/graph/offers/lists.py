"""Lists in a request: mentions side by side that one list parameter takes together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.thought.planners.graph.candidates import Candidate, candidates
from taoloop.thought.planners.graph.language.described import type_of
from taoloop.thought.planners.graph.language.listings import word_lists
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.text import keys
from taoloop.thought.planners.graph.reading import Reading, read
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import Place, RequestView

MAX_ITEMS: Final = 50
_NEAR: Final = 24
"""How many code points before a list of plain words the words of its parameter are looked for."""
_WORDS_SUIT: Final = 0.15
"""How well plain words suit a list before its parameter is spoken of."""
_LENGTH_BONUS: Final = 0.3
"""What standing in a list adds for a list parameter."""
_JOINTS: Final = frozenset(
    {
        "and",
        "和",
        "与",
        "及",
        "以及",
        "、",
        "，",
        ",",
        ", and",
        "&",
        "/",
        "跟",
        "or",
        ", or",
        "或",
        "还有",
        ";",
        "；",
        "plus",
    }
)
_MARKS: Final = " \t\"'“”‘’「」《》[]()（）"


def list_candidates(slot: Slot, view: RequestView, place: Place) -> Iterator[Candidate]:
    """Yield each run of mentions that the list's items take; a run of one is a list of one."""
    if slot.item is None:
        return
    found, _ = candidates(slot.item, view, place)
    best: dict[int, Candidate] = {}
    for item in found:
        if item.mention.start not in best or item.score > best[item.mention.start].score:
            best[item.mention.start] = item
    runs = list(_runs([best[start] for start in sorted(best)], view.text))
    worded: list[Candidate] = []
    if type_of(slot.item.schema) == "string" and not slot.item.is_telling and all(len(run) < 2 for run in runs):
        worded = list(_lists_of_words(slot, slot.item, view, place))
    yield from worded
    for run in runs:
        if not any(
            _covers(run[0].mention, other.mention) or _covers(other.mention, run[0].mention) for other in worded
        ):
            yield _as_list(slot, run, view.text)


def _covers(one: Mention, other: Mention) -> bool:
    return one.start <= other.start and other.end <= one.end


def _lists_of_words(slot: Slot, item: Slot, view: RequestView, place: Place) -> Iterator[Candidate]:
    """Yield each list of plain words that stands after the slot's own words or after a word that opens a list."""
    for listing in word_lists(view.text[place[0] : place[1]], is_chinese=view.is_chinese):
        spans = [(place[0] + start, place[0] + end) for start, end in listing]
        spans[0] = _without_label(spans[0], slot, view)
        mentions = [Mention(MentionKind.STATED, start, end, view.text[start:end]) for start, end in spans]
        before = keys(view.text[max(0, spans[0][0] - _NEAR) : spans[0][0]])
        after = keys(view.text[spans[-1][1] : spans[-1][1] + _NEAR // 2])
        shared = max((slot.words.get(key, 0.0) for key in (*before, *after)), default=0.0)
        readings = [read(item, mention.text, view.conversion) for mention in mentions]
        items = [
            Candidate(item, mention, reading, _WORDS_SUIT + 0.4 * shared, shared > 0)
            for mention, reading in zip(mentions, readings, strict=True)
            if isinstance(reading, Reading)
        ]
        if len(items) == len(mentions) and (shared > 0 or slot.is_required):
            yield _as_list(slot, items, view.text)


def _without_label(span: Place, slot: Slot, view: RequestView) -> Place:
    """Take the slot's own word off the head of a list's first item, as in `grades A, B and C`."""
    first, _, rest = view.text[span[0] : span[1]].partition(" ")
    is_label = bool(rest) and any(key in slot.own or key in slot.told for key in keys(first))
    return (span[1] - len(rest), span[1]) if is_label else span


def _runs(items: Sequence[Candidate], text: str) -> Iterator[list[Candidate]]:
    run: list[Candidate] = []
    for item in items:
        if run and not stand_together(run[-1].mention, item.mention, text):
            yield run
            run = []
        if not run or item.mention.start >= run[-1].mention.end:
            run.append(item)
    if run:
        yield run


def stand_together(first: Mention, second: Mention, text: str) -> bool:
    """Tell whether nothing but the joint of a list, a unit or marks stand between two mentions."""
    between = text[first.end : second.start].lower().strip(_MARKS)
    if between in _JOINTS:
        return True
    _, _, last = between.rpartition(" ")
    return bool(first.unit) and (last in _JOINTS or between[-1:] in _JOINTS) and len(between) <= 20


def _as_list(slot: Slot, run: Sequence[Candidate], text: str) -> Candidate:
    run = run[:MAX_ITEMS]
    members = tuple(
        replace(item, slot=replace(item.slot, pointer=f"{slot.pointer}/{number}")) for number, item in enumerate(run)
    )
    start, end = run[0].mention.start, run[-1].mention.end
    values: list[JsonValue] = [item.reading.value for item in run]
    score = sum(item.score for item in run) / len(run) + (_LENGTH_BONUS if len(run) > 1 else 0.0)
    has_evidence = len(run) > 1 or any(item.has_evidence for item in run)
    mention = Mention(MentionKind.STATED, start, end, text[start:end])
    return Candidate(slot, mention, Reading(values), score, has_evidence, members)
