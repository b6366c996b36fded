"""One fault of a contract, and the faults that several checks share: of rules and of placeholders."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue
from taoloop.tools import placeholders
from taoloop.tools.contract import RESERVED_HEADERS
from taoloop.tools.rules import CompiledRule, RuleRefused
from taoloop.tools.schema_paths import types_at


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


def rule_faults(rule: JsonValue, pointer: str) -> Iterator[ContractFault]:
    """Yield why a rule is no JsonLogic."""
    try:
        CompiledRule.compile(rule)
    except RuleRefused as exc:
        yield ContractFault(pointer + exc.pointer, "INVALID_RULE", str(exc), "Write the rule in JsonLogic.")


def text_faults(
    parameters: Mapping[str, Any], text: str, pointer: str, *, also: Collection[str] = ()
) -> Iterator[ContractFault]:
    """Yield the placeholders of a text that are neither a parameter nor one of the names in `also`."""
    for name in dict.fromkeys(placeholders.names(text)):
        if name not in also and types_at(dict(parameters), dotted(name)) is None:
            cause = f"the placeholder {{{name}}} is no parameter"
            yield ContractFault(pointer, "UNKNOWN_PLACEHOLDER", cause, "Use the name of a parameter.")
    if placeholders.leftovers(text):
        cause = "braces stand in the text that are no placeholder"
        yield ContractFault(pointer, "STRAY_BRACES", cause, "Write {parameter} or {{base.NAME}}.", is_warning=True)


def base_faults(url: str, pointer: str, bases: Collection[str]) -> Iterator[ContractFault]:
    """Yield why an address does not begin with a base of the catalogue."""
    used = placeholders.bases(url)
    if len(used) != 1 or not url.startswith("{{"):
        cause = "the url does not begin with exactly one {{base.NAME}}"
        yield ContractFault(pointer, "URL_BASE", cause, "Begin the url with {{base.NAME}} of a base in catalogue.yaml.")
    for name in used:
        if name not in bases:
            yield unknown_base(name, pointer)


def unknown_base(name: str, pointer: str) -> ContractFault:
    """Return the fault of a base that the catalogue does not have."""
    cause = f"the catalogue has no base {name!r}"
    return ContractFault(pointer, "UNKNOWN_BASE", cause, f"Add {name} to spec.bases of catalogue.yaml.")


def reserved_header_faults(name: str, pointer: str) -> Iterator[ContractFault]:
    """Yield why a header cannot carry a key: the transport would write over it."""
    if name.lower() in RESERVED_HEADERS:
        cause = f"the header {name} is the transport's own, and a key in it would be overwritten"
        yield ContractFault(pointer, "RESERVED_HEADER", cause, "Use the header in which the server expects the key.")


def dotted(name: str) -> str:
    """Return the pointer that a name with dots stands for."""
    return pointers.join(*name.split("."))
