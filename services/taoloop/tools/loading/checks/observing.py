"""Checks of `observe`: every place is one that the response or the output has, every change can be made."""

from __future__ import annotations

import zoneinfo
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from taoloop.core import pointers
from taoloop.tools import patterns
from taoloop.tools.contract import NormaliseRule, RedactField, RedactPattern, ToolContract
from taoloop.tools.loading.checks.faults import ContractFault
from taoloop.tools.normalisers import conversions, plugins
from taoloop.tools.normalisers.places import STAR, Tokens, array_index, stars
from taoloop.tools.output_schema import OutputSchema, derive
from taoloop.tools.output_schema.nodes import Schema, child, place, self_contained, shape
from taoloop.tools.schema_paths import Shape
from taoloop.tools.schema_refusals import SchemaRefused
from taoloop.tools.schemas import CompiledSchema
from taoloop.values.conversions import as_text
from taoloop.values.folding import fold

_OBSERVE: Final = "/spec/observe"
_CODES: Final = {"field": "NORMALISE_FIELD", "to": "NORMALISE_TO"}


def observe_faults(contract: ToolContract, derived: OutputSchema) -> Iterator[ContractFault]:
    """Yield what is wrong with how a contract's replies are made ready and shown.

    Args:
        contract: A contract whose schemas compile.
        derived: Its output schema.
    """
    response = self_contained(contract.response)
    for problem in derived.problems:
        pointer = f"{_OBSERVE}/normalise/{problem.index}/{problem.key}"
        yield ContractFault(pointer, _CODES[problem.key], problem.message, problem.remedy)
    for index, rule in enumerate(contract.observe.normalise):
        yield from _rule_faults(rule, derived.sources.get(index), f"{_OBSERVE}/normalise/{index}")
    yield from _min_score_faults(contract, response)
    for index, written in enumerate(contract.observe.pick or ()):
        yield from _pick_faults(response, written, f"{_OBSERVE}/pick/{index}")
    yield from _redact_faults(contract)
    if not derived.problems:
        yield from _output_faults(contract, self_contained(derived.schema))


def output_of(contract: ToolContract) -> OutputSchema:
    """Return the output schema of a contract whose schemas compile."""
    return derive(contract.response, contract.observe)


def _rule_faults(rule: NormaliseRule, source: Shape | None, pointer: str) -> Iterator[ContractFault]:
    kinds = [
        name
        for name, is_there in (
            ("as", rule.convert is not None),
            ("enum or vocabulary", rule.enum is not None or rule.vocabulary is not None),
            ("plugin", bool(rule.plugin)),
        )
        if is_there
    ]
    if len(kinds) > 1:
        yield ContractFault(pointer, "NORMALISE", f"{' and '.join(kinds)} stand together", "Keep one of them.")
    if rule.options and not rule.plugin:
        yield ContractFault(pointer + "/options", "NORMALISE", "options stands without plugin", "Remove it.")
    for fault in conversions.option_faults(rule):
        remedy = f"Use one of {', '.join(fault.candidates)}." if fault.candidates else "Correct or remove it."
        yield ContractFault(f"{pointer}/{fault.name or 'as'}", "NORMALISE_OPTION", fault.cause, remedy)
    if rule.time_zone and not _is_zone(rule.time_zone):
        yield _zone_fault(rule.time_zone, pointer + "/time_zone")
    if source is not None:
        yield from _source_faults(rule, source, pointer)
    if rule.plugin:
        yield from _plugin_faults(rule.plugin, pointer + "/plugin")


def _source_faults(rule: NormaliseRule, source: Shape, pointer: str) -> Iterator[ContractFault]:
    if rule.enum is not None:
        yield from _enum_faults(rule, source, pointer + "/enum")
    if rule.convert is not None and not source.types & conversions.takes(rule.convert):
        held, wanted = sorted(source.types), sorted(conversions.takes(rule.convert))
        cause = f"a field of type {' or '.join(held)} is no {rule.convert}"
        remedy = f"Convert a field of type {' or '.join(wanted)}, or correct the response schema."
        yield ContractFault(pointer + "/as", "NORMALISE_TYPE", cause, remedy)


