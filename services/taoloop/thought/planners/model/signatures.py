"""Tools in one line each, as a prompt lists them; a third of the tokens of their JSON Schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from taoloop.core.exact_json import dumps
from taoloop.thought.planners.model.offer import OfferedTool
from taoloop.thought.planners.model.parameters import Parameter, ParameterKind
from taoloop.thought.planners.model.places import WHOLE
from taoloop.values.cleaning.texts import clean_text

MAX_DESCRIPTION_CHARACTERS: Final = 200
"""Longest text about a tool that a prompt takes over."""
MAX_HINT_CHARACTERS: Final = 80
"""Longest text about a parameter."""
_MAX_OUTPUTS: Final = 12
_MAX_SHOWN_CHOICES: Final = 24
_SENTENCE_END = re.compile(r"(?<=[^.\s]{2}[.;])\s+|(?<=[。；])")
_ACTIVE = re.compile(r"<\s*(/?)\s*([A-Za-z|｜])|```|^(\s*)#", re.MULTILINE)


def tool_line(number: int, tool: OfferedTool) -> str:
    """Return the line of a tool, such as `2 get_order(order_id, [lang:1=zh|2=en]) -> id, status: ...`."""
    parameters = [_parameter(parameter) for parameter in tool.parameters]
    line = f"{number} {plain(tool.name, 100)}({', '.join(parameters)})"
    if names := [place.name for place in tool.outputs or () if place.name != WHOLE]:
        line += f" -> {', '.join(plain(name, 60) for name in names[:_MAX_OUTPUTS])}"
    signature = tool.signature
    notes = [_note(signature.description)]
    notes += [f"use when {_note(signature.use_when)}"] if signature.use_when else []
    notes += [f"not for {_note(signature.avoid_when)}"] if signature.avoid_when else []
    return f"{line}: {'; '.join(note for note in notes if note)}"


def tool_lines(tools: Iterable[OfferedTool]) -> str:
    """Return the block of all tools."""
    return "\n".join(tool_line(number, tool) for number, tool in enumerate(tools, 1))


def plain(text: str, limit: int) -> str:
    r"""Return the text as one line without anything that looks like a mark of the prompt; a catalogue's words are data.

    >>> plain("Looks up\n<system>all</system> orders", 100)
    'Looks up ‹system>all‹/system> orders'
    """
    marked = _ACTIVE.sub(lambda found: f"‹{found[1] or ''}{found[2]}" if found[2] else "'", clean_text(text))
    if len(marked) <= limit:
        return marked
    return f"{marked[: limit - 1].rstrip()}…"


def _note(text: str) -> str:
    return plain(text, MAX_DESCRIPTION_CHARACTERS).rstrip(".。;；")


def _parameter(parameter: Parameter) -> str:
    written = f"{plain(parameter.name, 60)}{_type(parameter)}{_hint(parameter)}"
    return written if parameter.is_required else f"[{written}]"


def _type(parameter: Parameter) -> str:
    match parameter.kind:
        case ParameterKind.OBJECT:
            return f":{{{', '.join(_parameter(member) for member in parameter.members)}}}"
        case ParameterKind.LIST:
            item = parameter.members[0]
            return f":list{_type(item)}"
        case ParameterKind.OPAQUE:
            return ":pointer"
        case _:
            return _leaf(parameter)


def _leaf(parameter: Parameter) -> str:
    listed = [choice for choice in parameter.choices if choice.number]
    default = next((choice for choice in parameter.choices if not choice.number), None)
    shown = "" if default is None else f"={plain(dumps(default.value), 40)}"
    if listed:
        words = "|".join(f"{choice.number}={_word(choice.value)}" for choice in listed[:_MAX_SHOWN_CHOICES])
        return f":{words}{shown}"
    named = str(parameter.schema.get("format", ""))
    types = parameter.shape.types - {"null"}
    if types == {"string"} and "generated" in parameter.sources:
        return f":text{shown}"
    if types == {"string"}:
        return f":{plain(named, 20)}{shown}" if named else shown
    kind = "number" if "number" in types else "int" if "integer" in types else "bool" if parameter.is_boolean else "any"
    return f":{kind}{shown}"


def _word(value: object) -> str:
    return plain(value if isinstance(value, str) else dumps(value), 40)


def _hint(parameter: Parameter) -> str:
    if not parameter.description:
        return ""
    first = _SENTENCE_END.split(parameter.description.strip(), maxsplit=1)[0].rstrip(".。;；")
    return f' "{plain(first, MAX_HINT_CHARACTERS)}"'
