"""The static check of a plan: every fault at once, before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from taoloop.core import pointers
from taoloop.core.faults import Fault
from taoloop.plan.check_context import CheckContext, PlanLimits, PlanVerdict, estimate_tokens
from taoloop.plan.flow.fan_out import with_first_items
from taoloop.plan.graph import topological_order
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.rules import bindings, conditions, fan_out, schemas, snapshot, sources, structure, tools, trust

__all__ = ["RULES", "CheckContext", "PlanLimits", "PlanVerdict", "check_plan", "estimate_tokens"]

Rule = Callable[[ThoughtPlan, CheckContext], Iterator[Fault]]

RULES: Final[tuple[Rule, ...]] = (
    structure.version_is_known,
    structure.catalogue_matches,
    structure.has_steps,
    structure.is_small,
    structure.ids_are_well_formed,
    structure.ids_are_unique,
    tools.tools_exist,
    tools.tools_are_allowed,
    tools.tools_are_available,
    tools.effects_are_allowed,
    tools.tainted_context_stays_inside,
    bindings.pointers_are_well_formed,
    bindings.bindings_do_not_overlap,
    bindings.parameters_exist,
    bindings.required_parameters_are_bound,
    bindings.literals_have_a_source,
    bindings.sources_are_allowed,
    bindings.conversions_are_known,
    sources.spans_match,
    sources.state_places_exist,
    sources.inputs_exist,
    sources.contract_values_exist,
    sources.references_are_declared,
    sources.references_exist,
    sources.types_fit_parameters,
    sources.values_keep_the_schema,
    trust.untrusted_text_feeds_no_harm,
    structure.dependencies_are_known,
    structure.dependencies_have_no_cycle,
    bindings.input_sources_are_known,
    bindings.input_sources_are_obeyed,
    conditions.conditions_compile,
    fan_out.fan_out_has_a_list,
    fan_out.items_are_of_a_list,
    schemas.schemas_compile,
    schemas.expectations_are_well_formed,
    tools.projections_exist,
    snapshot.snapshot_is_an_object,
    snapshot.snapshot_uses_are_true,
)
"""Every rule, each with one sentence of its own; the order settles ties between faults at one place."""


def check_plan(plan: ThoughtPlan, context: CheckContext) -> PlanVerdict:
    """Apply every rule and return all faults, in the order of the plan's fields; nothing is fetched or called."""
    pointed = with_first_items(plan)
    faults = [fault for rule in RULES for fault in rule(pointed, context)]
    if faults:
        return PlanVerdict(tuple(sorted(faults, key=lambda fault: _place(fault.field))), ())
    return PlanVerdict((), topological_order(structure.dependencies_of(plan)))


_STEP_FIELDS: Final = ("id", "tool", "args", "depends_on", "input_sources")
_PLAN_FIELDS: Final = ("version", "catalogue_digest", "steps")


def _place(pointer: str) -> tuple[tuple[int, int, str], ...]:
    """Sort numbers as numbers, and the fields of a plan and a step in the order of the form."""
    key: list[tuple[int, int, str]] = []
    for depth, token in enumerate(pointers.parse(pointer)):
        if token.isdecimal():
            key.append((0, int(token), ""))
        elif depth in {0, 2}:
            order = _PLAN_FIELDS if depth == 0 else _STEP_FIELDS
            key.append((1, order.index(token) if token in order else len(order), token))
        else:
            key.append((2, 0, token))
    return tuple(key)
