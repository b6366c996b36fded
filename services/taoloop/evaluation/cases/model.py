"""A case, what the product said to it, and the verdict."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

Said: TypeAlias = dict[str, Any]
"""What the product said to one input, under the names that `expect` uses."""

CaseInput: TypeAlias = Mapping[str, Any]
"""The `input` of a case: `kind` and what belongs to it."""


class Verdict(StrEnum):
    """What came of a case."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    UNSUPPORTED = "unsupported"
    """The product has no function for such an input, or the runner does not understand the input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One line of a file.

    Attributes:
        line: Its number in the file, from 1.
        case_id: Such as `C001-1`.
        component: What is tested, such as `plan-validate`.
        kind: The input's kind; decides which adapter feeds it in.
        input: The whole input.
        expect: What is right.
    """

    line: int
    case_id: str
    component: str
    kind: str
    input: CaseInput
    expect: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The verdict on one case.

    Attributes:
        case: The case.
        verdict: What came of it.
        reason: Why it is no pass, on one line; empty for a pass.
        seconds: How long the product took.
    """

    case: Case
    verdict: Verdict
    reason: str = ""
    seconds: float = 0.0


class Unsupported(Exception):
    """The input cannot be fed into the product as it is.

    Attributes:
        reason: Why, in one sentence.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """The way of one kind of input into the product.

    Attributes:
        feed: Gives the input to the product and returns what it said; raises `Unsupported` for an input of the kind
            that the product has no function for.
        required: Keys that the input has besides `kind`; `a|b` means one of them.
        optional: Keys that it may have. Any other key would be overlooked, so that such an input is unsupported.
    """

    feed: Callable[[CaseInput], Said | Awaitable[Said]]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    def missing(self, case_input: CaseInput) -> str:
        """Return the first required key that the input lacks; empty when it has all."""
        return next((key for key in self.required if not any(name in case_input for name in key.split("|"))), "")

    def unknown(self, case_input: CaseInput) -> tuple[str, ...]:
        """Return the keys of the input that nobody reads."""
        known = {"kind", "max_s", *self.optional, *(name for key in self.required for name in key.split("|"))}
        return tuple(sorted(case_input.keys() - known))
