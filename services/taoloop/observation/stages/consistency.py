"""Whether the data is what the plan and the contract expect; a broken consistency keeps the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue, equal
from taoloop.core.faults import FaultCode
from taoloop.core.pointers import PointerNotFound, PointerSyntaxError
from taoloop.core.records import quickly_made
from taoloop.observation.drift.detecting import unknown_value
from taoloop.observation.stages.checks import schema_flaws
from taoloop.observation.stages.details import CONSISTENT, SNAPSHOT_CONSUMED
from taoloop.observation.stages.model import Flaw, Outcome, Stage, flaw
from taoloop.plan.observing import CheckVerdict, Consistency, Drift
from taoloop.plan.rules.snapshot import carries
from taoloop.tools.normalisers.places import Path, Tokens, find
from taoloop.tools.schemas import CompiledSchema

MAX_UNKNOWN: Final = 20
"""Most unknown values at one place with stars that a verdict lists."""

MAX_BROKEN: Final = 20
"""Most expectations of the plan that a verdict lists as broken."""


@dataclass(frozen=True, slots=True)
class KnownValues:
    """The values that a contract knows for one place of the data, or for all that its stars name.

    Attributes:
        tokens: The place.
        values: The values.
        texts: Those of them that are texts, which are found at once.
    """

    tokens: Tokens
    values: tuple[JsonValue, ...]
    texts: frozenset[str]

    @classmethod
    def compile(cls, pointer: str, values: Sequence[JsonValue]) -> Self:
        """Read the contract's pointer.

        Raises:
            PointerSyntaxError: It is none; an accepted contract has no such pointer.
        """
        texts = frozenset(value for value in values if isinstance(value, str))
        return cls(pointers.parse(pointer), tuple(values), texts)

    def unknown_in(self, data: JsonValue) -> list[tuple[Path, JsonValue]]:
        """Return the places of the data with another value; a place that the data does not have says nothing."""
        return [found for found in find(data, self.tokens) if not self._has(found[1])]

    def _has(self, value: JsonValue) -> bool:
        if isinstance(value, str):
            return value in self.texts
        return any(equal(value, known) for known in self.values)


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What a result should be, besides right.

    Attributes:
        expect: The plan's object from pointer to list of values; absent for none.
        snapshot: The entries of the plan's state snapshot that the arguments have to carry; absent for none.
        arguments: The arguments of the call.
        known: The contract's values; a place that the data does not have says nothing.
        schemas: Schemas that the data must fit: the step's own, and the planned tool's when another answered.
        refused: Expectations that cannot be read, as flaws made by the caller.
    """

    expect: Json = ABSENT
    snapshot: Json = ABSENT
    arguments: Json = ABSENT
    known: Sequence[KnownValues] = ()
    schemas: Sequence[CompiledSchema] = ()
    refused: Sequence[Flaw] = ()

    @property
    def are_none(self) -> bool:
        """Tell whether anything will do."""
        is_asked = bool(self.known or self.schemas or self.refused) or self.snapshot is not ABSENT
        return not is_asked and (self.expect is ABSENT or self.expect is None or self.expect == {})


@dataclass(frozen=True, slots=True)
class ConsistencyOutcome:
    """Whether the data is as expected.

    Attributes:
        consistency: None when nothing was expected.
        outcome: What passed, or every difference.
        drift: Values that the contract does not know.
    """

    consistency: Consistency | None
    outcome: Outcome
    drift: tuple[Drift, ...] = ()


_NOTHING_EXPECTED: Final = ConsistencyOutcome(None, Outcome())
_AS_EXPECTED: Final = ConsistencyOutcome(Consistency.OK, Outcome(passed=(CONSISTENT,)))
_AS_HELD_TRUE: Final = ConsistencyOutcome(Consistency.OK, Outcome(passed=(SNAPSHOT_CONSUMED, CONSISTENT)))


def check_consistency(data: JsonValue, expectations: Expectations) -> ConsistencyOutcome:
    """Compare the data with what the plan, the contract and the schemas expect."""
    if expectations.are_none:
        return _NOTHING_EXPECTED
    flaws = [*expectations.refused, *_snapshot_flaws(expectations), *_plan_flaws(data, expectations.expect)]
    drift: list[Drift] = []
    for known in expectations.known:
        _check_known(data, known, flaws, drift)
    for schema in expectations.schemas:
        flaws.extend(schema_flaws(schema, data, Stage.CONSISTENCY, FaultCode.CONSISTENCY_BROKEN))
    if flaws:
        return ConsistencyOutcome(Consistency.BROKEN, Outcome(flaws=tuple(flaws)), tuple(drift))
    return _AS_EXPECTED if expectations.snapshot is ABSENT else _AS_HELD_TRUE


def unreadable_expectation(message: str, *, pointer: str = "") -> Flaw:
    """Return the flaw of an expectation that cannot be checked: the check failed, so it does not pass."""
    return _broken(message, pointer=pointer, rule_id="expect", verdict=CheckVerdict.ERROR)


def _snapshot_flaws(expectations: Expectations) -> list[Flaw]:
    """Return the entries of the snapshot that the call did not carry: it was made about something else."""
    snapshot = expectations.snapshot
    if snapshot is ABSENT:
        return []
    if not isinstance(snapshot, dict):
        message = "The state snapshot is not an object."
        return [_broken(message, pointer="", rule_id="snapshot", verdict=CheckVerdict.ERROR)]
    arguments = None if expectations.arguments is ABSENT else expectations.arguments
    message = "The arguments of the call do not carry an entry of the state snapshot that the step has to use."
    lost = [name for name, entry in snapshot.items() if not carries(arguments, entry)][:MAX_BROKEN]
    return [_broken(message, pointer="", rule_id="snapshot", expected={name: snapshot[name]}) for name in lost]


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
        if len(flaws) == MAX_BROKEN:
            break
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


def _check_known(data: JsonValue, known: KnownValues, flaws: list[Flaw], drift: list[Drift]) -> None:
    for path, actual in known.unknown_in(data)[:MAX_UNKNOWN]:
        message = "The value is none of those that the contract knows."
        pointer = pointers.join(*path)
        expected = list(known.values)
        flaws.append(_broken(message, pointer=pointer, rule_id="known", expected=expected, actual=actual))
        seen = unknown_value(pointers.join(*known.tokens), actual)
        if seen not in drift:
            drift.append(seen)


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
