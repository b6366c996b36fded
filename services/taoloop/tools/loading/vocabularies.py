"""Vocabularies of a catalogue: checked, and written into the contracts that name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue
from taoloop.tools.loading.checks import ContractFault
from taoloop.tools.loading.checks.words import word_faults
from taoloop.tools.signature import VOCABULARY_KEYWORD

Vocabularies = Mapping[str, Mapping[str, list[JsonValue]]]
"""Name to vocabulary: our value to the words for it in all systems."""

NO_VOCABULARIES: Final[Vocabularies] = MappingProxyType({})

_PLACE: Final = "/spec/vocabularies"


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """A contract's document with its vocabularies written out, so that digest and bundle hold them.

    Attributes:
        document: The document; the very same object where it names none.
        faults: Names that the catalogue does not have.
    """

    document: Mapping[str, Any]
    faults: tuple[ContractFault, ...] = ()


def write_out(document: Mapping[str, Any], vocabularies: Vocabularies) -> WrittenOut:
    """Return a document whose form is right with each name of a vocabulary replaced by the vocabulary.

    A name that is not known is a fault, and its rule maps nothing.
    """
    spec = document["spec"]
    faults: list[ContractFault] = []
    parameters = _with_words(spec.get("parameters"), "/spec/parameters", vocabularies, faults)
    if parameters is not spec.get("parameters"):
        document = {**document, "spec": {**spec, "parameters": parameters}}
    rules = spec.get("observe", {}).get("normalise", [])
    if not any(isinstance(rule.get("vocabulary"), str) for rule in rules):
        return WrittenOut(document, tuple(faults))
    written = []
    for index, rule in enumerate(rules):
        name = rule.get("vocabulary")
        if isinstance(name, str):
            rest = {key: value for key, value in rule.items() if key != "vocabulary"}
            if name in vocabularies:
                rule = {**rest, "vocabulary": vocabularies[name]}  # noqa: PLW2901  # the rule as it is meant
            else:
                rule = rest  # noqa: PLW2901
                faults.append(_unknown(name, vocabularies, f"/spec/observe/normalise/{index}/vocabulary"))
        written.append(rule)
    spec = document["spec"]
    observe = {**spec["observe"], "normalise": written}
    return WrittenOut({**document, "spec": {**spec, "observe": observe}}, tuple(faults))


def _with_words(schema: Any, place: str, vocabularies: Vocabularies, faults: list[ContractFault]) -> Any:
    """Return a schema whose names of vocabularies are written out; the very same object where it has none."""
    if not isinstance(schema, Mapping):
        return schema
    changed: dict[str, Any] = {}
    properties, items, name = schema.get("properties"), schema.get("items"), schema.get(VOCABULARY_KEYWORD)
    if isinstance(properties, Mapping):
        found = {
            key: _with_words(inner, f"{place}/properties{pointers.join(key)}", vocabularies, faults)
            for key, inner in properties.items()
        }
        if any(found[key] is not properties[key] for key in properties):
            changed["properties"] = found
    inner = _with_words(items, f"{place}/items", vocabularies, faults)
    if inner is not items:
        changed["items"] = inner
    if isinstance(name, str) and name in vocabularies:
        changed[VOCABULARY_KEYWORD] = vocabularies[name]
    elif isinstance(name, str):
        faults.append(_unknown(name, vocabularies, f"{place}/{VOCABULARY_KEYWORD}"))
    return {**schema, **changed} if changed else schema


def vocabulary_faults(vocabularies: Vocabularies) -> Iterator[ContractFault]:
    """Yield the words that stand for two values; pointers are those of `catalogue.yaml`."""
    for name, vocabulary in vocabularies.items():
        for fault in word_faults(vocabulary):
            yield ContractFault(_PLACE + pointers.join(name) + fault.pointer, fault.code, fault.cause, fault.remedy)


def _unknown(name: str, vocabularies: Vocabularies, pointer: str) -> ContractFault:
    near = get_close_matches(name, vocabularies, n=3, cutoff=0.5) or sorted(vocabularies)[:3]
    remedy = f"Use {' or '.join(near)}." if near else "Add it to spec.vocabularies of catalogue.yaml."
    return ContractFault(pointer, "UNKNOWN_VOCABULARY", f"the catalogue has no vocabulary {name!r}", remedy)
