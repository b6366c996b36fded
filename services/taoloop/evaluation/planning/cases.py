"""The form of planning cases and predictions, and how a file of cases is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from taoloop.core.errors import InvalidRequest
from taoloop.core.exact_json import JsonSyntaxError, JsonValue, loads

PLAN: Final = "plan"
ASK: Final = "ask"
NONE: Final = "none"
KINDS: Final = (PLAN, ASK, NONE)

Record = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningCase:
    """One request with the tools that are offered for it and the decision that is right.

    Attributes:
        id: Unique in the file.
        category: What is tried: `simple`, `choose`, `parallel`, `multistep`, `none`, `ask`.
        lang: `en`, `zh` or `other`.
        source: Where the case comes from.
        context: What is said before the request, such as the day; may be empty.
        query: The request.
        tools: The offered tools: `name`, `description`, `parameters` and perhaps `returns` and `effect`.
        expected: `{"kind": "plan", "steps": [...]}`, `{"kind": "ask", "fields": [...]}` or `{"kind": "none"}`.
        match: `exact`, or `contains` where a text counts that holds the expected one.
    """

    id: str
    category: str
    lang: str
    source: str
    context: str
    query: str
    tools: tuple[Record, ...]
    expected: Record
    match: str = "exact"

    @property
    def kind(self) -> str:
        """Return the expected kind of decision."""
        return str(self.expected["kind"])


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One case, and where its line ends in the file, for progress."""

    case: PlanningCase
    end_bytes: int


def read_cases(path: Path) -> Iterator[CaseLine]:
    """Yield the cases of a JSON-lines file.

    Raises:
        InvalidRequest: The file cannot be read, or a line is no case; the message names both.
    """
    end = 0
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                end += len(line)
                if line.strip():
                    yield CaseLine(_case(line, path, number), end)
    except OSError as exc:
        raise InvalidRequest(f"{path} cannot be read: {exc.strerror or exc}.", metadata={"path": str(path)}) from exc


def _case(line: bytes, path: Path, number: int) -> PlanningCase:
    try:
        value = loads(line)
        return case_of(cast("Mapping[str, JsonValue]", value))
    except (JsonSyntaxError, KeyError, TypeError, AttributeError, ValueError) as exc:
        raise InvalidRequest(f"{path}:{number} is no planning case: {exc}.", metadata={"path": str(path)}) from exc


def case_of(value: Mapping[str, Any]) -> PlanningCase:
    """Return the case that a JSON object holds.

    Raises:
        KeyError: A member is missing.
        ValueError: The expected kind is none of the three.
    """
    expected = dict(value["expected"])
    if expected["kind"] not in KINDS:
        raise ValueError(f"unknown kind {expected['kind']!r}")
    return PlanningCase(
        id=str(value["id"]),
        category=str(value.get("category", "")),
        lang=str(value.get("lang", "")),
        source=str(value.get("source", "")),
        context=str(value.get("context") or ""),
        query=str(value["query"]),
        tools=tuple(dict(tool) for tool in value["tools"]),
        expected=expected,
        match=str(value.get("match", "exact")),
    )
