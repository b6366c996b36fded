"""What a contract means, checked beyond its form: schemas and rules compile, and every name it uses exists."""

from __future__ import annotations

import zoneinfo
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from taoloop.core import exact_json, pointers
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.tools import formats, output_schema, placeholders
from taoloop.tools.contract import NormaliseAs, NormaliseRule, ToolContract
from taoloop.tools.rules import CompiledRule, RuleRefused
from taoloop.tools.schema_paths import types_at
from taoloop.tools.schema_refusals import SchemaRefused, subschemas
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Effect

SOURCES: Final = frozenset({"query", "state", "step", "input", "default", "enum", "const", "clock", "generated"})
"""What `x-taoloop-source` may list."""


@dataclass(frozen=True, slots=True)
class ContractFault:
    """One thing that is wrong with what a contract says.

    Attributes:
        pointer: Where in the contract's document.
        code: Stable UPPER_SNAKE name.
        cause: What is wrong, one sentence.
        remedy: What to do about it.
        is_warning: Whether the contract can be used all the same.
    """

    pointer: str
    code: str
    cause: str
    remedy: str
    is_warning: bool = False


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
    yield from _base_faults(contract, bases)


def _faults_by_schema(contract: ToolContract) -> Iterator[ContractFault]:
    """Yield what is looked up in the schemas."""
    yield from _parameter_faults(contract)
    yield from _request_faults(contract)
    derived = output_schema.derive(contract.response, contract.observe.normalise)
    for problem in derived.problems:
        pointer = f"/spec/observe/normalise/{problem.index}/field"
        yield ContractFault(pointer, "NORMALISE_FIELD", problem.message, "Name a field of the response schema.")
    yield from _normalise_faults(contract)
    if not derived.problems:
        yield from _output_faults(contract, derived.schema)


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
        yield from _one_rule(contract.success, "/spec/success")
    for index, error in enumerate(contract.errors):
        yield from _one_rule(error.when, f"/spec/errors/{index}/when")
    seen: set[str] = set()
    for index, rule in enumerate(contract.observe.rules):
        yield from _one_rule(rule.when, f"/spec/observe/rules/{index}/when")
        if rule.id in seen:
            cause = f"the rule id {rule.id!r} stands twice"
            yield ContractFault(f"/spec/observe/rules/{index}/id", "DUPLICATE_RULE", cause, "Give it an id of its own.")
        seen.add(rule.id)


def _one_rule(rule: JsonValue, pointer: str) -> Iterator[ContractFault]:
    try:
        CompiledRule.compile(rule)
    except RuleRefused as exc:
        yield ContractFault(pointer + exc.pointer, "INVALID_RULE", str(exc), "Write the rule in JsonLogic.")


def _base_faults(contract: ToolContract, bases: Collection[str]) -> Iterator[ContractFault]:
    if contract.http is None:
        return
    url, pointer = contract.http.url, "/spec/transport/http/url"
    used = placeholders.bases(url)
    if len(used) != 1 or not url.startswith("{{"):
        cause = "the url does not begin with exactly one {{base.NAME}}"
        yield ContractFault(pointer, "URL_BASE", cause, "Begin the url with {{base.NAME}} of a base in catalogue.yaml.")
    for name in used:
        if name not in bases:
            cause = f"the catalogue has no base {name!r}"
            yield ContractFault(pointer, "UNKNOWN_BASE", cause, f"Add {name} to spec.bases of catalogue.yaml.")


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


def _request_faults(contract: ToolContract) -> Iterator[ContractFault]:
    http = contract.http
    if http is None:
        return
    pointer = "/spec/transport/http"
    required = contract.parameters.get("required", ())
    yield from _text_faults(contract, http.url, pointer + "/url")
    for name in dict.fromkeys(placeholders.names(http.url)):
        if name in contract.parameters.get("properties", {}) and name not in required:
            cause = f"the parameter {name!r} stands in the url and is not required"
            yield ContractFault(pointer + "/url", "URL_PARAMETER", cause, f"Add {name} to parameters.required.")
    fields: dict[str, JsonValue] = {"query": dict(http.query), "headers": dict(http.headers)}
    for place, text in placeholders.texts(fields, pointer):
        yield from _text_faults(contract, text, place)
    if http.json is not ABSENT:
        for place, text in placeholders.texts(http.json, pointer + "/json"):
            yield from _text_faults(contract, text, place)
        if http.method in {"GET", "HEAD"}:
            cause = f"a {http.method} request has a body"
            yield ContractFault(pointer + "/json", "BODY", cause, "Use query parameters, or another method.")
    if http.method in {"GET", "HEAD"} and contract.effect is not Effect.READ:
        cause = f"the effect is {contract.effect}, and {http.method} promises to change nothing"
        yield ContractFault(pointer + "/method", "METHOD", cause, "Check effect and method.", is_warning=True)


def _text_faults(contract: ToolContract, text: str, pointer: str) -> Iterator[ContractFault]:
    for name in dict.fromkeys(placeholders.names(text)):
        if types_at(dict(contract.parameters), _dotted(name)) is None:
            cause = f"the placeholder {{{name}}} is no parameter"
            yield ContractFault(pointer, "UNKNOWN_PLACEHOLDER", cause, "Use the name of a parameter.")
    if placeholders.leftovers(text):
        cause = "braces stand in the text that are no placeholder"
        yield ContractFault(pointer, "STRAY_BRACES", cause, "Write {parameter} or {{base.NAME}}.", is_warning=True)


