"""What a call still lacks: single values, or an object as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from taoloop.thought.planners.graph.calls.model import UNSURE_SCORE, Missing
from taoloop.thought.planners.graph.index import ToolView
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.sources import Bound
from taoloop.thought.planners.unread import Unread


def missing_of(tool: ToolView, slot: Slot, why: Unread | None) -> Missing:
    """Return what is missing where a slot has no value, and why where words for it were refused."""
    offered = tuple(str(member) for member in slot.enum)[:20]
    if why is None:
        return Missing(tool, slot, candidates=offered)
    return Missing(tool, slot, why.reason, why.candidates[:20] or offered)


def is_inside(slot: Slot, groups: Iterable[str]) -> bool:
    """Tell whether a slot lies inside one of the objects at these pointers."""
    return any(slot.pointer.startswith(f"{group}/") for group in groups)


def is_bound(slot: Slot, bound: Mapping[str, Bound]) -> bool:
    """Tell whether a slot has a value, or an item where it is a list."""
    if slot.pointer in bound:
        return True
    return slot.item is not None and f"{slot.pointer}/0" in bound


def by_group(tool: ToolView, bound: Mapping[str, Bound], missing: list[Missing]) -> list[Missing]:
    """Ask for an object as a whole where nothing inside of it is surely known."""
    for group in tool.groups:
        inside = f"{group.pointer}/"
        known = [item for pointer, item in bound.items() if pointer.startswith(inside)]
        is_sure = any(item.score >= UNSURE_SCORE for item in known)
        is_open = not known or any(item.slot.pointer.startswith(inside) for item in missing)
        if group.pointer not in bound and is_open and not is_sure:
            missing = [item for item in missing if not item.slot.pointer.startswith(inside)]
            missing.append(Missing(tool, group))
    return missing
