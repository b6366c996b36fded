"""The strict score of one prediction: the right decision, the right calls, every argument right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from taoloop.evaluation.planning.cases import NONE, PLAN, PlanningCase, Record
from taoloop.evaluation.planning.values import (
    folded,
    is_acceptable,
    is_equal,
    is_same_path,
    reference_of,
    references_in,
)

MAX_MAPPINGS: Final = 5040
"""How many ways to pair predicted with expected steps are tried: all ways of seven calls of one tool."""

Edges = set[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Score:
    """What one prediction is worth.

    Attributes:
        is_right: Whether all of it is right.
        is_kind_right: Whether plan, ask or none was the right decision.
        reason: Why it is not right, a few words; empty when it is.
    """

    is_right: bool
    is_kind_right: bool
    reason: str = ""


def score(case: PlanningCase, prediction: Mapping[str, Any] | None) -> Score:
    """Score one prediction; none at all is wrong.

    A plan is right when its steps can be paired with the expected ones so that tools, arguments and references agree
    and every expected dependency is there. A question is right when each field it names is one that is missing.
    """
    if prediction is None:
        return Score(False, False, "no prediction")
    kind = prediction.get("kind")
    if kind != case.kind:
        return Score(False, False, f"kind {kind}")
    if kind == NONE:
        return Score(True, True)
    reason = _plan_fault(case, prediction) if kind == PLAN else _ask_fault(case, prediction)
    return Score(reason == "", True, reason)


def _ask_fault(case: PlanningCase, prediction: Mapping[str, Any]) -> str:
    wanted = {_last_name(name) for name in case.expected["fields"]}
    given = {_last_name(name) for name in prediction.get("fields") or ()}
    return "" if given and given <= wanted else "fields"


def _last_name(field: object) -> str:
    return folded(re.split(r"[.\[\]/]+", str(field).strip("."))[-1])


def _plan_fault(case: PlanningCase, prediction: Mapping[str, Any]) -> str:
    steps = _numbered(prediction)
    expected: list[Record] = case.expected["steps"]
    if not steps:
        return "no steps"
    given, wanted = Counter(step.get("tool") for step in steps), Counter(step["tool"] for step in expected)
    if given != wanted:
        extra, lacking = given - wanted, wanted - given
        return "too many steps" if not lacking else "too few steps" if not extra else "wrong tool"
    ids = [str(step["id"]) for step in steps]
    if len(set(ids)) != len(ids):
        return "a step id twice"
    best = (-1, "no pairing")
    for pairing in _pairings(steps, expected):
        right, reason = _pairing_fault(case, steps, expected, pairing)
        if not reason:
            return ""
        best = max(best, (right, reason), key=lambda item: item[0])
    return best[1]


def _numbered(prediction: Mapping[str, Any]) -> list[Record]:
    steps = [dict(step) for step in prediction.get("steps") or () if isinstance(step, Mapping)]
    for number, step in enumerate(steps, 1):
        step.setdefault("id", f"s{number}")
    return steps


def _pairings(steps: Sequence[Record], expected: Sequence[Record]) -> Iterator[tuple[int, ...]]:
    """Yield, for each predicted step, the number of the expected one that has its tool."""
    options = [[number for number, other in enumerate(expected) if other["tool"] == step.get("tool")] for step in steps]
    left = [MAX_MAPPINGS]

    def grown(chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if left[0] <= 0:
            return
        if len(chosen) == len(steps):
            left[0] -= 1
            yield chosen
            return
        for number in options[len(chosen)]:
            if number not in chosen:
                yield from grown((*chosen, number))

    yield from grown(())


def _pairing_fault(
    case: PlanningCase, steps: Sequence[Record], expected: Sequence[Record], pairing: tuple[int, ...]
) -> tuple[int, str]:
    """Return how many steps are right and what is wrong under one pairing."""
    mapped = {str(step["id"]): str(expected[number]["id"]) for step, number in zip(steps, pairing, strict=True)}
    faults = [_step_fault(case, step, expected[number], mapped) for step, number in zip(steps, pairing, strict=True)]
    wrong = [fault for fault in faults if fault]
    if wrong:
        return len(faults) - len(wrong), wrong[0]
    return len(faults), _order_fault(steps, expected, mapped)


def _order_fault(steps: Sequence[Record], expected: Sequence[Record], mapped: Mapping[str, str]) -> str:
    edges = _edges(steps)
    wanted = {(str(before), str(step["id"])) for step in expected for before in step.get("depends_on") or ()}
    missing = wanted - {(mapped[before], mapped[after]) for before, after in edges}
    if not missing <= _spare_edges(expected):
        return "dependency missing"
    known = {step for item in steps for step, _ in references_in(item.get("args") or {})} <= mapped.keys()
    return "" if known and _is_acyclic(set(mapped), edges) else "cycle or unknown reference"


def _spare_edges(expected: Sequence[Record]) -> Edges:
    """Return the edges that only a reference with alternatives needs."""
    return {
        (argument["$ref"].split(".")[0], str(step["id"]))
        for step in expected
        for argument in step["args"].values()
        if isinstance(argument, Mapping) and "$ref" in argument and ("alt" in argument or "any_of" in argument)
    }


def _edges(steps: Sequence[Record]) -> Edges:
    ids = {str(step["id"]) for step in steps}
    found: Edges = set()
    for step in steps:
        before = [str(item) for item in step.get("depends_on") or ()]
        before += [item for item, _ in references_in(step.get("args") or {})]
        found |= {(item, str(step["id"])) for item in before if item in ids}
    return found


def _is_acyclic(ids: set[str], edges: Edges) -> bool:
    while ids:
        free = {item for item in ids if not any(after == item for _, after in edges)}
        if not free:
            return False
        ids = ids - free
        edges = {(before, after) for before, after in edges if before not in free}
    return True


def _step_fault(case: PlanningCase, step: Record, expected: Record, mapped: Mapping[str, str]) -> str:
    arguments = step.get("args") or {}
    if not isinstance(arguments, Mapping):
        return "arguments are no object"
    tool = next(tool for tool in case.tools if tool["name"] == expected["tool"])
    properties: Mapping[str, Any] = tool["parameters"].get("properties", {})
    optional = expected.get("optional") or ()
    for name, wanted in expected["args"].items():
        if name not in arguments:
            if name in optional:
                continue
            return "missing argument"
        fault = _argument_fault(arguments[name], wanted, properties.get(name), mapped, case.match)
        if fault:
            return fault
    for name, value in arguments.items():
        if name not in expected["args"] and not _is_harmless(name, value, properties, optional):
            return "extra argument" if name in properties else "unknown argument"
    return ""


def _argument_fault(
    value: object, wanted: Any, schema: Mapping[str, Any] | None, mapped: Mapping[str, str], match: str
) -> str:
    if isinstance(wanted, Mapping) and "$ref" in wanted:
        return _reference_fault(value, wanted, schema, mapped, match)
    if isinstance(wanted, Mapping) and "$contains" in wanted:
        given = [(mapped.get(step), path) for step, path in references_in(value)]
        for target in wanted["$contains"]:
            step, _, path = target.partition(".")
            if not any(one == step and is_same_path(two, path) for one, two in given):
                return "embedded reference missing"
        return ""
    if reference_of(value) is not None:
        return "reference instead of literal"
    return "" if is_acceptable(value, wanted, schema, match) else "wrong value"


def _reference_fault(
    value: object, wanted: Mapping[str, Any], schema: Mapping[str, Any] | None, mapped: Mapping[str, str], match: str
) -> str:
    reference = reference_of(value)
    if reference is None:
        accepted = "alt" in wanted and is_acceptable(value, wanted["alt"], schema, match)
        return "" if accepted else "literal instead of reference"
    step, _, path = str(wanted["$ref"]).partition(".")
    if mapped.get(reference[0]) not in {step, *wanted.get("any_of", ())}:
        return "reference to the wrong step"
    return "" if is_same_path(reference[1], path) else "wrong output field"


def _is_harmless(name: str, value: object, properties: Mapping[str, Any], optional: Sequence[str]) -> bool:
    """Tell whether an argument that nobody expects does no harm: the tool's default, or one left to the caller."""
    if name not in properties:
        return False
    schema = properties[name]
    if "default" in schema and (
        is_equal(value, schema["default"], "exact") or folded(value) == folded(schema["default"])
    ):
        return True
    return name in optional
