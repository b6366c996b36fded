"""What the stages of an observation hand to one another."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonEncodeError, dumps
from taoloop.core.faults import FaultCode
from taoloop.core.redaction import redact_text
from taoloop.plan.observing import CheckFailure, CheckVerdict

MAX_EXCERPT_CHARACTERS: Final = 200
"""Longest expected or actual value that a failure quotes; more is cut between characters and marked."""

_MAX_READ_CHARACTERS: Final = 4096


class Stage(StrEnum):
    """The stages in the order in which they run; each runs only on what the ones before accepted."""

    STATUS = "status"
    PARSE = "parse"
    SUCCESS = "success"
    EMPTY = "empty"
    SCHEMA = "schema"
    RELEVANCE = "relevance"
    NORMALISE = "normalise"
    RULE = "rule"
    LATENCY = "latency"
    SOFT = "soft"
    CONSISTENCY = "consistency"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """One check that did not pass, and the fault that it becomes when it is the first hard one.

    Attributes:
        failure: What the verdict reports.
        code: The fault's code.
        candidates: Values that would have been right, nearest first.
    """

    failure: CheckFailure
    code: FaultCode
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one stage found.

    Attributes:
        passed: Short ids of the checks that passed, for the audit trail.
        flaws: The checks that did not.
    """

    passed: tuple[str, ...] = ()
    flaws: tuple[Flaw, ...] = ()


def flaw(  # noqa: PLR0913  # the fields of one failure, each by its name
    stage: Stage,
    code: FaultCode,
    message: str,
    *,
    pointer: str = "",
    rule_id: str = "",
    expected: Json = ABSENT,
    actual: Json = ABSENT,
    verdict: CheckVerdict = CheckVerdict.FAIL,
    is_hard: bool = True,
    candidates: tuple[str, ...] = (),
) -> Flaw:
    """Return a flaw whose quoted values are cut and free of secrets.

    Args:
        stage: Where it was found.
        code: The fault's code.
        message: What it means, for a person; never with a part of the body.
        pointer: Where in the body or the data.
        rule_id: The contract's id of the rule, or the schema keyword.
        expected: What was expected there.
        actual: What was found there.
        verdict: What the check said.
        is_hard: Whether it makes the result invalid.
        candidates: Values that would have been right.
    """
    failure = CheckFailure(
        stage=stage.value,
        rule_id=rule_id,
        pointer=pointer,
        verdict=verdict,
        expected=excerpt(expected),
        actual=excerpt(actual),
        message=message,
        hard=is_hard,
    )
    return Flaw(failure=failure, code=code, candidates=candidates)


def excerpt(value: Json) -> Json:
    """Return the value when its JSON text is short, else a string of its first characters and an ellipsis.

    Secrets that a pattern knows are masked in text, so that a quoted value may enter a prompt.
    """
    if value is ABSENT or value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _cut(redact_text(value[:_MAX_READ_CHARACTERS]))
    try:
        text = dumps(value)[:_MAX_READ_CHARACTERS]  # of a megabyte a few words are quoted: not all of it is searched
    except JsonEncodeError:
        return ABSENT
    masked = redact_text(text)
    return value if masked == text and len(text) <= MAX_EXCERPT_CHARACTERS else _cut(masked)


def _cut(text: str) -> str:
    if len(text) <= MAX_EXCERPT_CHARACTERS:
        return text
    return text[: MAX_EXCERPT_CHARACTERS - 1] + "…"
