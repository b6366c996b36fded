"""Reads a file of cases: JSON lines with exact numbers, and a clear fault for every line that is none."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NoReturn

from taoloop.evaluation.cases.model import Adapter, Case

COMPONENTS: Final = (
    "thought-parse",
    "plan-validate",
    "action-http",
    "action-breaker",
    "observation-rules",
    "observation-normalise",
    "queue",
    "grpc",
    "telemetry",
    "deploy",
    "security",
)
"""The parts of the product that cases name."""


class CaseFileFault(ValueError):
    """The file cannot be run as it is.

    Attributes:
        faults: One sentence per fault, `line N: …` where it has a line; at least one.
    """

    def __init__(self, faults: Collection[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


def read_cases(path: Path, adapters: Mapping[str, Adapter]) -> tuple[Case, ...]:
    """Read every case of a file; blank lines hold none.

    Raises:
        CaseFileFault: The file cannot be read, holds no case, or has lines that are no cases: all of them are named.
    """
    try:
        text = path.read_bytes().decode()
    except OSError as exc:
        raise CaseFileFault([f"{path}: {exc.strerror or exc}"]) from exc
    except UnicodeDecodeError as exc:
        raise CaseFileFault([f"{path}: not UTF-8 at byte {exc.start}"]) from exc
    return parse_cases(text, adapters)


def parse_cases(text: str, adapters: Mapping[str, Adapter]) -> tuple[Case, ...]:
    """Read every case of a text.

    Raises:
        CaseFileFault: As for `read_cases`.
    """
    cases: list[Case] = []
    faults: list[str] = []
    lines_by_id: dict[str, int] = {}
    # Only a line feed ends a line: a value may hold the other characters that `splitlines` would cut at.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            case = _case(line, number, adapters)
            if case.case_id in lines_by_id:
                raise _LineFault(f"the id {case.case_id} stands in line {lines_by_id[case.case_id]} already")
        except _LineFault as fault:
            faults.append(f"line {number}: {fault}")
            continue
        lines_by_id[case.case_id] = number
        cases.append(case)
    if not cases and not faults:
        faults.append("the file holds no case")
    if faults:
        raise CaseFileFault(faults)
    return tuple(cases)


class _LineFault(ValueError):
    """Why a line is no case."""


def _case(line: str, number: int, adapters: Mapping[str, Adapter]) -> Case:
    document = _object(_parsed(line), "the line")
    case_id, component = _text(document, "id"), _text(document, "component")
    case_input, expect = _object(_member(document, "input"), "input"), _object(_member(document, "expect"), "expect")
    if component not in COMPONENTS:
        raise _LineFault(f"unknown component {component!r}; there are {', '.join(COMPONENTS)}")
    _check_expect(expect)
    kind = _text(case_input, "kind", "input")
    adapter = adapters.get(kind)
    missing = adapter.missing(case_input) if adapter is not None else ""
    if missing:
        raise _LineFault(f"the input of kind {kind} has no {missing.replace('|', ' or ')}")
    return Case(line=number, case_id=case_id, component=component, kind=kind, input=case_input, expect=expect)


def _check_expect(expect: Mapping[str, Any]) -> None:
    if not expect:
        raise _LineFault("expect says nothing")
    for key in ("any_of", "errors"):
        items = expect.get(key, [])
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise _LineFault(f"{key!r} of expect is no list of objects")


def _parsed(line: str) -> Any:
    """Parse one line with the standard library: a case may hold what the product's own reader refuses."""
    try:
        return json.loads(line, parse_float=Decimal, parse_constant=_refuse, object_pairs_hook=_unique)
    except json.JSONDecodeError as exc:
        raise _LineFault(f"not JSON: {exc.msg} at column {exc.colno}") from exc
    except RecursionError as exc:
        raise _LineFault("not JSON: nested too deep") from exc


def _refuse(word: str) -> NoReturn:
    raise _LineFault(f"not JSON: {word}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _LineFault(f"the key {next(name for name in names if names.count(name) > 1)!r} is repeated")
    return found


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _LineFault(f"{what} is no object")
    return value


def _member(document: Mapping[str, Any], key: str, owner: str = "the line") -> Any:
    if key not in document:
        raise _LineFault(f"{owner} has no {key!r}")
    return document[key]


def _text(document: Mapping[str, Any], key: str, owner: str = "the line") -> str:
    value = _member(document, key, owner)
    if not isinstance(value, str) or not value:
        raise _LineFault(f"{key!r} of {owner} is no text")
    return value
