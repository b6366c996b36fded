"""The refusal that every parser gives where a text has no reading, or more than one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class RefusalCode(StrEnum):
    """Why a text was not read."""

    UNREADABLE = "UNREADABLE"
    """No rule reads the text."""
    AMBIGUOUS = "AMBIGUOUS"
    """Several readings are possible; the candidates list them."""
    OUT_OF_RANGE = "OUT_OF_RANGE"
    """The form is right and no such value exists, for example 30 February."""
    NO_REFERENCE = "NO_REFERENCE"
    """The words are relative, and nothing says to which moment."""
    NOT_A_NUMBER = "NOT_A_NUMBER"
    """The value says itself that it is no finite number: NaN, infinity."""
    MISSING_UNIT = "MISSING_UNIT"
    """A bare number, and nothing says in which unit, scale or currency; the candidates list some."""
    UNKNOWN_UNIT = "UNKNOWN_UNIT"
    """The unit or currency is none that is known; the candidates are near ones."""
    WRONG_UNIT = "WRONG_UNIT"
    """The unit is of another dimension, or the currency another one, than the one that is asked for."""
    TOO_PRECISE = "TOO_PRECISE"
    """An amount of money has more decimals than its currency."""


class ValueRefused(ValueError):
    """The text has not exactly one reading under the parser's stated rule.

    Attributes:
        code: Why.
        message: One sentence, without the text itself.
        candidates: The readings that are possible, as texts that the same parser reads; empty when there is none.
    """

    def __init__(self, code: RefusalCode, message: str, candidates: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.candidates = tuple(candidates)


def unreadable(what: str) -> ValueRefused:
    """Return the refusal of a text that no rule reads as `what`, for example `a date`."""
    return ValueRefused(RefusalCode.UNREADABLE, f"The text is not {what} in a form that is known.")


def ambiguous(what: str, candidates: Iterable[object]) -> ValueRefused:
    """Return the refusal of a text that can be read as several values of the kind `what`."""
    texts = tuple(dict.fromkeys(str(candidate) for candidate in candidates))
    return ValueRefused(RefusalCode.AMBIGUOUS, f"The text can be read as {what} in {len(texts)} ways.", texts)
