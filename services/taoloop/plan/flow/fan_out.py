"""Steps that run once per item of a list: the step as it is for one item, and the ids of the items' own steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT
from taoloop.plan.model import Binding, ItemValue, PlanStep, StepOutput, Template, ThoughtPlan

_MARK: Final = "#"  # no planned id has it, so that no planned step can be taken for an item


def item_step_id(step_id: str, index: int) -> str:
    """Return the id of the step for one item, unique in the run.

    >>> item_step_id("1.t2", 0)
    '1.t2#0'
    """
    return f"{step_id}{_MARK}{index}"


def planned_step_id(step_id: str) -> str:
    """Return the id of the planned step that a step is an item of; empty when it is none.

    >>> planned_step_id("1.t2#0"), planned_step_id("1.t2")
    ('1.t2', '')
    """
    planned, mark, index = step_id.partition(_MARK)
    return planned if mark and index.isdecimal() else ""


def item_number(step_id: str) -> int:
    """Return the number, from 0, of the item that a step is for.

    >>> item_number("1.t2#3")
    3

    Raises:
        ValueError: The step is for no item.
    """
    return int(step_id.partition(_MARK)[2])


def at_item(step: PlanStep, index: int) -> PlanStep:
    """Return the step for one item: what points at the item points into the list instead."""
    return replace(
        step,
        step_id=item_step_id(step.step_id, index),
        bindings=_pointing(step, index),
        when=ABSENT,
        for_each=None,
        optional=False,
    )


def with_first_items(plan: ThoughtPlan) -> ThoughtPlan:
    """Return the plan with every step that fans out as it is for its first item; ids and lists stay.

    What holds of the first item's place holds of every item's, so that a rule about places need not know of items.
    What points at an item outside of `for_each`, or by no JSON pointer, stays as it is.
    """
    if not any(step.for_each is not None for step in plan.steps):
        return plan
    return replace(plan, steps=tuple(replace(step, bindings=_pointing(step, 0)) for step in plan.steps))


def item_values(bindings: Iterable[Binding]) -> tuple[tuple[str, ItemValue], ...]:
    """Return what points at an item, each with the pointer of its parameter."""
    return tuple(
        (binding.pointer, source)
        for binding in bindings
        for source in (
            [part.source for part in binding.source.parts] if isinstance(binding.source, Template) else [binding.source]
        )
        if isinstance(source, ItemValue)
    )


def _pointing(step: PlanStep, index: int) -> tuple[Binding, ...]:
    items = step.for_each.items if step.for_each is not None else None
    if items is None:
        return step.bindings
    place = StepOutput(step_id=items.step_id, pointer=items.pointer + pointers.join(index))
    return tuple(_bound(binding, place) for binding in step.bindings)


def _bound(binding: Binding, item: StepOutput) -> Binding:
    match binding.source:
        case ItemValue() as value:
            return replace(binding, source=_in_list(value, item))
        case Template(parts=parts):
            bound = tuple(
                replace(part, source=_in_list(part.source, item)) if isinstance(part.source, ItemValue) else part
                for part in parts
            )
            return replace(binding, source=Template(parts=bound))
        case _:
            return binding


def _in_list(value: ItemValue, item: StepOutput) -> StepOutput | ItemValue:
    try:
        pointers.parse(value.pointer)
    except pointers.PointerSyntaxError:
        return value
    return StepOutput(step_id=item.step_id, pointer=item.pointer + value.pointer)
