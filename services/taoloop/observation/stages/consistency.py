"""Whether the data is what the plan and the contract expect; a broken consistency keeps the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue, equal
from taoloop.core.faults import FaultCode
from taoloop.core.pointers import PointerNotFound, PointerSyntaxError
from taoloop.observation.stages.checks import schema_flaws
from taoloop.observation.stages.model import Flaw, Outcome, Stage, flaw
from taoloop.plan.observing import CheckVerdict, Consistency
from taoloop.tools.schemas import CompiledSchema


@dataclass(frozen=True, slots=True)
class KnownValues:
    """The values that a contract knows for one place of the data.

    Attributes:
        pointer: The place.
        values: The values.
    """

    pointer: str
    values: tuple[JsonValue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What a result should be, besides right.

    Attributes:
        expect: The plan's object from pointer to list of values; absent for none.
        known: The contract's values; a place that the data does not have says nothing.
        schemas: Schemas that the data must fit: the step's own, and the planned tool's when another answered.
        refused: Expectations that cannot be read, as flaws made by the caller.
    """

    expect: Json = ABSENT
    known: Sequence[KnownValues] = ()
    schemas: Sequence[CompiledSchema] = ()
    refused: Sequence[Flaw] = field(default=())


def check_consistency(data: JsonValue, expectations: Expectations) -> tuple[Consistency | None, Outcome]:
    """Return whether the data is as expected, None when nothing was; every difference is listed."""
    flaws = [*expectations.refused, *_plan_flaws(data, expectations.expect)]
    for known in expectations.known:
        flaws.extend(_known_flaws(data, known))
    for schema in expectations.schemas:
        flaws.extend(schema_flaws(schema, data, Stage.CONSISTENCY, FaultCode.CONSISTENCY_BROKEN))
    if flaws:
        return Consistency.BROKEN, Outcome(flaws=tuple(flaws))
    if not expectations.known and not expectations.schemas and expectations.expect in (ABSENT, None, {}):
        return None, Outcome()
    return Consistency.OK, Outcome(passed=("consistency_ok",))


def unreadable_expectation(message: str, *, pointer: str = "") -> Flaw:
    """Return the flaw of an expectation that cannot be checked: the check failed, so it does not pass."""
    return _broken(message, pointer=pointer, rule_id="expect", verdict=CheckVerdict.ERROR)


def _plan_flaws(data: JsonValue, expect: Json) -> list[Flaw]:
    if expect is ABSENT or expect is None:
        return []
    if not isinstance(expect, dict):
        return [unreadable_expectation("What the plan expects is not an object from pointer to list of values.")]
    flaws = []
    for pointer, values in expect.items():
        found = _expected_flaw(data, pointer, values)
        if found is not None:
            flaws.append(found)
    return flaws


def _expected_flaw(data: JsonValue, pointer: str, values: JsonValue) -> Flaw | None:
    if not isinstance(values, list):
        return unreadable_expectation("What the plan expects at a place is a list of values.", pointer=pointer)
    try:
        actual = pointers.lookup(data, pointer)
    except PointerSyntaxError:
        return unreadable_expectation("The plan's expectation names no JSON pointer.", pointer=pointer)
    except PointerNotFound:
        message = "The plan expects a value where the data has none."
        return _broken(message, pointer=pointer, rule_id="expect", expected=values, verdict=CheckVerdict.INDETERMINATE)
    if any(equal(actual, value) for value in values):
        return None
    message = "The value is none of those that the plan expects."
    return _broken(message, pointer=pointer, rule_id="expect", expected=values, actual=actual)


def _known_flaws(data: JsonValue, known: KnownValues) -> list[Flaw]:
    try:
        actual = pointers.lookup(data, known.pointer)
    except PointerNotFound:
        return []
    if any(equal(actual, value) for value in known.values):
        return []
    message = "The value is none of those that the contract knows."
    expected = list(known.values)
    return [_broken(message, pointer=known.pointer, rule_id="known", expected=expected, actual=actual)]


def _broken(
    message: str,
    *,
    pointer: str,
    rule_id: str,
    expected: Json = ABSENT,
    actual: Json = ABSENT,
    verdict: CheckVerdict = CheckVerdict.FAIL,
) -> Flaw:
    return flaw(
        Stage.CONSISTENCY,
        FaultCode.CONSISTENCY_BROKEN,
        message,
        pointer=pointer,
        rule_id=rule_id,
        expected=expected,
        actual=actual,
        verdict=verdict,
    )
