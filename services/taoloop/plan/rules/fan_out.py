"""Rules about steps that run once per item of a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from taoloop.core import pointers
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.check_context import CheckContext, argument_place, invalid, plan_fault, step_place
from taoloop.plan.flow.fan_out import item_values
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.rules.sources import output_of
from taoloop.tools.schema_paths import types_at

MAX_ITEMS: Final = 1000
"""Most items that a plan may ask for; the loop's own bound is lower."""


def fan_out_has_a_list(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A step that fans out names a list, and a number of items that can be served."""
    for index, step in enumerate(plan.steps):
        fan_out = step.for_each
        if fan_out is None:
            continue
        if not 0 <= fan_out.max_items <= MAX_ITEMS:
            yield invalid(
                step_place(index, "for_each", "max_items"),
                f"A step runs for 1 to {MAX_ITEMS} items; 0 leaves it open.",
                expected=MAX_ITEMS, actual=fan_out.max_items,
            )  # fmt: skip
        place = step_place(index, "for_each", "items")
        if fan_out.items is None:
            yield invalid(place, "The step names no list that it runs over.")
            continue
        schema = output_of(plan, context, fan_out.items.step_id)
        if schema is None or not _is_pointer(fan_out.items.pointer):
            continue
        shape = types_at(schema if isinstance(schema, bool) else dict(schema), fan_out.items.pointer)
        if shape is not None and "array" not in shape.types:
            yield plan_fault(
                FaultCode.TYPE_MISMATCH, place, "The step runs over a list, and there is none at that place.",
                expected="array", actual=[*sorted(shape.types)],
            )  # fmt: skip


def items_are_of_a_list(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """Only a step that fans out points at its item; the plan is one `with_first_items`, so that none is left."""
    for index, step in enumerate(plan.steps):
        for pointer, value in item_values(step.bindings):
            what = "of a list, which the step does not run over" if _is_pointer(value.pointer) else "by no JSON pointer"
            yield plan_fault(
                FaultCode.UNKNOWN_REFERENCE, argument_place(index, pointer), f"The argument points at an item {what}.",
                actual=value.pointer,
            )  # fmt: skip


def _is_pointer(text: str) -> bool:
    try:
        pointers.parse(text)
    except pointers.PointerSyntaxError:
        return False
    return True
