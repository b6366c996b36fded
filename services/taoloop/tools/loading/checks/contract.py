"""What one contract means, checked alone: schemas and rules compile, and every name it uses exists."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.tools import formats, placeholders
from taoloop.tools.contract import ToolContract
from taoloop.tools.loading.checks.faults import ContractFault, dotted, rule_faults
from taoloop.tools.loading.checks.observing import observe_faults, output_of
from taoloop.tools.loading.checks.policies import policy_faults
from taoloop.tools.loading.checks.requests import request_faults
from taoloop.tools.loading.checks.statements import statement_faults
from taoloop.tools.loading.checks.transports import transport_faults
from taoloop.tools.loading.checks.words import parameter_word_faults
from taoloop.tools.schema_paths import types_at
from taoloop.tools.schema_refusals import SchemaRefused, subschemas
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import VOCABULARY_KEYWORD

SOURCES: Final = frozenset({"query", "state", "step", "input", "default", "enum", "const", "clock", "generated"})
"""What `x-taoloop-source` may list."""

CONTENTS: Final = ("plain", "html", "markdown")
"""What `x-taoloop-content` may say of a text parameter."""


def check_contract(contract: ToolContract, bases: Collection[str]) -> tuple[ContractFault, ...]:
    """Return every fault of a contract whose form is right.

    Args:
        contract: The contract.
        bases: Names of the catalogue's base URLs.
    """
    refused = (
        *_schema_faults(dict(contract.parameters), "/spec/parameters"),
        *_schema_faults(contract.response, "/spec/response"),
    )
    return (*refused, *_own_faults(contract, bases), *(() if refused else _faults_by_schema(contract)))


def _own_faults(contract: ToolContract, bases: Collection[str]) -> Iterator[ContractFault]:
    """Yield what can be told without the schemas."""
    yield from _timing_faults(contract)
    yield from _rule_faults(contract)
    yield from policy_faults(contract)
    yield from transport_faults(contract, bases)


def _faults_by_schema(contract: ToolContract) -> Iterator[ContractFault]:
    """Yield what is looked up in the schemas."""
    yield from _parameter_faults(contract)
    yield from request_faults(contract)
    yield from statement_faults(contract)
    derived = output_of(contract)
    yield from observe_faults(contract, derived)
    if not derived.problems:
        yield from _answer_faults(contract, _json(derived.schema))


def _schema_faults(schema: Any, pointer: str) -> Iterator[ContractFault]:
    try:
        CompiledSchema.compile(schema)
    except SchemaRefused as exc:
        for fault in exc.faults:
            remedy = "Correct the schema; patterns are those of ECMAScript that run in linear time."
            yield ContractFault(pointer + fault.pointer, fault.code, fault.message, remedy)
        return
    for place, node in subschemas(schema, pointer):
        name = node.get("format")
        if isinstance(name, str) and name not in formats.STANDARD and name not in formats.CUSTOM:
            cause = f"the format {name!r} is not known, so that nothing checks it"
            yield ContractFault(place + "/format", "UNKNOWN_FORMAT", cause, "Use a known format.", is_warning=True)


def _timing_faults(contract: ToolContract) -> Iterator[ContractFault]:
    if contract.timeout_seconds <= 0:
        yield ContractFault("/spec/timeout", "TIMEOUT", "the timeout is zero", "Give a timeout above zero.")
    latency = contract.observe.max_latency_seconds
    if latency is not None and latency >= contract.timeout_seconds:
        cause = f"max_latency ({latency:g} s) is not below the timeout ({contract.timeout_seconds:g} s)"
        yield ContractFault(
            "/spec/observe/max_latency", "MAX_LATENCY", cause, "Lower max_latency or raise the timeout."
        )


def _rule_faults(contract: ToolContract) -> Iterator[ContractFault]:
    if contract.success is not ABSENT:
        yield from rule_faults(contract.success, "/spec/success")
    for index, error in enumerate(contract.errors):
        yield from rule_faults(error.when, f"/spec/errors/{index}/when")
    seen: set[str] = set()
    for index, rule in enumerate(contract.observe.rules):
        yield from rule_faults(rule.when, f"/spec/observe/rules/{index}/when")
        if rule.id in seen:
            cause = f"the rule id {rule.id!r} stands twice"
            yield ContractFault(f"/spec/observe/rules/{index}/id", "DUPLICATE_RULE", cause, "Give it an id of its own.")
        seen.add(rule.id)


def _parameter_faults(contract: ToolContract) -> Iterator[ContractFault]:
    schema, pointer = contract.parameters, "/spec/parameters"
    if schema.get("type") != "object":
        yield ContractFault(pointer, "PARAMETERS", "the parameters are not of type object", "Write type: object.")
    if schema.get("additionalProperties") is not False:
        cause = "arguments that the schema does not declare are let through"
        yield ContractFault(pointer, "OPEN_PARAMETERS", cause, "Write additionalProperties: false.", is_warning=True)
    for place, node in subschemas(dict(schema), pointer):
        sources = node.get("x-taoloop-source", [])
        unknown = [name for name in sources if name not in SOURCES] if isinstance(sources, list) else [sources]
        if unknown:
            cause = f"x-taoloop-source lists {unknown[0]!r}, which is no source"
            remedy = f"Use a list of {', '.join(sorted(SOURCES))}."
            yield ContractFault(place + "/x-taoloop-source", "UNKNOWN_SOURCE", cause, remedy)
        if "x-taoloop-content" in node:
            yield from _content_faults(node, place)
        if VOCABULARY_KEYWORD in node:
            yield from parameter_word_faults(node, place)


def _content_faults(node: Mapping[str, Any], place: str) -> Iterator[ContractFault]:
    pointer = place + "/x-taoloop-content"
    if node["x-taoloop-content"] not in CONTENTS:
        cause = f"x-taoloop-content says {node['x-taoloop-content']!r}, which is no kind of content"
        yield ContractFault(pointer, "CONTENT", cause, f"Use one of {', '.join(CONTENTS)}.")
    elif node.get("type") != "string":
        yield ContractFault(pointer, "CONTENT", "x-taoloop-content stands at what is no text", "Move it to the text.")


def _answer_faults(contract: ToolContract, output: JsonValue) -> Iterator[ContractFault]:
    for language, sentence in contract.answer.items():
        yield from _sentence_faults(contract, output, sentence, f"/spec/answer/{language}")


def _sentence_faults(contract: ToolContract, output: JsonValue, sentence: str, pointer: str) -> Iterator[ContractFault]:
    for name in dict.fromkeys(placeholders.names(sentence)):
        root, _, rest = name.partition(".")
        schema = {"arguments": dict(contract.parameters), "data": output}.get(root)
        if schema is None or (rest and types_at(schema, dotted(rest)) is None):
            cause = f"the placeholder {{{name}}} names no argument and no field of the output"
            yield ContractFault(pointer, "UNKNOWN_PLACEHOLDER", cause, "Use {arguments.NAME} or {data.NAME}.")
    if placeholders.leftovers(sentence):
        cause = "braces stand in the text that are no placeholder"
        yield ContractFault(pointer, "STRAY_BRACES", cause, "Write {arguments.NAME} or {data.NAME}.", is_warning=True)


def _json(schema: Mapping[str, Any] | bool) -> JsonValue:
    value: JsonValue = schema if isinstance(schema, bool) else dict(schema)
    return value
