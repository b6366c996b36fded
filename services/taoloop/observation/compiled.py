"""A contract's checks, compiled once: what an observation of its tool runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.observation.exposure import ExposedTree, compile_exposed
from taoloop.observation.stages.checks import CheckRule
from taoloop.observation.stages.consistency import KnownValues
from taoloop.observation.stages.normalisers import Conversion, FieldNormaliser, enum_map, time_conversion
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import Empty, NormaliseRule, Observe, ToolContract
from taoloop.tools.rules import CompiledRule
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Effect, Trust

# One value of every JSON type but null: a schema that takes them all does not name null as an answer.
_OTHER_TYPES: Final[tuple[JsonValue, ...]] = (True, 0, "", [], {})


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractChecks:
    """What an observation needs of a contract.

    Attributes:
        contract_digest: Digest of the contract.
        trust: Whose words the tool's output holds.
        is_write: Whether a call may change something.
        success: The success rule; None leaves it to the status.
        accepts_empty: Whether null is accepted whatever the schema says.
        allows_null: Whether the response schema names null as an answer.
        schema: The response schema.
        normalisers: What makes the data from the body.
        rules: The business rules, hard and soft, in the contract's order.
        max_latency_seconds: A slower answer fails a soft check; None sets no limit.
        known: The values that the contract knows.
        weight: How far the source is believed, 0 to 1.
        exposed: What prompts may see; None shows everything.
        output_schema: The schema of the data, for results of another tool that stood in for this one.
    """

    contract_digest: str
    trust: Trust
    is_write: bool
    success: CompiledRule | None
    accepts_empty: bool
    allows_null: bool
    schema: CompiledSchema
    normalisers: tuple[FieldNormaliser, ...]
    rules: tuple[CheckRule, ...]
    max_latency_seconds: float | None
    known: tuple[KnownValues, ...]
    weight: float
    exposed: ExposedTree | None
    output_schema: CompiledSchema


def compile_checks(tool: CompiledTool) -> ContractChecks:
    """Return the checks of a compiled contract; its schema and rules are shared with the catalogue.

    Raises:
        SchemaRefused: The derived schema of the data cannot be used; an accepted contract has none such.
    """
    contract, observe = tool.contract, tool.contract.observe
    return ContractChecks(
        contract_digest=contract.digest,
        trust=contract.trust,
        is_write=contract.effect is not Effect.READ,
        success=tool.success,
        accepts_empty=contract.empty is Empty.ACCEPT,
        allows_null=_names_null(tool.response) and not _refuses_empty(contract),
        schema=tool.response,
        normalisers=tuple(_normaliser(rule, observe) for rule in observe.normalise),
        rules=tuple(
            CheckRule(rule_id=rule.id, severity=rule.severity, rule=compiled, passed_id=f"rule_{rule.id}")
            for rule, compiled in tool.rules
        ),
        max_latency_seconds=observe.max_latency_seconds,
        known=tuple(KnownValues(pointer, tuple(values)) for pointer, values in observe.known.items()),
        weight=observe.weight,
        exposed=None if observe.expose is None else compile_exposed(observe.expose),
        output_schema=CompiledSchema.compile(tool.output_schema),
    )


def _normaliser(rule: NormaliseRule, observe: Observe) -> FieldNormaliser:
    conversions: list[Conversion] = []
    if rule.enum is not None:
        conversions.append(enum_map(dict(rule.enum), observe.known.get(rule.to)))
    if rule.convert is not None:
        conversions.append(time_conversion(rule.convert.value, rule.time_zone))
    return FieldNormaliser(field=rule.field, to=rule.to, conversions=tuple(conversions))


def _names_null(schema: CompiledSchema) -> bool:
    return schema.is_valid(None) and not all(schema.is_valid(value) for value in _OTHER_TYPES)


def _refuses_empty(contract: ToolContract) -> bool:
    """Tell whether the contract writes `empty: fail` or `retry`; as a mere default `fail` leaves null to the schema."""
    spec = contract.document.get("spec")
    is_written = isinstance(spec, Mapping) and "empty" in spec
    return contract.empty is Empty.RETRY or (contract.empty is Empty.FAIL and is_written)
