"""Reads the notation of written families: tools on one line each, requests with their calls, refusals.

```
family travel en
T flights.search | Search for flights. | origin:string! Departure city. ; cabin:enum(economy,first)=economy Cabin.
R Find flights from Lisbon{destination: to Vienna} in first class.
C flights.search | origin=Lisbon ; destination=Vienna | "Vienna, Austria" ; cabin?=first
N What is the capital of Mongolia? @ flights.search
```

`!` marks what is required, `=` a default, `{name:words}` the words of one parameter, which may be left out, `?` an
argument that may be there, ` | ` further values that are right, and `$1.field` a field of the first call's result.
After ` @ ` stand the tools that are offered for a request that none of them serves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

_GAP = re.compile(r"\{(?P<name>[A-Za-z_.]+)(?P<kept>\?)?:(?P<words>[^{}]*)\}")
_PARAMETER = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*):(?P<rest>.*)", re.DOTALL)
_OPENING: Final = "{<("
_CLOSING: Final = "}>)"


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """One expected call: its tool, the values that are right for each argument, and which arguments may be left out."""

    tool: str
    arguments: dict[str, list[Any]]
    optional: tuple[str, ...] = ()


@dataclass(slots=True)
class WrittenRequest:
    """One request.

    Attributes:
        text: All of it.
        gaps: The same without one value, by the name of its parameter.
        calls: What it asks for, in order; none when no tool of the family serves it.
    """

    text: str
    gaps: dict[str, str] = field(default_factory=dict)
    calls: list[WrittenCall] = field(default_factory=list)


@dataclass(slots=True)
class Family:
    """Tools of one subject with requests for them, and requests that they do not serve, with the tools offered."""

    name: str
    lang: str
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[WrittenRequest] = field(default_factory=list)
    refused: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)


def read_family(text: str) -> Family:
    """Return the family that a text describes.

    Raises:
        ValueError: A line is not of the notation.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    _, name, lang = lines[0].split()
    family = Family(name, lang)
    for line in lines[1:]:
        kind, rest = line[:2], line[2:].strip()
        match kind:
            case "T ":
                made = _tool(rest)
                family.tools[made["name"]] = made
            case "R ":
                family.requests.append(_request(rest))
            case "C ":
                family.requests[-1].calls.append(_call(rest))
            case "N ":
                said, _, offered = rest.partition(" @ ")
                family.refused.append((said, tuple(offered.split())))
            case _:
                raise ValueError(f"unknown line {line!r}")
    return family


def _tool(line: str) -> dict[str, Any]:
    name, description, rest = (part.strip() for part in line.split(" | ", 2))
    taken, _, given = rest.partition(" -> ")
    made = {"name": name, "description": description.removesuffix(" @write"), "parameters": _object(taken)}
    if description.endswith(" @write"):
        made["effect"] = "write"
    if given:
        made["returns"] = _object(given)
    return made


def _object(text: str) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    for part in _split(text):
        match = _PARAMETER.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"no parameter: {part!r}")
        schema, is_required = _typed(match["rest"])
        made["properties"][match["name"]] = schema
        if is_required:
            made["required"].append(match["name"])
    return made


def _split(text: str) -> Iterator[str]:
    depth, begin = 0, 0
    for place, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth == 0 and text.startswith(" ; ", place):
            yield text[begin:place]
            begin = place + 3
    if text[begin:].strip():
        yield text[begin:]


def _typed(text: str) -> tuple[dict[str, Any], bool]:
    """Return the schema of a parameter and whether it is required: `type[=default][!] description`."""
    told, description = _parted(text)
    is_required = told.endswith("!")
    kind, has_default, default = told.removesuffix("!").partition("=")
    schema = _schema(kind)
    if description:
        schema["description"] = description
    if has_default:
        schema["default"] = _value(default)
    return schema, is_required


def _parted(text: str) -> tuple[str, str]:
    """Return what stands before the first blank outside of brackets, and the rest."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth == 0 and character == " ":
            return text[:place], text[place:].strip()
    return text, ""


def _schema(kind: str) -> dict[str, Any]:
    if kind.startswith("{"):
        return _object(kind[1:-1])
    if kind.startswith("array<"):
        return {"type": "array", "items": _schema(kind[6:-1])}
    if kind.startswith("enum("):
        return {"type": "string", "enum": kind[5:-1].split(",")}
    return {"type": kind}


def _request(line: str) -> WrittenRequest:
    marked, _, other = line.partition(" // ")
    made = WrittenRequest(_GAP.sub(lambda gap: gap["words"], marked).strip())
    for gap in _GAP.finditer(marked):
        if not gap["kept"]:
            left = marked[: gap.start()] + marked[gap.end() :]
            made.gaps[gap["name"]] = other.strip() or _GAP.sub(lambda each: each["words"], left).strip()
    return made


def _call(line: str) -> WrittenCall:
    tool, _, rest = line.partition(" | ")
    arguments: dict[str, list[Any]] = {}
    optional = []
    for part in rest.split(" ; "):
        name, _, value = part.partition("=")
        if name.endswith("?"):
            optional.append(name.removesuffix("?"))
        arguments[name.strip().removesuffix("?")] = [_value(item) for item in value.split(" | ")]
    return WrittenCall(tool.strip(), arguments, tuple(optional))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text.strip()
