"""Rules about the schemas and expectations that a plan carries itself."""

from __future__ import annotations

from collections.abc import Iterator

from taoloop.core import pointers
from taoloop.core.exact_json import Absent, Json
from taoloop.core.faults import Fault
from taoloop.plan.check_context import CheckContext, invalid, step_place
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.tools.schema_refusals import SchemaRefused
from taoloop.tools.schemas import CompiledSchema


def schemas_compile(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """The output schemas of the steps and of the plan are schemas that can be used."""
    for index, step in enumerate(plan.steps):
        yield from _schema_faults(step_place(index, "output_schema"), step.output_schema)
    yield from _schema_faults("/final_output_schema", plan.final_output_schema)


def expectations_are_well_formed(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """What is expected of a result is an object from pointers to lists of values."""
    for index, step in enumerate(plan.steps):
        yield from _expect_faults(index, step)


def _schema_faults(place: str, schema: Json) -> Iterator[Fault]:
    if isinstance(schema, Absent):
        return
    try:
        CompiledSchema.compile(schema)
    except SchemaRefused as refused:
        for fault in refused.faults:
            yield invalid(place + fault.pointer, f"The schema cannot be used: {fault.message}.")


def _expect_faults(index: int, step: PlanStep) -> Iterator[Fault]:
    if isinstance(step.expect, Absent):
        return
    place = step_place(index, "expect")
    if not isinstance(step.expect, dict):
        yield invalid(place, "What is expected is not an object from pointers to lists of values.")
        return
    for pointer, values in step.expect.items():
        if not isinstance(values, list) or not values:
            yield invalid(place + pointers.join(pointer), "What is expected is a list of values.")
        if pointer and not pointer.startswith("/"):
            yield invalid(place + pointers.join(pointer), "What is expected is named by a JSON pointer.")
