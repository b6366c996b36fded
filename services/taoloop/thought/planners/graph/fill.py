"""Assigns the mentions of a place to the slots of one tool: each mention once, the whole as good as it gets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph.candidates import Candidate, candidates
from taoloop.thought.planners.graph.index import ToolView
from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.language.mentions import Mention
from taoloop.thought.planners.graph.offers.lists import list_candidates
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import Place, RequestView
from taoloop.thought.planners.unread import Unread

# Set by hand on the example tasks; to be fitted on generated data.
REQUIRED_MINIMUM: Final = 0.35
"""Below this a mention is not taken even for a required slot: the value is asked for instead."""
OPTIONAL_MINIMUM: Final = 0.55
"""Below this, or without evidence beyond its kind, a mention is not taken for an optional slot."""
REQUIRED_BONUS: Final = 0.2
"""What being required adds when two slots want one mention."""
ORDER_BONUS: Final = 0.02
"""What agreement of the order of slots and mentions adds: it decides only where nothing else does."""
AMBIGUITY_MARGIN: Final = 0.05
"""Two mentions closer than this for one slot are told apart by nobody: the user is asked."""


@dataclass(frozen=True, slots=True)
class Filling:
    """What a place gives to one tool.

    Attributes:
        taken: The candidate of each filled slot, by pointer.
        refused: Why a slot stayed empty although something of its kind was said, by pointer.
        spare: Candidates of filled slots whose mention nobody took, best first.
    """

    taken: Mapping[str, Candidate]
    refused: Mapping[str, Unread]
    spare: tuple[Candidate, ...]


def fill(
    tool: ToolView,
    view: RequestView,
    place: Place,
    *,
    without: frozenset[str] = frozenset(),
    used: tuple[Mention, ...] = (),
) -> Filling:
    """Return the best assignment of a place's mentions to a tool's slots.

    Args:
        tool: The tool.
        view: The request.
        place: Where mentions are taken from.
        without: Pointers of slots that have a value already.
        used: Mentions that may not be taken.
    """
    offers: list[Candidate] = []
    refused: dict[str, Unread] = {}
    for slot in tool.slots:
        if slot.pointer in without or "query" not in slot.sources:
            continue
        if slot.slot_class is SlotClass.LIST:
            found: tuple[Candidate, ...] = tuple(list_candidates(slot, view, place))
            why: Unread | None = None
        else:
            found, why = candidates(slot, view, place)
        offers.extend(item for item in found if _is_good(item) and not _overlaps_any(item.mention, used))
        if why is not None:
            refused[slot.pointer] = why
    taken = _swapped(_greedy(offers, tool), offers, tool)
    taken = _without_list_members(taken, offers, view)
    taken = _whole_objects(taken, tool)
    spare = _spare(taken, offers)
    for pointer in _ambiguous(taken, spare, view):
        rivals = [item.mention.text for item in (taken.pop(pointer), *spare) if item.slot.pointer == pointer]
        refused[pointer] = Unread(InputReason.AMBIGUOUS, tuple(dict.fromkeys(rivals)))
    return Filling(taken, {pointer: why for pointer, why in refused.items() if pointer not in taken}, spare)


def _is_good(candidate: Candidate) -> bool:
    if candidate.slot.is_required:
        return candidate.score >= REQUIRED_MINIMUM
    return candidate.score >= OPTIONAL_MINIMUM and candidate.has_evidence


def _greedy(offers: list[Candidate], tool: ToolView) -> dict[str, Candidate]:
    order = {slot.pointer: number for number, slot in enumerate(tool.slots)}
    ranked = sorted(offers, key=lambda item: (-_worth(item), order[item.slot.pointer], item.mention.start))
    taken: dict[str, Candidate] = {}
    for item in ranked:
        if item.slot.pointer not in taken and not _overlaps_any(
            item.mention, tuple(other.mention for other in taken.values())
        ):
            taken[item.slot.pointer] = item
    return taken


def _without_list_members(
    taken: dict[str, Candidate], offers: list[Candidate], view: RequestView
) -> dict[str, Candidate]:
    """Leave an optional slot empty whose value only stands in a list with that of a required slot of its class."""
    kept = dict(taken)
    scores = {(item.slot.pointer, item.mention.start): item.score for item in offers}
    for pointer, item in taken.items():
        if item.slot.is_required:
            continue
        for other in taken.values():
            if (
                other.slot.is_required
                and other.slot.slot_class is item.slot.slot_class
                and scores.get((other.slot.pointer, item.mention.start), 0.0) >= item.score - 0.05
                and is_listed(other, item, view.text)
            ):
                kept.pop(pointer, None)
    return kept


def _worth(candidate: Candidate) -> float:
    return candidate.score + (REQUIRED_BONUS if candidate.slot.is_required else 0.0)


def _swapped(taken: dict[str, Candidate], offers: list[Candidate], tool: ToolView) -> dict[str, Candidate]:
    """Exchange the mentions of two slots while that makes the whole better, each pair at most once."""
    by_pair = {(item.slot.pointer, item.mention.start, item.mention.end): item for item in offers}
    order = {slot.pointer: number for number, slot in enumerate(tool.slots)}
    pointers = sorted(taken, key=order.__getitem__)
    for place, first in enumerate(pointers):
        for second in pointers[place + 1 :]:
            one, two = taken[first], taken[second]
            crossed_one = by_pair.get((first, two.mention.start, two.mention.end))
            crossed_two = by_pair.get((second, one.mention.start, one.mention.end))
            if crossed_one is None or crossed_two is None:
                continue
            crossed = crossed_one.score + crossed_two.score + _in_order(crossed_one, crossed_two)
            if crossed > one.score + two.score + _in_order(one, two) + 1e-9:
                taken[first], taken[second] = crossed_one, crossed_two
    return taken


def _in_order(first: Candidate, second: Candidate) -> float:
    return ORDER_BONUS if first.mention.start < second.mention.start else 0.0


def _whole_objects(taken: dict[str, Candidate], tool: ToolView) -> dict[str, Candidate]:
    """Leave an optional object out where the request does not give all that it needs."""
    for group in {slot.group for slot in tool.slots if slot.group}:
        members = [slot for slot in tool.slots if slot.group == group]
        given = [slot for slot in members if slot.pointer in taken]
        if given and any(slot.is_needed and slot.pointer not in taken for slot in members):
            taken = {pointer: item for pointer, item in taken.items() if item.slot not in given}
    return taken


def _spare(taken: Mapping[str, Candidate], offers: list[Candidate]) -> tuple[Candidate, ...]:
    mentions = tuple(item.mention for item in taken.values())
    left = (item for item in offers if item.slot.pointer in taken and not _overlaps_any(item.mention, mentions))
    return tuple(sorted(left, key=lambda item: (-item.score, item.mention.start)))


def _ambiguous(taken: Mapping[str, Candidate], spare: tuple[Candidate, ...], view: RequestView) -> list[str]:
    """Return the slots for which two mentions fit equally well and no list joins them."""
    found = []
    for pointer, item in taken.items():
        rivals = [
            other
            for other in spare
            if other.slot.pointer == pointer
            and other.score >= item.score - AMBIGUITY_MARGIN
            and other.reading.value != item.reading.value
        ]
        if (
            item.slot.is_telling
            and item.slot.is_required
            and rivals
            and not all(is_listed(item, other, view.text) for other in rivals)
        ):
            found.append(pointer)
    return found


_JOINTS = re.compile(r"\b(?:and|or|also|plus|as well as)\b|[、，,;；&/]|和|与|跟|以及|及|还有|或", re.IGNORECASE)
_WORDS_BETWEEN: Final = 10


def is_listed(first: Candidate, second: Candidate, text: str) -> bool:
    """Tell whether two mentions stand side by side in a list such as `A and B`, `A、B` or `on A and on B`."""
    left, right = sorted((first.mention, second.mention), key=lambda mention: mention.start)
    between = text[left.end : right.start]
    if (
        len(between) > 60
        or len(between.split()) > _WORDS_BETWEEN
        or text[: left.start].rstrip().lower().endswith("between")
    ):
        return False
    return _JOINTS.search(between) is not None


def is_required_missing(slot: Slot, filled: Mapping[str, object]) -> bool:
    """Tell whether a call without this slot cannot be made."""
    return slot.is_required and slot.pointer not in filled


def _overlaps_any(mention: Mention, others: tuple[Mention, ...]) -> bool:
    return any(mention.start < other.end and other.start < mention.end for other in others)
