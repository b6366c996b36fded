"""One failure as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from taoloop.core.exact_json import ABSENT, Json


class FaultStage(StrEnum):
    """Where in the loop a fault was found."""

    PLAN = "plan"
    RESOLVE = "resolve"
    POLICY = "policy"
    ACTION = "action"
    OBSERVATION = "observation"
    ANSWER = "answer"
    LOOP = "loop"


@dataclass(frozen=True, slots=True)
class Fault:
    """One failure, with its cause and what to do next.

    Attributes:
        code: A `FaultCode`, or a code that a tool's contract defines.
        stage: Where it was found, a `FaultStage`; plain text, as the code is, so that newer senders can be read.
        message: One sentence for people and for the planner; no secrets.
        field: JSON pointer of what is at fault; empty when it is the whole.
        expected: What would have been right.
        actual: What was there, without secrets; content beyond 200 characters is cut by who makes the fault.
        retriable: Whether the same step may succeed when it is tried again unchanged.
        retry_after_seconds: When to try again, at least 0; only with `retriable`, None says nothing.
        suggestion: What to do, in one sentence; empty when there is nothing to say.
        candidates: Values or names that would be right, nearest first, at most 20.
        cause_step_id: The step whose failure led to this one; empty when it is the cause itself.
    """

    code: str
    stage: str
    message: str
    field: str = ""
    expected: Json = ABSENT
    actual: Json = ABSENT
    retriable: bool = False
    retry_after_seconds: float | None = None
    suggestion: str = ""
    candidates: tuple[str, ...] = ()
    cause_step_id: str = ""
