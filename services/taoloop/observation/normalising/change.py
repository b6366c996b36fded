"""One rule of a contract made ready, and what the rules made of one body."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.faults import FaultCode
from taoloop.observation.stages.model import MAX_EXCERPT_CHARACTERS, Flaw, Outcome, Stage, flaw
from taoloop.tools.normalisers.conversions import Conversion
from taoloop.tools.normalisers.places import Path, Tokens
from taoloop.values.refusals import ValueRefused

MAX_FLAWS: Final = 20
"""Most refusals that a verdict lists; the last one says how many more there are."""

_MAX_CANDIDATES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One rule of a contract, made ready.

    Attributes:
        field: The place in the body.
        to: The place in the data, with the same stars.
        conversion: What makes the value; None for a mere move.
        expects: What the value should be, for refusals.
        number: Its place among the rules of the contract, from 0.
    """

    field: Tokens
    to: Tokens
    conversion: Conversion | None = None
    expects: str = ""
    number: int = 0

    @property
    def is_moved(self) -> bool:
        """Tell whether the value gets another place."""
        return self.field != self.to

    def converted(self, value: JsonValue, path: Path, found: Found) -> JsonValue:
        """Return the value that the rule makes of one that stands at the path; null for null and for a refusal."""
        if value is None or self.conversion is None:
            return value
        try:
            return self.conversion(value)
        except ValueRefused as refusal:
            found.refuse(path, value, self, refusal)
            return None


class Found:
    """What the conversions made of one body, with the places of the data, and what they refused.

    Attributes:
        values: Place in the data and value.
        refused: How many values were refused.
    """

    __slots__ = ("_flaws", "refused", "values")

    def __init__(self) -> None:
        self.values: list[tuple[Path, JsonValue]] = []
        self.refused = 0
        self._flaws: list[tuple[int, Flaw]] = []

    def refuse(self, path: Path, value: Json, change: Change, refusal: ValueRefused) -> None:
        """Take down a refusal; of those beyond `MAX_FLAWS` only the number is kept."""
        self.refused += 1
        if self.refused <= MAX_FLAWS:
            self._flaws.append((change.number, _refused(path, value, change, refusal)))

    def outcome(self) -> Outcome:
        """Return the refusals as the stage reports them, in the order of the contract's rules."""
        flaws = [found for _, found in sorted(self._flaws, key=_number)]
        more = self.refused - MAX_FLAWS
        if more > 0:
            flaws[-1] = _with_more(flaws[-1], more)
        return Outcome(flaws=tuple(flaws))


def _number(numbered: tuple[int, Flaw]) -> int:
    return numbered[0]


def no_place(path: Path) -> Flaw:
    """Return the flaw of a value that cannot be put where the contract wants it."""
    message = "The body has no place for the normalised field."
    code = FaultCode.NORMALISATION_REFUSED
    return flaw(Stage.NORMALISE, code, message, pointer=pointers.join(*path), rule_id="no_place")


def _refused(path: Path, value: Json, change: Change, refusal: ValueRefused) -> Flaw:
    return flaw(
        Stage.NORMALISE,
        FaultCode.NORMALISATION_REFUSED,
        refusal.message,
        pointer=pointers.join(*path),
        rule_id=refusal.code.value.lower(),
        expected=change.expects or ABSENT,
        actual=value,
        candidates=tuple(text[:MAX_EXCERPT_CHARACTERS] for text in refusal.candidates[:_MAX_CANDIDATES]),
    )


def _with_more(last: Flaw, more: int) -> Flaw:
    message = f"{last.failure.message} {more} more values are refused."
    return replace(last, failure=replace(last.failure, message=message))
