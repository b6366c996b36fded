"""What forbids a call before it is made: unknown tool, permissions, invalid arguments, tainted sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from taoloop.action.faulting import suggestion_for
from taoloop.core import exact_json, pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ExecuteRequest, Provenance
from taoloop.plan.task import Permissions, TaintedEffects
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import ToolContract
from taoloop.tools.schemas import CompiledSchema, Violation
from taoloop.tools.signature import Effect, Trust, may_do_harm

MAX_CANDIDATES = 20
_LONGEST_ACTUAL = 200

_REASONS = {
    "minLength": "length < {expected}",
    "maxLength": "length > {expected}",
    "minimum": "value < {expected}",
    "maximum": "value > {expected}",
    "exclusiveMinimum": "value <= {expected}",
    "exclusiveMaximum": "value >= {expected}",
    "multipleOf": "not a multiple of {expected}",
    "minItems": "items < {expected}",
    "maxItems": "items > {expected}",
    "type": "not of type {expected}",
    "format": "not in the format {expected}",
    "pattern": "does not match the pattern {expected}",
    "enum": "not one of the allowed values",
    "const": "not the allowed value {expected}",
    "required": "missing",
    "additionalProperties": "not a parameter of the tool",
}


def unknown_tool(request: ExecuteRequest, catalogue: Catalogue) -> Fault:
    """Return the fault for a tool that the catalogue does not have, with the names that come near."""
    return replace(
        _fault(FaultCode.UNKNOWN_TOOL, f"There is no tool {request.tool[:128]!r}."),
        actual=request.tool[:_LONGEST_ACTUAL],
        candidates=tuple(catalogue.near(request.tool))[:MAX_CANDIDATES],
    )


def objection(request: ExecuteRequest, tool: CompiledTool, arguments: Json) -> Fault | None:
    """Return the first reason not to make the call, in the order of the pipeline; None when there is none."""
    contract, permissions = tool.contract, request.permissions
    if not isinstance(arguments, dict) or not tool.parameters.is_valid(arguments):
        return _invalid_argument(tool.parameters, arguments)
    if contract.effect is not Effect.READ or (permissions is not None and permissions.allowed_tools):
        fault = _not_permitted(permissions or Permissions(), contract)
        if fault is not None:
            return fault
    if not may_do_harm(contract.effect, contract.reach):
        return None
    for pointer in _without_source(request.provenance, arguments):
        return replace(_fault(FaultCode.TAINTED_SOURCE, f"{pointer} has no stated source."), field=pointer)
    if permissions is not None and permissions.tainted_effects is TaintedEffects.REFUSE:
        return next(taints(request), None)
    return None


def taints(request: ExecuteRequest) -> Iterator[Fault]:
    """Yield every way in which untrusted text steers or feeds a call, whatever the run's permissions make of it."""
    if request.tainted_context:
        by = f" ({', '.join(request.tainted_by)})" if request.tainted_by else ""
        yield _fault(FaultCode.TAINTED_SOURCE, f"Untrusted text{by} may have shaped this call.")
    for source in request.provenance:
        if source.trust is not Trust.TRUSTED:
            origin = source.step_id or source.source or "unknown"
            message = f"Untrusted text ({origin}) feeds {source.pointer or 'the arguments'}."
            yield replace(_fault(FaultCode.TAINTED_SOURCE, message), field=source.pointer)


def reason_of(violation: Violation) -> str:
    """Return in a few words what is wrong with an argument, such as `length < 12`; never its value."""
    template = _REASONS.get(violation.keyword)
    if template is None:
        return f"breaks the schema's {violation.keyword}"
    if violation.expected is ABSENT:
        return template.partition("{")[0].strip()
    expected = violation.expected
    return template.format(expected=expected if isinstance(expected, str) else exact_json.dumps(expected))


def _invalid_argument(parameters: CompiledSchema, arguments: Json) -> Fault:
    if not isinstance(arguments, dict):
        return replace(
            _fault(FaultCode.INVALID_PARAMETER, "The arguments are not an object."), expected={"type": "object"}
        )
    violations = parameters.violations(arguments)
    first = violations[0]
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    return replace(
        _fault(FaultCode.INVALID_PARAMETER, f"{first.pointer or 'The object of arguments'}: {reason_of(first)}{more}."),
        field=first.pointer,
        expected=first.expected,
        actual=_cut(first.actual),
        candidates=tuple(_allowed(first))[:MAX_CANDIDATES],
    )


def _not_permitted(permissions: Permissions, contract: ToolContract) -> Fault | None:
    if permissions.allowed_tools and contract.name not in permissions.allowed_tools:
        return replace(
            _fault(FaultCode.TOOL_NOT_ALLOWED, f"The run may not use the tool {contract.name}."),
            candidates=permissions.allowed_tools[:MAX_CANDIDATES],
        )
    if contract.effect is not Effect.READ and not contract.effect.is_within(permissions.max_effect):
        return replace(
            _fault(FaultCode.EFFECT_NOT_ALLOWED, f"The tool has the effect {contract.effect}; the run may not."),
            expected=permissions.max_effect.value,
            actual=contract.effect.value,
        )
    return None


def _without_source(provenance: tuple[Provenance, ...], arguments: Json) -> Iterator[str]:
    """Yield the arguments about which no provenance says anything: nobody vouches for them."""
    stated = {pointers.parse(source.pointer)[:1] for source in provenance if _is_pointer(source.pointer)}
    if () in stated or not isinstance(arguments, dict):
        return
    for name in arguments:
        if (name,) not in stated:
            yield pointers.join(name)


def _is_pointer(text: str) -> bool:
    try:
        pointers.parse(text)
    except pointers.PointerSyntaxError:
        return False
    return True


def _allowed(violation: Violation) -> Iterator[str]:
    if violation.keyword == "enum" and isinstance(violation.expected, list):
        for value in violation.expected:
            yield value if isinstance(value, str) else exact_json.dumps(value)


def _cut(value: Json) -> Json:
    """Return the value, or the beginning of its text when it is long."""
    if isinstance(value, exact_json.Absent):
        return value
    text = value if isinstance(value, str) else _text(value)
    return value if len(text) <= _LONGEST_ACTUAL else text[:_LONGEST_ACTUAL]


def _text(value: JsonValue) -> str:
    return exact_json.dumps(value)


def _fault(code: FaultCode, message: str) -> Fault:
    return Fault(code=code, stage=FaultStage.POLICY, message=message, suggestion=suggestion_for(code))