def _enum_faults(rule: NormaliseRule, source: Shape, pointer: str) -> Iterator[ContractFault]:
    assert rule.enum is not None
    twofold = [word for word, count in Counter(map(fold, rule.enum)).items() if count > 1]
    for folded in twofold:
        same = [word for word in rule.enum if fold(word) == folded]
        if len({as_text(rule.enum[word]) for word in same}) > 1:
            cause = f"the words {' and '.join(map(repr, same))} differ in letter case, width or white space alone"
            remedy = "Other spellings of them are refused; leave it so only if the tool writes exactly these."
            yield ContractFault(pointer, "ENUM_FOLDED", cause, remedy, is_warning=True)
    if source.values is None:
        return
    sent = {as_text(value) for value in source.values if value is not None and not isinstance(value, list | dict)}
    for word in rule.enum:
        if word not in sent:
            near = get_close_matches(word, sent, n=3) or sorted(sent)[:5]
            remedy = f"Map values that the tool sends: {', '.join(near)}."
            cause = f"the response schema does not list the value {word!r}"
            yield ContractFault(pointer + pointers.join(word), "ENUM_KEY", cause, remedy)
    words = {as_text(word) for words in (rule.vocabulary or {}).values() for word in words} | set(rule.vocabulary or {})
    for word in sorted(sent - set(rule.enum) - words):
        cause = f"the value {word!r} of the response schema is not mapped"
        yield ContractFault(pointer, "ENUM_INCOMPLETE", cause, f"Map {word} too.", is_warning=True)


def _plugin_faults(name: str, pointer: str) -> Iterator[ContractFault]:
    known = plugins.installed()
    if name not in known:
        near = get_close_matches(name, known, n=3, cutoff=0.4) or known[:3]
        remedy = f"Use {' or '.join(near)}." if near else "Install the package that has it."
        cause = f"no plug-in {name!r} is installed under the entry points {plugins.GROUP}"
        yield ContractFault(pointer, "UNKNOWN_PLUGIN", cause, remedy)
        return
    try:
        plugins.result_schema(plugins.load(name))
    except plugins.PluginUnusable as exc:
        yield ContractFault(pointer, "PLUGIN", str(exc), "Correct the package that has it.")


def _min_score_faults(contract: ToolContract, response: Schema) -> Iterator[ContractFault]:
    written = contract.observe.min_score
    if written is None:
        return
    pointer = f"{_OBSERVE}/min_score/field"
    tokens = _tokens(written.field)
    if tokens is None or stars(tokens) != 1:
        cause = f"{written.field} is no pointer with one star"
        yield ContractFault(pointer, "MIN_SCORE", cause, "Let the star stand for the hits, as in /results/*/score.")
        return
    found = place(response, tokens)
    if found is None:
        yield _no_field(pointer, written.field)
    elif not shape(response, found).types & {"integer", "number"}:
        cause = f"{written.field} is never a number"
        yield ContractFault(pointer, "MIN_SCORE", cause, "Name the score of each hit.")


def _pick_faults(response: Schema, written: str, pointer: str) -> Iterator[ContractFault]:
    tokens = _tokens(written)
    if tokens is None:
        yield _no_field(pointer, written)
        return
    node: Schema | None = response
    for token in tokens:
        types = shape(response, node).types if node is not None else frozenset()
        if array_index(token) is not None and "array" in types and "object" not in types:
            cause = f"{written} names one item of an array, and its others would lose their places"
            yield ContractFault(pointer, "PICK", cause, f"Write {STAR} for all items, or expose the one.")
            return
        node = None if node is None else child(response, node, token)
    if node is None:
        yield _no_field(pointer, written)


