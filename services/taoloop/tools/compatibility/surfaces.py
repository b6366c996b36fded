"""What changed between two states of a tool, and whether plans and callers that know the old one still work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.compatibility.schema_changes import SchemaChange, SchemaSide, schema_changes
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.signature import Effect, Reach, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """What plans, policies and readers of a tool depend on.

    Attributes:
        effect: What a call changes.
        reach: Who sees what it sends.
        trust: Whose words it answers.
        parameters: JSON Schema of the arguments.
        output: JSON Schema of the data after normalising.
        contract_digest: SHA-256 of the whole contract, which holds more than this.
        imported_digest: SHA-256 of what it was imported from; empty for a contract that people wrote.
    """

    effect: Effect
    reach: Reach
    trust: Trust
    parameters: JsonValue
    output: JsonValue
    contract_digest: str
    imported_digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference.

    Attributes:
        tool: Name of the tool.
        code: Stable UPPER_SNAKE name of the kind of change.
        pointer: Where in the contract; empty for the whole tool.
        is_breaking: Whether a plan or a caller that knows the old state may fail.
        message: What changed, one sentence with both values.
    """

    tool: str
    code: str
    pointer: str
    is_breaking: bool
    message: str

    def __str__(self) -> str:
        kind = "breaking" if self.is_breaking else "compatible"
        return f"{self.tool}{self.pointer}: {kind}: {self.message} [{self.code}]"


def surface_of(tool: CompiledTool, *, imported_label: str = "imported_digest") -> Surface:
    """Return the surface of a tool.

    Args:
        tool: The tool.
        imported_label: Name of the label with the digest of its source.
    """
    contract = tool.contract
    output = tool.output_schema
    return Surface(
        effect=contract.effect,
        reach=contract.reach,
        trust=contract.trust,
        parameters=dict(contract.parameters),
        output=output if isinstance(output, bool) else dict(output),
        contract_digest=contract.digest,
        imported_digest=contract.labels.get(imported_label, ""),
    )


def compare(old: Mapping[str, Surface], new: Mapping[str, Surface]) -> tuple[Change, ...]:
    """Return every difference between two catalogues by the names of their tools, breaking ones first per tool.

    Args:
        old: Name to surface, as callers know them.
        new: Name to surface, as they are now.
    """
    changes: list[Change] = []
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            changes.append(_change(name, "TOOL_REMOVED", "", "the tool is gone", is_breaking=True))
        elif name not in old:
            changes.append(_change(name, "TOOL_ADDED", "", "the tool is new", is_breaking=False))
        else:
            changes += sorted(_tool_changes(name, old[name], new[name]), key=lambda each: not each.is_breaking)
    return tuple(changes)


def _tool_changes(name: str, old: Surface, new: Surface) -> Iterator[Change]:
    if old.contract_digest == new.contract_digest:
        return
    yield from _word_changes(name, old, new)
    sides = (
        (SchemaSide.INPUT, "/spec/parameters", old.parameters, new.parameters),
        (SchemaSide.OUTPUT, "/output", old.output, new.output),
    )
    for side, pointer, before, after in sides:
        found = tuple(schema_changes(before, after, side))
        yield from (_of_schema(name, each, pointer) for each in found)
        if not found and not exact_json.equal(before, after):
            message = "the schema is worded otherwise, and allows the same as far as can be told"
            yield _change(name, "SCHEMA_REWORDED", pointer, message, is_breaking=False)
    if old.imported_digest != new.imported_digest:
        message = "what the contract was imported from has changed"
        yield _change(name, "SOURCE_CHANGED", "/metadata/labels", message, is_breaking=False)
    if not _differs(old, new):
        message = "the contract differs in what no plan depends on"
        yield _change(name, "CONTRACT_CHANGED", "", message, is_breaking=False)


def _differs(old: Surface, new: Surface) -> bool:
    words = (old.effect, old.reach, old.trust, old.imported_digest) != (
        new.effect,
        new.reach,
        new.trust,
        new.imported_digest,
    )
    return words or not (exact_json.equal(old.parameters, new.parameters) and exact_json.equal(old.output, new.output))


_EFFECT_WORDS: Final = ("EFFECT_STRENGTHENED", "EFFECT_WEAKENED")


def _word_changes(name: str, old: Surface, new: Surface) -> Iterator[Change]:
    if old.effect is not new.effect:
        is_stronger = new.effect.rank > old.effect.rank
        message = f"the effect was {old.effect} and is {new.effect}"
        yield _change(name, _EFFECT_WORDS[not is_stronger], "/spec/effect", message, is_breaking=is_stronger)
    if old.reach is not new.reach:
        message = f"the reach was {old.reach} and is {new.reach}"
        yield _change(name, "REACH_CHANGED", "/spec/reach", message, is_breaking=new.reach is Reach.OUTWARD)
    if old.trust is not new.trust:
        message = f"the output was {old.trust} and is {new.trust}"
        yield _change(name, "TRUST_CHANGED", "/spec/trust", message, is_breaking=new.trust is Trust.UNTRUSTED)


def _of_schema(name: str, change: SchemaChange, pointer: str) -> Change:
    return _change(name, change.code, pointer + change.pointer, change.message, is_breaking=change.is_breaking)


def _change(tool: str, code: str, pointer: str, message: str, *, is_breaking: bool) -> Change:
    return Change(tool=tool, code=code, pointer=pointer, is_breaking=is_breaking, message=message)
