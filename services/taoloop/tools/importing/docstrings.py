"""What a docstring in Google's style says of a function as a tool."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_SECTION = re.compile(r"(?P<name>[A-Z][A-Za-z ]{0,30}):(?P<rest>.*)")
_ARGUMENT = re.compile(r"(?P<name>\*{0,2}\w+)\s*(?:\([^()]*\))?\s*:\s*(?P<text>.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDocstring:
    """The parts of a docstring that a contract has a place for.

    Attributes:
        summary: The first paragraph, on one line.
        use_when: What stands under `Use when:`.
        avoid_when: What stands under `Avoid when:`.
        arguments: Name to what stands under `Args:`.
    """

    summary: str = ""
    use_when: str = ""
    avoid_when: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)


def read_docstring(text: str | None) -> ToolDocstring:
    r"""Return the parts of a docstring.

    >>> read_docstring("Find it.\n\nUse when: someone lost it\n\nArgs:\n    key: What was lost.").use_when
    'someone lost it'
    """
    sections: dict[str, list[str]] = {"": []}
    name = ""
    for line in inspect.cleandoc(text or "").splitlines():
        found = _SECTION.fullmatch(line)
        if found is not None:
            name = found["name"].lower()
            sections[name] = [found["rest"]]
        else:
            sections[name].append(line)
    arguments = _arguments(sections.get("args", sections.get("arguments", [])))
    return ToolDocstring(
        summary=_paragraph(sections[""]),
        use_when=_paragraph(sections.get("use when", [])),
        avoid_when=_paragraph(sections.get("avoid when", [])),
        arguments=arguments,
    )


def _paragraph(lines: list[str]) -> str:
    text = "\n".join(lines).strip()
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())


def _arguments(lines: list[str]) -> dict[str, str]:
    """Read `name: text` entries; a line that is indented deeper goes on with the one before."""
    entries: dict[str, str] = {}
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    name = ""
    for line in lines:
        found = _ARGUMENT.fullmatch(line.strip())
        if found is not None and len(line) - len(line.lstrip()) == indent:
            name = found["name"].lstrip("*")
            entries[name] = found["text"]
        elif name and line.strip():
            entries[name] += " " + line.strip()
    return entries
