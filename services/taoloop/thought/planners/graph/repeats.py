"""Fan-out: one tool called several times, where the request coordinates values and nothing else can take them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from taoloop.thought.planners.graph.candidates import Candidate
from taoloop.thought.planners.graph.fill import Filling
from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.view import RequestView

MAX_CALLS: Final = 50
"""More values than this are no list of calls. A plan has fewer steps, and one that needs more is refused as a whole."""
_GAP: Final = 80
"""How many code points lie between two values of a list at most, other values not counted."""
_WORDS_BETWEEN: Final = 12
_JOINT = re.compile(
    r"(?:\b(?:and|or|also|plus|then|another|followed by|as well as)\b|&|、|和|与|跟|以及|还有|及|另外|另一|再"
    r"|[,，;；/]|[.?？。!！])",
    re.IGNORECASE,
)
_STRONG_JOINT = re.compile(
    r"\b(?:and|also|plus|another|as well as|then)\b|&|、|和|与|跟|以及|还有|及|另外|另一|[;；]|[?？]", re.IGNORECASE
)
_BETWEEN = re.compile(r"\bbetween\b", re.IGNORECASE)
_LOOSE_KINDS: Final = frozenset({MentionKind.NUMBER})
"""Kinds that repeat only where the unit or the word beside them is the same."""

_NEARLY_EQUAL: Final = 0.2
"""Scores closer than this are outweighed by the place in a list."""
_EQUAL: Final = 0.05
"""Scores closer than this tell two parameters apart no more."""

Row = Mapping[str, Candidate]


def repeated(filling: Filling, view: RequestView) -> tuple[Row, ...]:
    """Return the calls that a filling asks for, each as the candidates that differ between them; none for one call.

    Two signs are needed: the values are coordinated, and they are of one kind with nobody else to take them. Several
    parameters repeat together, value by value, where they have equally many.
    """
    spare = _shared_out(filling, view)
    columns = {pointer: _column(item, spare, view) for pointer, item in filling.taken.items()}
    columns = {pointer: column for pointer, column in columns.items() if len(column) > 1}
    if not columns:
        return ()
    length = max(len(column) for column in columns.values())
    columns = {pointer: column for pointer, column in columns.items() if len(column) == length}
    if length > MAX_CALLS or not _is_coordinated(columns, view):
        return ()
    return tuple({pointer: column[row] for pointer, column in columns.items()} for row in range(length))


def _listed_beside(items: list[Candidate], filling: Filling, view: RequestView) -> list[Candidate]:
    """Return the candidates for the parameter whose value stands in one list with the mention, nothing else between."""
    best = max(item.score for item in items)
    return [
        item
        for item in items
        if item.score >= best - _NEARLY_EQUAL
        and _is_one_list(filling.taken[item.slot.pointer].mention, item.mention, view)
    ]


def _is_one_list(one: Mention, two: Mention, view: RequestView) -> bool:
    first, second = sorted((one, two), key=lambda mention: mention.start)
    between = view.lowered[first.end : second.start].strip()
    return bool(between) and _LISTED.fullmatch(between) is not None


def _shared_out(filling: Filling, view: RequestView) -> tuple[Candidate, ...]:
    """Give each spare mention to the one parameter that it suits best; equal ones take turns in the text's order."""
    by_place: dict[tuple[int, int], list[Candidate]] = {}
    for item in filling.spare:
        by_place.setdefault((item.mention.start, item.mention.end), []).append(item)
    turns: Counter[str] = Counter()
    given: list[Candidate] = []
    for place in sorted(by_place):
        best = max(item.score for item in by_place[place])
        equal = _listed_beside(by_place[place], filling, view) or [
            item for item in by_place[place] if item.score >= best - _EQUAL
        ]
        alike = [item for item in equal if filling.taken[item.slot.pointer].mention.kind is item.mention.kind]
        first = min(
            alike or equal, key=lambda item: (turns[item.slot.pointer], filling.taken[item.slot.pointer].mention.start)
        )
        turns[first.slot.pointer] += 1
        given.append(first)
    return tuple(given)


