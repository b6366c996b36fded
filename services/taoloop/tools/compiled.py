"""Compiled contracts: a contract with its schemas and rules ready to judge, made once and shared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from taoloop.core.exact_json import ABSENT
from taoloop.tools import output_schema
from taoloop.tools.contract import ErrorRule, ObserveRule, ToolContract
from taoloop.tools.rules import CompiledRule
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import ToolSignature


@dataclass(frozen=True, slots=True)
class CompiledTool:
    """One tool, ready for use.

    Attributes:
        contract: As written.
        parameters: Judges arguments.
        response: Judges bodies.
        output_schema: JSON Schema of the data after normalising.
        success: The success rule, if there is one.
        errors: Error rules with their condition, in order.
        rules: Observation rules with their condition, in order.
        approval: When a person must agree, if ever.
        took_place: Whether a look-up shows that the effect took place, if there is one.
    """

    contract: ToolContract
    parameters: CompiledSchema
    response: CompiledSchema
    output_schema: dict[str, Any] | bool
    success: CompiledRule | None
    errors: tuple[tuple[ErrorRule, CompiledRule], ...]
    rules: tuple[tuple[ObserveRule, CompiledRule], ...]
    approval: CompiledRule | None
    took_place: CompiledRule | None

    @classmethod
    def compile(cls, contract: ToolContract) -> Self:
        """Compile everything a contract holds.

        Raises:
            SchemaRefused: A schema must not be used.
            RuleRefused: A rule must not be used.
        """
        return cls(
            contract=contract,
            parameters=contract.compiled_parameters,
            response=contract.compiled_response,
            output_schema=_plain(output_schema.derive(contract.response, contract.observe).schema),
            success=None if contract.success is ABSENT else CompiledRule.compile(contract.success),
            errors=tuple((rule, CompiledRule.compile(rule.when)) for rule in contract.errors),
            rules=tuple((rule, CompiledRule.compile(rule.when)) for rule in contract.observe.rules),
            approval=None if contract.approval is None else CompiledRule.compile(contract.approval.when),
            took_place=None if contract.reconcile is None else CompiledRule.compile(contract.reconcile.took_place),
        )

    @property
    def signature(self) -> ToolSignature:
        """Return what planners see."""
        contract = self.contract
        return ToolSignature(
            name=contract.name,
            description=contract.description,
            use_when=contract.use_when,
            avoid_when=contract.avoid_when,
            effect=contract.effect,
            reach=contract.reach,
            trust=contract.trust,
            parameters=contract.parameters,
            returns=self.output_schema if isinstance(self.output_schema, dict) else {},
            projections={name: each.when for name, each in contract.observe.projections.items()},
        )


def _plain(schema: Any) -> Any:
    """Return the schema as dict or boolean, which is what the compiler takes."""
    return schema if isinstance(schema, dict | bool) else dict(schema)
