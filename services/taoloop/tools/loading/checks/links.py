"""Checks of what one contract says of another: fallbacks and look-ups of unknown outcomes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue
from taoloop.tools import output_schema, placeholders
from taoloop.tools.contract import MAX_STAND_INS, JobTransport, ToolContract
from taoloop.tools.loading.checks.faults import ContractFault, dotted, text_faults
from taoloop.tools.schema_paths import Shape, incompatibility, is_compatible, types_at
from taoloop.tools.signature import Effect, Reach, Trust

IDEMPOTENCY_KEY: Final = "idempotency_key"
"""The placeholder of the unknown call's key in the arguments of a look-up."""

_MAX_DEPTH: Final = 6
"""How deep the outputs of a tool and its fallback are compared."""


def link_faults(
    contract: ToolContract, tools: Mapping[str, ToolContract], names: Collection[str]
) -> Iterator[ContractFault]:
    """Yield what is wrong with the tools that a contract names.

    Args:
        contract: A contract without faults of its own.
        tools: Every such contract of the catalogue by name.
        names: The names of all tools, also of those whose contracts have faults and are not compared.
    """
    if contract.fallback is not None:
        target = contract.fallback.tool
        yield from _name_faults(contract, target, names, "/spec/fallback/tool")
        if target in tools and target != contract.name:
            yield from _fallback_faults(contract, tools[target], tools)
    if contract.reconcile is not None:
        target = contract.reconcile.tool
        yield from _name_faults(contract, target, names, "/spec/reconcile/tool")
        if target in tools and target != contract.name:
            yield from _reconcile_faults(contract, tools[target])


def _name_faults(contract: ToolContract, target: str, names: Collection[str], pointer: str) -> Iterator[ContractFault]:
    if target == contract.name:
        yield ContractFault(pointer, "SAME_TOOL", "the tool names itself", "Name another tool.")
    elif target not in names:
        cause = f"the catalogue has no tool {target!r}"
        yield ContractFault(pointer, "UNKNOWN_TOOL", cause, "Name a tool of the same catalogue.")


def _fallback_faults(
    contract: ToolContract, target: ToolContract, tools: Mapping[str, ToolContract]
) -> Iterator[ContractFault]:
    pointer = "/spec/fallback/tool"
    yield from _chain_faults(contract.name, tools)
    if isinstance(target.transport, JobTransport):
        cause = f"{target.name} is a job, whose handle nobody could use: the plan knows this tool alone"
        yield ContractFault(pointer, "FALLBACK_JOB", cause, "Name a tool that answers at once.")
    if not target.effect.is_within(contract.effect):
        cause = f"{target.name} has the effect {target.effect}, stronger than {contract.effect}"
        yield ContractFault(pointer, "FALLBACK_EFFECT", cause, "Name a tool that changes no more.")
    if target.reach is Reach.OUTWARD and contract.reach is Reach.INTERNAL:
        cause = f"{target.name} sends the arguments outside the company, and this tool does not"
        yield ContractFault(pointer, "FALLBACK_REACH", cause, "Name an internal tool, or declare reach: outward.")
    if target.trust is Trust.UNTRUSTED and contract.trust is Trust.TRUSTED:
        cause = f"{target.name} gives other people's text in the place of trusted data"
        remedy = "Name a trusted tool, or declare trust: untrusted."
        yield ContractFault(pointer, "FALLBACK_TRUST", cause, remedy, is_warning=True)
    yield from _output_faults(contract, target)
    template = None if contract.fallback is None else contract.fallback.arguments
    yield from _argument_faults(contract, target, template, "/spec/fallback")


def _chain_faults(name: str, tools: Mapping[str, ToolContract]) -> Iterator[ContractFault]:
    """Yield what is wrong with the chain of fallbacks that begins at a tool."""
    chain = _chain(name, tools)
    shown = " → ".join(chain)
    if len(chain) > 1 and chain[-1] == name:
        cause = f"the fallbacks turn in a circle: {shown}"
        yield ContractFault("/spec/fallback/tool", "FALLBACK_CYCLE", cause, "Let the chain end.")
    elif len(set(chain)) - 1 > MAX_STAND_INS:
        cause = f"the chain of fallbacks is too long, {MAX_STAND_INS} tools are tried at most: {shown}"
        yield ContractFault("/spec/fallback/tool", "FALLBACK_CHAIN", cause, "Let the chain end earlier.")


def _chain(name: str, tools: Mapping[str, ToolContract]) -> tuple[str, ...]:
    """Return a tool and its fallbacks in turn, up to the first that comes a second time."""
    chain = [name]
    while chain[-1] not in chain[:-1]:
        tool = tools.get(chain[-1])
        if tool is None or tool.fallback is None:
            break
        chain.append(tool.fallback.tool)
    return tuple(chain)


