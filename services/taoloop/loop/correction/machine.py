"""The state machine of corrections, as data: kinds of failure, what must hold, and what is done then."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

from taoloop.loop.correction.classes import FaultClass


class Reaction(StrEnum):
    """What is done about a failure."""

    RETRY = "retry"
    FIX_INPUT = "fix_input"
    FALLBACK = "fallback"
    CROSS_CHECK = "cross_check"
    PREFER = "prefer"
    REPROMPT = "reprompt"
    REPLAN = "replan"
    APPROVE = "approve"
    ASK = "ask"
    HAND_OVER = "hand_over"
    FAIL = "fail"
    LEAVE_OUT = "leave_out"

    @property
    def meaning(self) -> str:
        """Return what it is, in one sentence."""
        return _REACTION[self]

    @property
    def is_in_plan(self) -> bool:
        """Whether the plan goes on with it."""
        return self in _IN_PLAN

    @property
    def thinks_again(self) -> bool:
        """Whether another thought is made."""
        return self in {Reaction.REPLAN, Reaction.REPROMPT}

    @property
    def waits_for_leave(self) -> bool:
        """Whether it comes only after the persons who are asked for leave have spoken."""
        return self.thinks_again or self is Reaction.ASK


_REACTION: Final = {
    Reaction.RETRY: "The same call is made once more, after a pause of 0.1 to 0.5 s.",
    Reaction.FIX_INPUT: "Words are replaced by the values that the contract's vocabularies have for them.",
    Reaction.FALLBACK: "The tool that the contract names in its place is called, and its result serves.",
    Reaction.CROSS_CHECK: "The tool that the contract names in its place is called, and the results are compared.",
    Reaction.PREFER: "Of two sources that disagree, the one with a confidence above 0.7 serves, and the user is told.",
    Reaction.REPROMPT: "A language model thinks again, held to a stricter form.",
    Reaction.REPLAN: "The next thought is told of the failure; tools that do not serve are not offered to it.",
    Reaction.APPROVE: "The same call is made once more, so that a person is asked anew.",
    Reaction.ASK: "The user is asked for the value.",
    Reaction.HAND_OVER: "A person takes over; the run rests.",
    Reaction.FAIL: "The run ends, and says why.",
    Reaction.LEAVE_OUT: "The plan calls the step optional: the answer is given without it, and the user is told.",
}


_IN_PLAN: Final = frozenset(
    {Reaction.RETRY, Reaction.FIX_INPUT, Reaction.FALLBACK, Reaction.CROSS_CHECK, Reaction.PREFER, Reaction.APPROVE}
)


class State(IntEnum):
    """Where the correction of a failure stands; it only ever moves up, so that every correction ends."""

    FRESH = 0
    RETRIED = 1
    FIXED = 2
    FALLEN_BACK = 3
    REPROMPTED = 4
    REPLANNED = 5
    CROSS_CHECKED = 6
    PREFERRED = 7
    ENDED = 8

    @property
    def word(self) -> str:
        """Its name, as events and pages have it."""
        return self.name.lower()


STATE_AFTER: Final = {
    Reaction.RETRY: State.RETRIED,
    Reaction.APPROVE: State.RETRIED,
    Reaction.FIX_INPUT: State.FIXED,
    Reaction.FALLBACK: State.FALLEN_BACK,
    Reaction.REPROMPT: State.REPROMPTED,
    Reaction.REPLAN: State.REPLANNED,
    Reaction.CROSS_CHECK: State.CROSS_CHECKED,
    Reaction.PREFER: State.PREFERRED,
    Reaction.ASK: State.ENDED,
    Reaction.HAND_OVER: State.ENDED,
    Reaction.FAIL: State.ENDED,
    Reaction.LEAVE_OUT: State.ENDED,
}
"""Where a reaction leads."""


class Need(StrEnum):
    """What must hold for an edge."""

    TIME = "time"
    THOUGHT_TIME = "thought_time"
    ITERATIONS = "iterations"
    NEXT_ROUND = "next_round"
    CALLS = "calls"
    RETRIABLE = "retriable"
    FIRST_ATTEMPT = "first_attempt"
    FIXABLE = "fixable"
    CANDIDATES = "candidates"
    ASKABLE = "askable"
    OTHER_SOURCE = "other_source"
    SURE_SOURCE = "sure_source"
    NEWS = "news"
    MODEL = "model"
    ESCALATED = "escalated"
    WRITE = "write"
    PARTLY_WRITTEN = "partly_written"

    @property
    def meaning(self) -> str:
        """Return what it is, in one sentence."""
        return _NEED[self]


_NEED: Final = {
    Need.TIME: "The run has time left for a call and its pause.",
    Need.THOUGHT_TIME: "The run has time left for a thought: where a model thinks, its timeout and a margin of 0.5 s.",
    Need.ITERATIONS: "The run may think once more.",
    Need.NEXT_ROUND: "What a person says may be followed by a thought: neither tokens nor bytes are used up.",
    Need.CALLS: "The run may call the tool once more.",
    Need.RETRIABLE: "The executor says that the same call may succeed later.",
    Need.FIRST_ATTEMPT: "The executor made one attempt and did not repeat it by the contract's rules.",
    Need.FIXABLE: "A vocabulary of the contract has exactly one value for each word that is none yet.",
    Need.CANDIDATES: "The values that would do are known.",
    Need.ASKABLE: "One value that the user gave is at fault, and it is known which.",
    Need.OTHER_SOURCE: "The contract of a read names another tool, which is available and has not served the step.",
    Need.SURE_SOURCE: "Two sources disagree, and the second one's result has a confidence above 0.7.",
    Need.NEWS: "The next thought knows something that the last one did not.",
    Need.MODEL: "A language model made the thought.",
    Need.ESCALATED: "The planner itself wants a person.",
    Need.WRITE: "The step was to change something.",
    Need.PARTLY_WRITTEN: "The step was to change something for each item of a list, and did for some of them.",
}


@dataclass(frozen=True, slots=True)
class Edge:
    """One way to react to a kind of failure.

    It may be taken in every state before the one that it leads to.

    Attributes:
        kind: The kind of failure.
        reaction: What is done.
        needs: All that must hold.
        because: Why, for the record.
        is_transient: Whether the failure is expected to pass by itself.
        is_retry_useful: Whether the same again may help.
        is_told: Whether the user is told.
    """

    kind: FaultClass
    reaction: Reaction
    needs: tuple[Need, ...]
    because: str
    is_transient: bool = False
    is_retry_useful: bool = False
    is_told: bool = False

    @property
    def next_state(self) -> State:
        """Where it leads."""
        return STATE_AFTER[self.reaction]


_THINK: Final = (Need.NEWS, Need.ITERATIONS, Need.THOUGHT_TIME)
_SOURCE: Final = (Need.OTHER_SOURCE, Need.TIME)

EDGES: Final = (
    Edge(FaultClass.TOOL_TIMEOUT, Reaction.RETRY, (Need.RETRIABLE, Need.FIRST_ATTEMPT, Need.CALLS, Need.TIME),
         "A tool that was late once may be in time, and nothing has repeated the call.",
         is_transient=True, is_retry_useful=True),
    Edge(FaultClass.TOOL_TIMEOUT, Reaction.REPLAN, _THINK, "Another tool may answer in time.", is_transient=True),
    Edge(FaultClass.TOOL_TIMEOUT, Reaction.HAND_OVER, (Need.WRITE,),
         "What was to be changed surely was not, and is still wanted.", is_transient=True, is_told=True),
    Edge(FaultClass.TOOL_TIMEOUT, Reaction.FAIL, (), "No tool answers in time; the user may ask again later.",
         is_transient=True, is_told=True),
    Edge(FaultClass.TOOL_UNAVAILABLE, Reaction.REPLAN, _THINK,
         "A tool that is down is not asked again; another one may serve.", is_transient=True),
    Edge(FaultClass.TOOL_UNAVAILABLE, Reaction.HAND_OVER, (Need.WRITE,),
         "What was to be changed surely was not, and is still wanted.", is_transient=True, is_told=True),
    Edge(FaultClass.TOOL_UNAVAILABLE, Reaction.FAIL, (), "No other tool serves; the user may ask again later.",
         is_transient=True, is_told=True),
    Edge(FaultClass.TOOL_SCHEMA_VIOLATION, Reaction.FIX_INPUT, (Need.FIXABLE, Need.CALLS, Need.TIME),
         "The contract's vocabulary leaves one reading of the value.", is_retry_useful=True),
    Edge(FaultClass.TOOL_SCHEMA_VIOLATION, Reaction.ASK, (Need.ASKABLE, Need.CANDIDATES, Need.NEXT_ROUND),
         "The user's value is none of those that the tool takes, and no rule says which one is meant.", is_told=True),
    Edge(FaultClass.TOOL_SCHEMA_VIOLATION, Reaction.REPLAN, _THINK,
         "The same values fail again; the planner may find others, or ask."),
    Edge(FaultClass.TOOL_SCHEMA_VIOLATION, Reaction.ASK, (Need.ASKABLE, Need.NEXT_ROUND),
         "Planning again found nothing; only the user can give another value.", is_told=True),
    Edge(FaultClass.TOOL_SCHEMA_VIOLATION, Reaction.HAND_OVER, (Need.PARTLY_WRITTEN,),
         "Some items were changed and others were not; a person finishes it, or undoes it.", is_told=True),
    Edge(FaultClass.TOOL_SCHEMA_VIOLATION, Reaction.FAIL, (), "Nobody has other values.", is_told=True),
    Edge(FaultClass.TOOL_FAILED, Reaction.FALLBACK, _SOURCE, "The same call fails again; another tool gives the same."),
    Edge(FaultClass.TOOL_FAILED, Reaction.REPLAN, _THINK, "The same call fails again; there may be another way."),
    Edge(FaultClass.TOOL_FAILED, Reaction.HAND_OVER, (Need.WRITE,),
         "What was to be changed surely was not, and is still wanted.", is_told=True),
    Edge(FaultClass.TOOL_FAILED, Reaction.FAIL, (), "The tool fails, and there is no other way.", is_told=True),
    Edge(FaultClass.RESPONSE_MALFORMED, Reaction.FALLBACK, _SOURCE,
         "The tool's operator must mend its answers; another tool gives the same."),
    Edge(FaultClass.RESPONSE_MALFORMED, Reaction.REPLAN, _THINK, "There may be a way without this tool."),
    Edge(FaultClass.RESPONSE_MALFORMED, Reaction.FAIL, (), "The result cannot be used, and there is no other way.",
         is_told=True),
    Edge(FaultClass.OBSERVATION_INCONSISTENT, Reaction.PREFER, (Need.SURE_SOURCE,),
         "Only one of the two sources is sure of what it says.", is_told=True),
    Edge(FaultClass.OBSERVATION_INCONSISTENT, Reaction.CROSS_CHECK, _SOURCE,
         "A second source says whether the result holds."),
    Edge(FaultClass.OBSERVATION_INCONSISTENT, Reaction.REPLAN, _THINK,
         "No second source is left to compare with; there may be another way."),
    Edge(FaultClass.OBSERVATION_INCONSISTENT, Reaction.HAND_OVER, (), "Only a person can tell what is true.",
         is_told=True),
    Edge(FaultClass.LLM_OUTPUT_MALFORMED, Reaction.REPROMPT, (Need.MODEL, Need.ITERATIONS, Need.THOUGHT_TIME),
         "A model that is held to a stricter form often keeps it.", is_retry_useful=True),
    Edge(FaultClass.LLM_OUTPUT_MALFORMED, Reaction.REPLAN, _THINK, "The planner is told what was wrong with the step."),
    Edge(FaultClass.LLM_OUTPUT_MALFORMED, Reaction.HAND_OVER, (Need.ESCALATED,), "No planner made a plan that may run.",
         is_told=True),
    Edge(FaultClass.LLM_OUTPUT_MALFORMED, Reaction.FAIL, (), "The same planner would plan the same again.",
         is_told=True),
    Edge(FaultClass.PLAN_OUTDATED, Reaction.REPLAN, _THINK, "The tools are read anew, and planned with.",
         is_transient=True, is_retry_useful=True),
    Edge(FaultClass.PLAN_OUTDATED, Reaction.HAND_OVER, (Need.ESCALATED,), "No planner made a plan that may run.",
         is_told=True),
    Edge(FaultClass.PLAN_OUTDATED, Reaction.FAIL, (), "The services do not agree on the tools.", is_transient=True,
         is_told=True),
    Edge(FaultClass.EFFECT_UNKNOWN, Reaction.HAND_OVER, (), "A second call could do it twice; a person looks it up.",
         is_told=True),
    Edge(FaultClass.APPROVAL_UNUSED, Reaction.APPROVE, (Need.TIME,), "The call was not made and is asked for anew.",
         is_retry_useful=True),
    Edge(FaultClass.APPROVAL_UNUSED, Reaction.HAND_OVER, (), "Leave was asked for twice and could not be used.",
         is_told=True),
    Edge(FaultClass.NOT_PERMITTED, Reaction.FAIL, (), "What is not allowed is not tried another way.", is_told=True),
    Edge(FaultClass.PERSON_NEEDED, Reaction.HAND_OVER, (), "Nothing that the loop may do would help.", is_told=True),
    Edge(FaultClass.REQUEST_UNSERVED, Reaction.FAIL, (), "The request itself has to change.", is_told=True),
    Edge(FaultClass.LIMIT_REACHED, Reaction.FAIL, (), "A limit is hard.", is_told=True),
)  # fmt: skip
"""Every edge; of one class the first that may be taken is, and the last needs nothing."""

_OF_CLASS: Final = {kind: tuple(edge for edge in EDGES if edge.kind is kind) for kind in FaultClass}

_TIMES: Final = frozenset({Need.TIME, Need.THOUGHT_TIME})
_THOUGHTS: Final = frozenset({Need.ITERATIONS, Need.NEXT_ROUND})


_ALWAYS: Final = frozenset({Reaction.HAND_OVER, Reaction.FAIL})
"""Endings, which nothing can switch off."""


class SkipReason(StrEnum):
    """Why an edge that else would have been taken was not."""

    INSUFFICIENT_DEADLINE = "insufficient_deadline"
    """Too little time is left for it."""
    MAX_ITERATIONS = "max_iterations"
    """The run may not think again."""
    SWITCHED_OFF = "switched_off"
    """A setting says so."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A reaction that would have been taken."""

    reaction: Reaction
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Choice:
    """What is done, and what would have been done with more time, thoughts or leave."""

    edge: Edge
    skipped: tuple[Skipped, ...] = ()