def _redact_faults(contract: ToolContract) -> Iterator[ContractFault]:
    names: set[str] = set()
    for index, each in enumerate(contract.observe.redact):
        if not isinstance(each, RedactPattern):
            continue
        pointer = f"{_OBSERVE}/redact/{index}"
        if each.name in names:
            yield ContractFault(pointer + "/name", "REDACT", f"the name {each.name!r} stands twice", "Use another.")
        names.add(each.name)
        refusal = patterns.refusal(each.pattern) or _uncompiled(each.pattern)
        if refusal is not None:
            remedy = "Write a pattern of ECMAScript that runs in linear time and takes no empty text."
            yield ContractFault(pointer + "/pattern", "REDACT", f"the pattern cannot be used: {refusal}", remedy)


def _uncompiled(pattern: str) -> str | None:
    try:
        whole = CompiledSchema.compile({"pattern": f"^(?:{pattern})$"})
        CompiledSchema.compile({"pattern": pattern})
    except SchemaRefused as exc:
        return exc.faults[0].message
    return "it takes the empty text" if whole.is_valid("") else None


def _output_faults(contract: ToolContract, output: Schema) -> Iterator[ContractFault]:
    observe = contract.observe
    for written in observe.known:
        yield from _output_place_faults(output, written, f"{_OBSERVE}/known" + pointers.join(written))
    for index, each in enumerate(observe.redact):
        if isinstance(each, RedactField):
            yield from _output_place_faults(output, each.field, f"{_OBSERVE}/redact/{index}/field")
    for index, written in enumerate(observe.expose or ()):
        yield from _output_place_faults(output, written, f"{_OBSERVE}/expose/{index}")
    for name, projection in observe.projections.items():
        for index, written in enumerate(projection.expose):
            pointer = f"{_OBSERVE}/projections{pointers.join(name)}/expose/{index}"
            yield from _output_place_faults(output, written, pointer)
            if observe.expose is not None and not _is_covered(written, observe.expose):
                cause = f"{written or 'the whole output'} is not among what expose shows"
                yield ContractFault(pointer, "PROJECTION", cause, "Expose it, or leave it out of the projection.")


def _output_place_faults(output: Schema, written: str, pointer: str) -> Iterator[ContractFault]:
    tokens = _tokens(written)
    if tokens is None or place(output, tokens) is None:
        cause = f"the output after normalising has no {written or '(root)'}"
        near = get_close_matches(written, _members(output), n=3, cutoff=0.5)
        remedy = f"Use a pointer into the output, with the renamed fields{': ' + ', '.join(near) if near else ''}."
        yield ContractFault(pointer, "UNKNOWN_OUTPUT", cause, remedy)


def _is_covered(written: str, exposed: Sequence[str]) -> bool:
    wanted = _tokens(written)
    return wanted is not None and any(_covers(_tokens(each), wanted) for each in exposed)


def _covers(outer: Tokens | None, inner: Tokens) -> bool:
    if outer is None or len(outer) > len(inner):
        return False
    return all(token in {STAR, wanted} for token, wanted in zip(outer, inner, strict=False))


def _members(output: Schema) -> list[str]:
    members: Mapping[str, Any] = output.get("properties", {}) if isinstance(output, dict) else {}
    return [pointers.join(name) for name in members]


def _no_field(pointer: str, written: str) -> ContractFault:
    cause = f"the response schema has no field {written}"
    return ContractFault(pointer, "UNKNOWN_FIELD", cause, "Name a field of the response schema.")


def _tokens(written: str) -> Tokens | None:
    try:
        return pointers.parse(written)
    except pointers.PointerSyntaxError:
        return None


def _zone_fault(name: str, pointer: str) -> ContractFault:
    near = get_close_matches(name, zoneinfo.available_timezones(), n=3, cutoff=0.6)
    remedy = f"Use {' or '.join(near)}." if near else "Use a name such as Asia/Shanghai or UTC."
    return ContractFault(pointer, "TIME_ZONE", f"{name!r} is no IANA time zone", remedy)


def _is_zone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
