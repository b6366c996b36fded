"""A contract's checks, compiled once: what an observation of its tool runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.observation.confidence import SourceWeights, source_detail, source_weight
from taoloop.observation.exposing import Exposer, compile_exposer
from taoloop.observation.normalising import Normaliser, compile_normaliser
from taoloop.observation.stages.checks import CheckRule, RuleChecks
from taoloop.observation.stages.consistency import KnownValues
from taoloop.observation.stages.relevance import RelevanceCheck
from taoloop.observation.verdict import Source
from taoloop.plan.acting import ServedBy
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import UNTRUSTED_WEIGHT, Empty, ToolContract
from taoloop.tools.rules import CompiledRule
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.seen import Familiar, Place, learn
from taoloop.tools.signature import Effect, Trust

# One value of every JSON type but null: a schema that takes them all does not name null as an answer.
_OTHER_TYPES: Final[tuple[JsonValue, ...]] = (True, 0, "", [], {})


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractChecks:
    """What an observation needs of a contract.

    Attributes:
        contract_digest: Digest of the contract.
        sources: Where a result came from, by whose words it says that it holds and by what produced it.
        success: The success rule; None leaves it to the status.
        accepts_empty: Whether null is accepted whatever the schema says.
        allows_null: Whether the response schema names null as an answer.
        schema: The response schema.
        relevance: Which hits of a search count; None takes all.
        normaliser: What makes the data from the body; None where the body is the data.
        rules: The business rules, hard and soft, in the contract's order.
        max_latency_seconds: A slower answer fails a soft check; None sets no limit.
        known: The values that the contract knows.
        exposer: What shows the data to prompts, and failures to anybody.
        output_schema: The schema of the data, for results of another tool that stood in for this one.
        seen: What was seen of the tool: other fields, types and enumerated values are drift.
    """

    contract_digest: str
    sources: Mapping[tuple[Trust, ServedBy | None], Source]
    success: CompiledRule | None
    accepts_empty: bool
    allows_null: bool
    schema: CompiledSchema
    relevance: RelevanceCheck | None
    normaliser: Normaliser | None
    rules: RuleChecks
    max_latency_seconds: float | None
    known: tuple[KnownValues, ...]
    exposer: Exposer
    output_schema: CompiledSchema
    seen: Familiar


def compile_checks(tool: CompiledTool, weights: SourceWeights, seen: Place | None = None) -> ContractChecks:
    """Return the checks of a compiled contract; its schema and rules are shared with the catalogue.

    Args:
        tool: The contract.
        weights: How much results count that the tool itself did not give now.
        seen: What was seen of the tool; None knows only what the contract lists.

    Raises:
        SchemaRefused: The derived schema of the data cannot be used; an accepted contract has none such.
    """
    contract, observe = tool.contract, tool.contract.observe
    exposer = compile_exposer(observe)
    return ContractChecks(
        contract_digest=contract.digest,
        sources=_sources(contract, weights, exposer),
        success=tool.success,
        accepts_empty=contract.empty is Empty.ACCEPT,
        allows_null=_names_null(tool.response) and not _refuses_empty(contract),
        schema=tool.response,
        relevance=None if observe.min_score is None else RelevanceCheck.compile(observe.min_score),
        normaliser=compile_normaliser(observe),
        rules=RuleChecks(
            CheckRule(rule_id=rule.id, severity=rule.severity, rule=compiled, passed_id=f"rule_{rule.id}")
            for rule, compiled in tool.rules
        ),
        max_latency_seconds=observe.max_latency_seconds,
        known=tuple(KnownValues.compile(pointer, values) for pointer, values in observe.known.items()),
        exposer=exposer,
        output_schema=CompiledSchema.compile(tool.output_schema),
        seen=Familiar(learn(contract, ()) if seen is None else seen),
    )


def _sources(
    contract: ToolContract, weights: SourceWeights, exposer: Exposer
) -> dict[tuple[Trust, ServedBy | None], Source]:
    sources = {}
    for said, served_by in product(Trust, (None, *ServedBy)):
        is_trusted = said is Trust.TRUSTED and contract.trust is Trust.TRUSTED
        trust = Trust.TRUSTED if is_trusted else Trust.UNTRUSTED
        stated = _stated_weight(contract, weights)
        # The contract's weight is that of its own trust; a result of less trust cannot count for more than the default.
        stated = stated if trust is contract.trust else min(stated, weights.untrusted)
        sources[said, served_by] = Source(
            weight=source_weight(weights, stated=stated, served_by=served_by),
            trust=trust,
            is_write=contract.effect is not Effect.READ,
            exposer=exposer,
            detail=source_detail(weights, stated=stated, is_trusted=is_trusted, served_by=served_by),
        )
    return sources


def _stated_weight(contract: ToolContract, weights: SourceWeights) -> float:
    """Return the contract's weight; where an untrusted tool has the default, that of the settings."""
    is_default = contract.trust is Trust.UNTRUSTED and contract.observe.weight == UNTRUSTED_WEIGHT
    if is_default and not _is_written(contract, "observe", "weight"):
        return weights.untrusted
    return contract.observe.weight


def _names_null(schema: CompiledSchema) -> bool:
    return schema.is_valid(None) and not all(schema.is_valid(value) for value in _OTHER_TYPES)


def _refuses_empty(contract: ToolContract) -> bool:
    """Tell whether the contract writes `empty: fail` or `retry`; as a mere default `fail` leaves null to the schema."""
    return contract.empty is Empty.RETRY or (contract.empty is Empty.FAIL and _is_written(contract, "empty"))


def _is_written(contract: ToolContract, *names: str) -> bool:
    """Tell whether the contract's own text has the field of its spec."""
    written = contract.document.get("spec")
    for name in names:
        if not isinstance(written, Mapping) or name not in written:
            return False
        written = written[name]
    return True
