"""`contracts.lock`: what plans depend on in each tool, written down to be reviewed with every change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.compatibility.surfaces import Surface, surface_of
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Effect, Reach, Trust

FILE_NAME: Final = "contracts.lock"
"""Name of the file in a catalogue's directory."""

KIND: Final = "ContractsLock"
API_VERSION: Final = "taoloop.dev/v1"
MAX_LOCK_BYTES: Final = 64 << 20
"""Largest lock that is read."""

_DIGEST: Final[JsonValue] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_FORM: Final = CompiledSchema.compile(
    {
        "type": "object",
        "required": ["apiVersion", "kind", "digest", "tools"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": KIND},
            "digest": _DIGEST,
            "tools": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "required": ["contract", "output_schema", "effect", "reach", "trust", "parameters", "output"],
                    "additionalProperties": False,
                    "properties": {
                        "contract": _DIGEST,
                        "output_schema": _DIGEST,
                        "imported_from": _DIGEST,
                        "effect": {"enum": [each.value for each in Effect]},
                        "reach": {"enum": [each.value for each in Reach]},
                        "trust": {"enum": [each.value for each in Trust]},
                        "parameters": {"type": ["object", "boolean"]},
                        "output": {"type": ["object", "boolean"]},
                    },
                },
            },
        },
    }
)


class LockRefused(ValueError):
    """The text is no lock."""


@dataclass(frozen=True, slots=True)
class Lock:
    """What a lock holds.

    Attributes:
        digest: Of the catalogue.
        surfaces: Tool to surface.
    """

    digest: str
    surfaces: Mapping[str, Surface]


def lock_of(catalogue: Catalogue) -> Lock:
    """Return the lock of a catalogue."""
    return Lock(catalogue.digest, {tool.contract.name: surface_of(tool) for tool in catalogue})


def write_lock(lock: Lock) -> str:
    """Return the text of a lock: the same tools give the same bytes, one value a line, so that diffs are read."""
    content = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "digest": lock.digest,
        "tools": {name: _tool(surface) for name, surface in sorted(lock.surfaces.items())},
    }
    return "\n".join(_lines(content, "")) + "\n"


def read_lock(text: str) -> Lock:
    """Read the text of a lock.

    Raises:
        LockRefused: Not JSON, or not a lock.
    """
    try:
        value = exact_json.loads(text, max_bytes=MAX_LOCK_BYTES)
    except exact_json.JsonSyntaxError as exc:
        raise LockRefused(f"the lock is not JSON: {exc}") from exc
    violations = _FORM.violations(value)
    if violations or not isinstance(value, dict):
        raise LockRefused(f"the file is no lock: {violations[0].pointer or '(root)'}: {violations[0].message}")
    content: dict[str, Any] = value
    return Lock(content["digest"], {name: _surface(tool) for name, tool in content["tools"].items()})


def read_lock_file(path: Path) -> Lock:
    """Read a lock from its file.

    Raises:
        LockRefused: It cannot be read, or is no lock.
    """
    try:
        return read_lock(path.read_bytes().decode())
    except OSError as exc:
        raise LockRefused(f"{path} cannot be read: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        raise LockRefused(f"{path} is not UTF-8") from exc


def _lines(value: Any, pad: str, head: str = "", tail: str = "") -> Iterator[str]:
    """Yield JSON with one member a line, numbers exact; keys are sorted, since their order says nothing."""
    if not isinstance(value, Mapping) or not value:
        yield f"{pad}{head}{exact_json.canonical(value)}{tail}"
        return
    yield f"{pad}{head}{{"
    members = sorted(value.items())
    for number, (key, member) in enumerate(members, 1):
        comma = "," if number < len(members) else ""
        yield from _lines(member, pad + "  ", f"{exact_json.dumps(key)}: ", comma)
    yield f"{pad}}}{tail}"


def _tool(surface: Surface) -> dict[str, Any]:
    imported = {"imported_from": surface.imported_digest} if surface.imported_digest else {}
    return {
        "contract": surface.contract_digest,
        "output_schema": exact_json.digest(surface.output),
        **imported,
        "effect": surface.effect.value,
        "reach": surface.reach.value,
        "trust": surface.trust.value,
        "parameters": surface.parameters,
        "output": surface.output,
    }


def _surface(written: Mapping[str, Any]) -> Surface:
    return Surface(
        effect=Effect(written["effect"]),
        reach=Reach(written["reach"]),
        trust=Trust(written["trust"]),
        parameters=written["parameters"],
        output=written["output"],
        contract_digest=written["contract"],
        imported_digest=written.get("imported_from", ""),
    )