def edges_of(kind: FaultClass) -> tuple[Edge, ...]:
    """Return the edges of a kind of failure, in their order."""
    return _OF_CLASS[kind]


def choose(
    kind: FaultClass,
    state: State,
    holds: Collection[Need],
    *,
    switched_off: Collection[Reaction] = (),
    is_optional: bool = False,
) -> Choice:
    """Return what is done about a failure.

    Args:
        kind: Its kind.
        state: Where its correction stands.
        holds: What holds.
        switched_off: Reactions that a setting forbids; endings cannot be forbidden.
        is_optional: Whether the plan goes on without the step: then nothing outside of the plan is done for it.
    """
    skipped: list[Skipped] = []
    for edge in _OF_CLASS[kind]:
        if is_optional and not edge.reaction.is_in_plan:
            continue
        if edge.next_state <= state:
            continue
        reason = _skip_reason(edge, frozenset(edge.needs) - frozenset(holds), switched_off)
        if reason is None:
            return Choice(edge, tuple(skipped))
        if isinstance(reason, SkipReason):
            skipped.append(Skipped(edge.reaction, reason))
    return Choice(_left_out(kind), tuple(skipped))


def _skip_reason(
    edge: Edge, missing: frozenset[Need], switched_off: Collection[Reaction]
) -> SkipReason | frozenset[Need] | None:
    """Return None when an edge may be taken, else why not: a reason worth telling, or what simply does not hold."""
    if missing and missing <= _TIMES:
        return SkipReason.INSUFFICIENT_DEADLINE
    if missing and missing <= _TIMES | _THOUGHTS:
        return SkipReason.MAX_ITERATIONS
    if missing:
        return missing
    is_off = edge.reaction in switched_off and edge.reaction not in _ALWAYS
    return SkipReason.SWITCHED_OFF if is_off else None


def _left_out(kind: FaultClass) -> Edge:
    return Edge(kind, Reaction.LEAVE_OUT, (), "The plan goes on without the step.", is_told=True)
