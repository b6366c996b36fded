"""One tool's arguments made from another's, by a template of the contract."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from taoloop.core import exact_json, pointers
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue
from taoloop.plan.acting import Provenance
from taoloop.tools import placeholders
from taoloop.tools.contract import ToolContract
from taoloop.tools.signature import Trust

_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")


def same_names(contract: ToolContract, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the template that passes on those arguments which the other tool declares too."""
    declared = contract.parameters.get("properties", {})
    return {name: f"{{{name}}}" for name in arguments if name in declared}


def fill(template: Mapping[str, JsonValue], arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the template with every `{parameter}` in its texts replaced.

    A text that is one placeholder becomes the argument with its type, and is left out without it; inside a
    longer text an argument becomes text, a missing one nothing.

    >>> fill({"city": "{place}", "note": "for {place}", "day": "{day}"}, {"place": "Bonn"})
    {'city': 'Bonn', 'note': 'for Bonn'}
    """
    return dict(_members(template, arguments))


def sources(
    template: Mapping[str, JsonValue], filled: Mapping[str, JsonValue], stated: Sequence[Provenance]
) -> tuple[Provenance, ...]:
    """Return where the filled arguments come from: from where those in them came; the contract's words are trusted.

    An argument in which one without a stated source is used gets none either, so that nobody vouches for it.
    """
    return tuple(
        source for name, value in template.items() if name in filled for source in _sources_of(name, value, stated)
    )


def _sources_of(name: str, template: JsonValue, stated: Sequence[Provenance]) -> Iterator[Provenance]:
    used = {used for _, text in placeholders.texts(template) for used in placeholders.names(text)}
    pointer = pointers.join(name)
    if not used:
        yield Provenance(pointer=pointer, source="contract_value", trust=Trust.TRUSTED)
        return
    found = {parameter: [source for source in stated if _is_about(source, parameter)] for parameter in used}
    if all(found.values()):
        for parameter in sorted(found):
            for source in found[parameter]:
                yield Provenance(pointer=pointer, source=source.source, step_id=source.step_id, trust=source.trust)


def _is_about(source: Provenance, parameter: str) -> bool:
    """Tell whether a source is stated for a parameter, a part of it, or all arguments."""
    return source.pointer == "" or (source.pointer + "/").startswith(pointers.join(parameter) + "/")


def _members(template: Mapping[str, JsonValue], arguments: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    for name, value in template.items():
        filled = _filled(value, arguments)
        if not isinstance(filled, Absent):
            yield name, filled


def _filled(template: JsonValue, arguments: Mapping[str, JsonValue]) -> Json:
    if isinstance(template, dict):
        return dict(_members(template, arguments))
    if isinstance(template, list):
        items = (_filled(item, arguments) for item in template)
        return [item for item in items if not isinstance(item, Absent)]
    if not isinstance(template, str):
        return template
    name = placeholders.whole(template)
    if name is not None:
        return arguments.get(name, ABSENT)
    return _PLACEHOLDER.sub(lambda found: _text(arguments.get(found[1], "")), template)


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else exact_json.dumps(value)