def _normalise_faults(contract: ToolContract) -> Iterator[ContractFault]:
    for index, rule in enumerate(contract.observe.normalise):
        pointer = f"/spec/observe/normalise/{index}"
        if rule.enum is not None and rule.convert is not None:
            yield ContractFault(pointer, "NORMALISE", "enum and as stand together", "Keep one of the two.")
        if rule.enum is not None:
            yield from _enum_faults(contract, rule, pointer + "/enum")
        if rule.convert is not None:
            yield from _convert_faults(contract, rule, pointer + "/as")
        if rule.time_zone and rule.convert is None:
            cause = "time_zone stands without as"
            yield ContractFault(pointer + "/time_zone", "NORMALISE", cause, "Add as: datetime or remove it.")
        if rule.time_zone and not _is_zone(rule.time_zone):
            cause = f"{rule.time_zone!r} is no IANA time zone"
            yield ContractFault(pointer + "/time_zone", "TIME_ZONE", cause, "Use a name such as Asia/Shanghai or UTC.")


def _enum_faults(contract: ToolContract, rule: NormaliseRule, pointer: str) -> Iterator[ContractFault]:
    shape = types_at(_json(contract.response), rule.field)
    if shape is None or rule.enum is None:
        return
    known = None if shape.values is None else {str(value) for value in shape.values}
    for key in rule.enum:
        if known is not None and key not in known:
            cause = f"the response schema does not list the value {key!r}"
            yield ContractFault(pointer + pointers.join(key), "ENUM_KEY", cause, "Map values that the tool sends.")
    for value in sorted((known or set()) - set(rule.enum)):
        cause = f"the value {value!r} of the response schema is not mapped"
        yield ContractFault(pointer, "ENUM_INCOMPLETE", cause, f"Map {value} too.", is_warning=True)


def _convert_faults(contract: ToolContract, rule: NormaliseRule, pointer: str) -> Iterator[ContractFault]:
    shape = types_at(_json(contract.response), rule.field)
    wanted = {"string", "integer", "number"} if rule.convert is NormaliseAs.DATETIME else {"string"}
    if shape is not None and not shape.types & wanted:
        cause = f"a field of type {' or '.join(sorted(shape.types))} is no {rule.convert}"
        yield ContractFault(pointer, "NORMALISE_TYPE", cause, "Convert another field, or correct the response schema.")


def _output_faults(contract: ToolContract, schema: Mapping[str, Any] | bool) -> Iterator[ContractFault]:
    output = _json(schema)
    for pointer in contract.observe.known:
        if types_at(output, pointer) is None:
            place = "/spec/observe/known" + pointers.join(pointer)
            yield _no_output(place, pointer)
    for index, pointer in enumerate(contract.observe.expose or ()):
        if _output_at(output, pointer) is False:
            yield _no_output(f"/spec/observe/expose/{index}", pointer)
    for language, sentence in contract.answer.items():
        yield from _answer_faults(contract, output, sentence, f"/spec/answer/{language}")


def _answer_faults(contract: ToolContract, output: JsonValue, sentence: str, pointer: str) -> Iterator[ContractFault]:
    for name in dict.fromkeys(placeholders.names(sentence)):
        root, _, rest = name.partition(".")
        schema = {"arguments": dict(contract.parameters), "data": output}.get(root)
        if schema is None or (rest and types_at(schema, _dotted(rest)) is None):
            cause = f"the placeholder {{{name}}} names no argument and no field of the output"
            yield ContractFault(pointer, "UNKNOWN_PLACEHOLDER", cause, "Use {arguments.NAME} or {data.NAME}.")
    if placeholders.leftovers(sentence):
        cause = "braces stand in the text that are no placeholder"
        yield ContractFault(pointer, "STRAY_BRACES", cause, "Write {arguments.NAME} or {data.NAME}.", is_warning=True)


def _no_output(place: str, pointer: str) -> ContractFault:
    cause = f"the output after normalising has no {pointer or '(root)'}"
    return ContractFault(place, "UNKNOWN_OUTPUT", cause, "Use a pointer into the output, with the renamed fields.")


def _output_at(output: JsonValue, pointer: str) -> bool:
    try:
        return types_at(output, pointer) is not None
    except pointers.PointerSyntaxError:
        return False


def _is_zone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _dotted(name: str) -> str:
    return pointers.join(*name.split("."))


def _json(schema: Mapping[str, Any] | bool) -> JsonValue:
    value: JsonValue = schema if isinstance(schema, bool) else dict(schema)
    return value


def style_warnings(contract: ToolContract) -> Iterator[ContractFault]:
    """Yield what breaks a rule of style; the contract works all the same."""
    if contract.name != contract.name.lower() or not contract.name.replace("_", "").isalnum():
        yield _style("/metadata/name", "the name is not snake_case", "Use lower-case words joined by '_'.")
    if len(contract.description) > 100:
        cause = f"the description has {len(contract.description)} characters, more than 100"
        yield _style("/spec/description", cause, "Say in one line what the tool answers or does.")
    if "\n" in contract.description.strip():
        yield _style("/spec/description", "the description has several lines", "Say it in one line.")
    if not contract.use_when:
        yield _style("/spec", "use_when is missing", "Say what users say when this is the tool.")
    for name, schema in contract.parameters.get("properties", {}).items():
        pointer = "/spec/parameters/properties" + pointers.join(name)
        if name != name.lower() or not name.replace("_", "").isalnum():
            yield _style(pointer, f"the parameter {name!r} is not snake_case", "Use lower-case words joined by '_'.")
        if not isinstance(schema, Mapping) or not schema.get("description"):
            yield _style(pointer, f"the parameter {name!r} has no description", "Describe it with an example.")
    for code in sorted({error.code for error in contract.errors if exact_json.equal(error.when, True)}):
        yield _style("/spec/errors", f"the error {code} matches every reply", "Write a condition.")


def _style(pointer: str, cause: str, remedy: str) -> ContractFault:
    return ContractFault(pointer, "STYLE", cause, remedy, is_warning=True)