def _column(taken: Candidate, spare: tuple[Candidate, ...], view: RequestView) -> list[Candidate]:
    """Return the values of one parameter in the order of the text."""
    rivals = [other for other in spare if other.slot.pointer == taken.slot.pointer and _is_alike(taken, other, view)]
    column: list[Candidate] = []
    for other in sorted([taken, *rivals], key=lambda item: (item.mention.start, -item.score)):
        if not column or (
            other.mention.start >= column[-1].mention.end
            and other.reading.value not in [item.reading.value for item in column]
        ):
            column.append(other)
    return column


def _is_alike(taken: Candidate, other: Candidate, view: RequestView) -> bool:
    """Tell whether a further value has the kind, the unit and about the score of the first one."""
    if taken.members or other.members or taken.slot.slot_class is SlotClass.BOOLEAN:
        return False
    one, two = taken.mention, other.mention
    names = {MentionKind.NAME, MentionKind.PLACE, MentionKind.PERSON, MentionKind.PHRASE, MentionKind.CODE}
    if one.kind is not two.kind and not {one.kind, two.kind} <= names:
        return False
    if one.kind in _LOOSE_KINDS and one.unit != two.unit:
        return "" in {one.unit, two.unit} and _same_word_before(one, two, view)
    if one.kind in _LOOSE_KINDS and not one.unit and not _same_word_before(one, two, view):
        return False
    return other.score >= taken.score - 0.35


def _same_word_before(one: Mention, two: Mention, view: RequestView) -> bool:
    """Tell whether two bare numbers follow the same word, or only the joint of a list lies between them."""
    first, second = sorted((one, two), key=lambda mention: mention.start)
    between = view.lowered[first.end : second.start].strip()
    if _JOINT.fullmatch(between) or _LISTED.fullmatch(between):
        return True
    after = [_WORD_AFTER.match(view.lowered, each.end) for each in (one, two)]
    if after[0] is not None and after[1] is not None and after[0][1] == after[1][1]:
        return True
    before = [view.lowered[max(0, each.start - 16) : each.start].split() for each in (one, two)]
    if not before[0] or not before[1]:
        return False
    last, other = before[0][-1], before[1][-1]
    return last == other or (not last.isascii() and last[-2:] == other[-2:])


_WORD_AFTER = re.compile(r"\s?([a-z]{2,}|[\u4e00-\u9fff]{1,2})")
_LISTED = re.compile(r"(?:,|、|and|or|, and|, or|和|[0-9.]+|\s)+")


def _is_coordinated(columns: Mapping[str, list[Candidate]], view: RequestView) -> bool:
    """Tell whether the words between each value and the next one join them, and nothing else is said there."""
    taken = [item.mention for column in columns.values() for item in column]
    for column in columns.values():
        strong = False
        for first, second in pairwise(column):
            between = _without(view, (first.mention.end, second.mention.start), taken)
            if len(between) > _GAP or not _JOINT.search(between) or len(between.split()) > _WORDS_BETWEEN:
                return False
            strong = strong or _STRONG_JOINT.search(between) is not None
        before = view.text[max(0, column[0].mention.start - 10) : column[0].mention.start]
        if not strong or _BETWEEN.search(before):
            return False
    return True


def _without(view: RequestView, place: tuple[int, int], mentions: list[Mention]) -> str:
    """Return the text of a place without the values that the calls take there."""
    pieces, position = [], place[0]
    for mention in sorted(mentions, key=lambda item: item.start):
        if place[0] <= mention.start and mention.end <= place[1] and mention.start >= position:
            pieces.append(view.text[position : mention.start])
            position = mention.end
    pieces.append(view.text[position : place[1]])
    return "".join(pieces).strip()
