"""Recorded exchanges judged by two catalogues, and what differs: verdicts, data, what prompts see, confidences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue, equal
from taoloop.core.pointers import PointerNotFound
from taoloop.evaluation.samples.exchanges import Exchange, RecordedObserver
from taoloop.plan.observing import CheckFailure, ObservationResult
from taoloop.tools.loading.samples import SampleExpectation

MAX_DIFFERENCES: Final = 20
"""Most places of one record's data that a comparison lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What became of a record, as far as it is compared.

    Attributes:
        valid: Whether the observation is valid.
        fault: Code of its fault; empty when it is valid.
        confidence: 0 to 1.
    """

    valid: bool
    fault: str = ""
    confidence: float | None = None

    def __str__(self) -> str:
        return "valid" if self.valid else f"not valid ({self.fault or 'no fault'})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place where two data differ.

    Attributes:
        pointer: The place.
        old: What stood there; absent for nothing.
        new: What stands there; absent for nothing.
    """

    pointer: str
    old: Json
    new: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One record under both catalogues.

    Attributes:
        tool: Who answered.
        old: By the old catalogue, or what the record expects; None when there is neither.
        new: By the new one.
        failures: The checks that failed by the new one and not by the old one.
        data: Where the data differs, at most `MAX_DIFFERENCES` places; none where only one of both has data.
        exposed: Where what prompts may see differs.
    """

    tool: str
    old: Judged | None
    new: Judged
    failures: tuple[CheckFailure, ...] = ()
    data: tuple[Difference, ...] = ()
    exposed: tuple[Difference, ...] = ()

    @property
    def is_other_verdict(self) -> bool:
        """Whether the verdict changed: valid or not, or another fault."""
        if self.old is None:
            return False
        is_open = not self.old.valid and not self.old.fault  # the record expects a failure, whichever
        return self.old.valid is not self.new.valid or (not is_open and self.old.fault != self.new.fault)

    @property
    def is_other_confidence(self) -> bool:
        """Whether the confidence changed."""
        return self.old is not None and self.old.confidence not in (None, self.new.confidence)

    @property
    def is_changed(self) -> bool:
        """Whether anything changed."""
        return self.is_other_verdict or self.is_other_confidence or bool(self.data) or bool(self.exposed)


@dataclass(slots=True, kw_only=True)
class ReplayCounts:
    """How many records came to what.

    Attributes:
        records: Judged ones.
        valid: Of them, valid by the new catalogue.
        verdicts: How many verdicts changed.
        broken: Of them, those that were valid and are not any more.
        data: How many have other data.
        exposed: How many show something else to prompts.
        confidences: How many confidences changed.
        skipped: Records that could not be used.
    """

    records: int = 0
    valid: int = 0
    verdicts: int = 0
    broken: int = 0
    data: int = 0
    exposed: int = 0
    confidences: int = 0
    skipped: int = 0
    tools: dict[str, int] = field(default_factory=dict)
    """Tool → how many of its verdicts changed."""

    def add(self, replayed: Replayed) -> None:
        """Count one record."""
        self.records += 1
        self.valid += replayed.new.valid
        self.data += bool(replayed.data)
        self.exposed += bool(replayed.exposed)
        self.confidences += replayed.is_other_confidence
        if replayed.is_other_verdict:
            assert replayed.old is not None
            self.verdicts += 1
            self.broken += replayed.old.valid and not replayed.new.valid
            self.tools[replayed.tool] = self.tools.get(replayed.tool, 0) + 1


class Replay:
    """Judges records by a changed catalogue and compares.

    Args:
        new: By the changed catalogue.
        old: By the one before; None compares with what each record expects of itself.
    """

    def __init__(self, new: RecordedObserver, old: RecordedObserver | None = None) -> None:
        self._new = new
        self._old = old

    def replayed(self, exchange: Exchange) -> Replayed:
        """Return what one record came to."""
        new = self._new.observe(exchange)
        if self._old is None:
            return _held_against_itself(exchange, new)
        old = self._old.observe(exchange)
        known = {(failure.stage, failure.rule_id, failure.pointer) for failure in old.failures}
        return Replayed(
            tool=exchange.tool,
            old=_judged(old),
            new=_judged(new),
            failures=tuple(each for each in new.failures if (each.stage, each.rule_id, each.pointer) not in known),
            data=differences(old.data, new.data),
            exposed=() if old.valid is not new.valid else differences(old.exposed, new.exposed),
        )


def differences(old: Json, new: Json) -> tuple[Difference, ...]:
    """Return the places where two values differ, at most `MAX_DIFFERENCES`; none where only one is there.

    Numbers are the same when they are equal: 1, 1.0 and 1.00.
    """
    if isinstance(old, Absent) or isinstance(new, Absent):
        return ()
    found: list[Difference] = []
    for difference in _differences(old, new, ""):
        found.append(difference)
        if len(found) == MAX_DIFFERENCES:
            break
    return tuple(found)


def _differences(old: JsonValue, new: JsonValue, at: str) -> Iterator[Difference]:
    if equal(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*old, *new]):
            yield from _member(old.get(name, ABSENT), new.get(name, ABSENT), at + pointers.join(name))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            before = old[index] if index < len(old) else ABSENT
            after = new[index] if index < len(new) else ABSENT
            yield from _member(before, after, at + pointers.join(index))
    else:
        yield Difference(pointer=at, old=old, new=new)


def _member(old: Json, new: Json, at: str) -> Iterator[Difference]:
    if isinstance(old, Absent) or isinstance(new, Absent):
        yield Difference(pointer=at, old=old, new=new)
    else:
        yield from _differences(old, new, at)


def _held_against_itself(exchange: Exchange, new: ObservationResult) -> Replayed:
    """Compare with what the record expects of itself; one without an expectation is only judged."""
    expect = exchange.expect
    return Replayed(
        tool=exchange.tool,
        old=None if expect is None else Judged(valid=expect.valid, fault=expect.fault),
        new=_judged(new),
        failures=new.failures,
        data=() if expect is None else tuple(_unexpected(expect, new)),
    )


def _unexpected(expect: SampleExpectation, new: ObservationResult) -> Iterator[Difference]:
    for pointer, value in expect.data.items():
        try:
            actual: Json = ABSENT if isinstance(new.data, Absent) else pointers.lookup(new.data, pointer)
        except PointerNotFound:
            actual = ABSENT
        if isinstance(actual, Absent) or not equal(actual, value):
            yield Difference(pointer=pointer, old=value, new=actual)


def _judged(observation: ObservationResult) -> Judged:
    fault = "" if observation.fault is None else observation.fault.code
    return Judged(valid=observation.valid, fault=fault, confidence=observation.confidence)