def _output_faults(contract: ToolContract, target: ToolContract) -> Iterator[ContractFault]:
    """Yield the first reason why what reads this tool's output could not read the fallback's."""
    wanted, given = _output(contract), _output(target)
    why = None if is_compatible(given, wanted) else "it is of another type"
    for place in _places(wanted, ""):
        if why is not None:
            break
        why = _unreadable(types_at(given, place), types_at(wanted, place), place)
    if why is not None:
        cause = f"the output of {target.name} cannot stand in for this tool's: {why}"
        remedy = "Normalise both to the same fields, or name another tool."
        yield ContractFault("/spec/fallback/tool", "FALLBACK_OUTPUT", cause, remedy)


def _unreadable(given: Shape | None, wanted: Shape | None, place: str) -> str | None:
    if wanted is None or (given is None and not wanted.is_required):
        return None
    if given is None:
        return f"it has no {place}"
    if wanted.is_required and not given.is_required:
        return f"it may lack {place}"
    why = incompatibility(given, wanted)
    return None if why is None else f"at {place} {why}"


def _places(schema: JsonValue, pointer: str, depth: int = 0) -> Iterator[str]:
    """Yield the pointers of the declared properties, outer ones first, as far as they stand in plain sight."""
    if not isinstance(schema, dict) or depth >= _MAX_DEPTH:
        return
    properties = schema.get("properties", {})
    for name, child in properties.items() if isinstance(properties, dict) else ():
        here = pointer + pointers.join(name)
        yield here
        yield from _places(child, here, depth + 1)


def _reconcile_faults(contract: ToolContract, target: ToolContract) -> Iterator[ContractFault]:
    if target.effect is not Effect.READ:
        cause = f"{target.name} has the effect {target.effect}, and a look-up must change nothing"
        yield ContractFault("/spec/reconcile/tool", "RECONCILE_EFFECT", cause, "Name a tool that reads.")
    if isinstance(target.transport, JobTransport):
        cause = f"{target.name} is a job, and nobody would come back for what it finds"
        yield ContractFault("/spec/reconcile/tool", "RECONCILE_JOB", cause, "Name a tool that answers at once.")
    template = None if contract.reconcile is None else contract.reconcile.arguments
    also = (IDEMPOTENCY_KEY,) if contract.idempotency is not None else ()
    yield from _argument_faults(contract, target, template, "/spec/reconcile", also=also)


def _argument_faults(
    contract: ToolContract,
    target: ToolContract,
    template: Mapping[str, JsonValue] | None,
    pointer: str,
    *,
    also: tuple[str, ...] = (),
) -> Iterator[ContractFault]:
    """Yield the arguments that the other tool needs and would not get, or would get wrongly."""
    declared: Mapping[str, Any] = target.parameters.get("properties", {})
    own: Mapping[str, Any] = contract.parameters.get("properties", {})
    place = pointer + ("/tool" if template is None else "/arguments")
    given = {name: f"{{{name}}}" for name in declared if name in own} if template is None else template
    for name in target.parameters.get("required", ()):
        if name not in given:
            cause = f"{target.name} requires {name!r}, which it would not get"
            yield ContractFault(place, "ARGUMENTS", cause, "Give it in arguments, as a template over this tool's.")
    for name, value in given.items():
        here = place if template is None else place + pointers.join(name)
        if name not in declared:
            cause = f"{target.name} has no parameter {name!r}"
            yield ContractFault(here, "ARGUMENTS", cause, "Use the name of a parameter.")
            continue
        yield from _value_faults(contract, target, name, value, here, also)


def _value_faults(
    contract: ToolContract, target: ToolContract, name: str, value: JsonValue, place: str, also: tuple[str, ...]
) -> Iterator[ContractFault]:
    texts = tuple(placeholders.texts(value, place))
    for pointer, text in texts:
        yield from text_faults(contract.parameters, text, pointer, also=also)
    if not any(placeholders.names(text) for _, text in texts):
        yield from _constant_faults(target, name, value, place)
    whole = placeholders.whole(value) if isinstance(value, str) else None
    if whole is None or whole in also:
        return
    source = types_at(dict(contract.parameters), dotted(whole))
    wanted = types_at(dict(target.parameters), pointers.join(name))
    if source is None or wanted is None:
        return
    why = incompatibility(source, wanted)
    if why is None and wanted.is_required and not source.is_required:
        why = f"it may be absent, and {target.name} requires it"
    if why is not None:
        cause = f"the argument {whole!r} cannot be the {name!r} of {target.name}: {why}"
        yield ContractFault(place, "ARGUMENTS", cause, "Give another value in arguments.")


def _constant_faults(target: ToolContract, name: str, value: JsonValue, place: str) -> Iterator[ContractFault]:
    at = pointers.join(name)
    for violation in target.compiled_parameters.violations({name: value}):
        if violation.pointer == at or violation.pointer.startswith(at + "/"):
            cause = f"the value breaks {target.name}'s parameters: {violation.message}"
            yield ContractFault(place + violation.pointer.removeprefix(at), "ARGUMENTS", cause, "Correct the value.")


def _output(contract: ToolContract) -> JsonValue:
    schema = output_schema.derive(contract.response, contract.observe).schema
    return schema if isinstance(schema, bool) else dict(schema)
