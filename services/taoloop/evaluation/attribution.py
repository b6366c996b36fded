"""Where failed runs went wrong: planning, a tool, a result that did not pass, the answer, or none of these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.state import RunState
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.running import RunSummary
from taoloop.plan.task import Outcome

MAX_EXAMPLES: Final = 5
"""How many runs a row names, the first ones that were added."""


class Part(StrEnum):
    """What a failed run is laid to."""

    PLANNING = "planning"
    """The thought: no plan that may run, wrong arguments, a step that is not allowed."""
    TOOL = "tool"
    """The call: the tool failed, said so, or did not answer."""
    OBSERVATION = "observation"
    """The result: it came, and does not pass its checks, or is too doubtful to use."""
    ANSWER = "answer"
    """The answer: it is not grounded, or does not fit what was asked for."""
    NO_TOOL = "no_tool"
    """No offered tool serves the request; the catalogue or the planner, only a person can tell."""
    REQUEST = "request"
    """The request says nothing, or too little."""
    LIMIT = "limit"
    """A limit of the run or its caller's deadline."""
    PERSON = "person"
    """A person said no, or nobody said anything in time."""
    DEPLOYMENT = "deployment"
    """A service or a store of taoloop, a missing credential, a switch, a rule about addresses."""
    OTHER = "other"
    """Nothing of the above; the code is of no use for it."""

    @property
    def meaning(self) -> str:
        """What the part is, in one sentence."""
        return _MEANINGS[self]


_MEANINGS: Final[Mapping[Part, str]] = {
    Part.PLANNING: "the thought made no plan that may run, or one with wrong arguments",
    Part.TOOL: "the tool failed, said so, or did not answer",
    Part.OBSERVATION: "a result came and did not pass its checks",
    Part.ANSWER: "the answer was not grounded, or did not fit what was asked for",
    Part.NO_TOOL: "no offered tool serves the request",
    Part.REQUEST: "the request says nothing, or too little",
    Part.LIMIT: "a limit of the run, or its caller's deadline",
    Part.PERSON: "a person said no, or nobody said anything in time",
    Part.DEPLOYMENT: "a service, a store, a credential, a switch or a rule about addresses",
    Part.OTHER: "nothing of the above",
}

FAILED: Final = frozenset({Outcome.FAILED, Outcome.LIMIT_REACHED, Outcome.NEEDS_HUMAN, Outcome.NO_TOOL})
"""The outcomes that count as a failure. A run that waits for a value or for leave may still succeed, and a cancelled
one was not wanted any more."""

_C = FaultCode
_CODES_OF: Final[Mapping[Part, frozenset[FaultCode]]] = {
    Part.PLANNING: frozenset(
        {
            _C.PARSE_FAILED, _C.EMPTY_PLAN, _C.PLAN_TOO_LARGE, _C.INVALID_PLAN, _C.INVALID_STEP_ID, _C.UNKNOWN_TOOL,
            _C.DUPLICATE_STEP_ID, _C.UNKNOWN_DEPENDENCY, _C.DEPENDENCY_CYCLE, _C.UNDECLARED_DEPENDENCY,
            _C.UNKNOWN_REFERENCE, _C.TYPE_MISMATCH, _C.MISSING_PARAMETER, _C.UNKNOWN_PARAMETER, _C.SOURCE_NOT_ALLOWED,
            _C.TOOL_NOT_ALLOWED, _C.EFFECT_NOT_ALLOWED, _C.TAINTED_SOURCE, _C.NOT_YET_SUPPORTED, _C.AMBIGUOUS_TOOL,
            _C.MODE_NOT_ALLOWED, _C.THOUGHT_STALLED, _C.UNRESOLVED_REFERENCE, _C.VALUE_MISMATCH, _C.INVALID_PARAMETER,
            _C.CONVERSION_REFUSED, _C.REPEATED_WRITE, _C.CONDITION_NOT_MET, _C.CONDITION_UNDECIDED, _C.TOO_MANY_ITEMS,
        }
    ),
    Part.TOOL: frozenset(
        {
            _C.TOOL_UNAVAILABLE, _C.TOOL_TIMEOUT, _C.TOOL_UNREACHABLE, _C.TOOL_PROTOCOL_FAULT, _C.TOOL_ERROR,
            _C.RESPONSE_TOO_LARGE, _C.RESPONSE_INCOMPLETE, _C.RESPONSE_MALFORMED, _C.OUTCOME_UNKNOWN,
            _C.CREDENTIAL_REFUSED, _C.REDIRECT_FORBIDDEN, _C.POOL_EXHAUSTED, _C.JOB_PROTOCOL_FAULT, _C.JOB_FAILED,
            _C.JOB_CANCELLED, _C.JOB_TIMEOUT, _C.BREAKER_OPEN, _C.LIMITER_SHED, _C.RETRY_BUDGET_EXHAUSTED,
            _C.FALLBACK_FAILED, _C.NOT_FOUND, _C.RATE_LIMITED, _C.UPSTREAM_UNAVAILABLE, _C.UPSTREAM_REFUSED,
            _C.STATUS_FAILED, _C.SUCCESS_RULE_FAILED, _C.EMPTY_RESULT, _C.ERROR_TEXT_FOUND,
        }
    ),
    Part.OBSERVATION: frozenset(
        {
            _C.SCHEMA_VIOLATION, _C.RULE_FAILED, _C.RULE_INDETERMINATE, _C.RULE_ERROR, _C.NORMALISATION_REFUSED,
            _C.CONSISTENCY_BROKEN, _C.LOW_RELEVANCE, _C.LATENCY_EXCEEDED, _C.AMBIGUOUS_RESULT, _C.RESULT_DOUBTFUL,
            _C.SOURCES_DISAGREE,
        }
    ),
    Part.ANSWER: frozenset({_C.ANSWER_TOO_LARGE, _C.EVIDENCE_TOO_LARGE, _C.ANSWER_UNGROUNDED}),
    Part.NO_TOOL: frozenset({_C.NO_TOOL}),
    Part.REQUEST: frozenset({_C.MISSING_USER_QUERY, _C.INSUFFICIENT_CONTEXT}),
    Part.LIMIT: frozenset({_C.LIMIT_REACHED, _C.LOOP_DETECTED, _C.DEADLINE_EXCEEDED}),
    Part.PERSON: frozenset(
        {_C.APPROVAL_REQUIRED, _C.APPROVAL_REJECTED, _C.APPROVAL_EXPIRED, _C.APPROVAL_CANCELLED, _C.APPROVAL_UNUSABLE}
    ),
    Part.DEPLOYMENT: frozenset(
        {
            _C.CATALOGUE_MISMATCH, _C.CREDENTIAL_MISSING, _C.EGRESS_FORBIDDEN, _C.JOB_HANDLE_REFUSED,
            _C.TOOL_SWITCHED_OFF, _C.SERVICE_UNAVAILABLE,
        }
    ),
    Part.OTHER: frozenset({_C.CANCELLED}),
}  # fmt: skip
_PART_OF: Final[Mapping[str, Part]] = {code.value: part for part, codes in _CODES_OF.items() for code in codes}

_OF_A_TOOL: Final = frozenset({Part.PLANNING, Part.TOOL, Part.OBSERVATION, Part.LIMIT})
POINTS_ELSEWHERE: Final = frozenset({_C.UPSTREAM_STEP_FAILED, _C.DECISION_BY_PERSON_NEEDED})
"""Codes that say what became of a failure, not what it was."""

_PART_OF_STAGE: Final[Mapping[str, Part]] = {
    FaultStage.PLAN: Part.PLANNING,
    FaultStage.RESOLVE: Part.PLANNING,
    FaultStage.POLICY: Part.PLANNING,
    FaultStage.ACTION: Part.TOOL,
    FaultStage.OBSERVATION: Part.OBSERVATION,
    FaultStage.ANSWER: Part.ANSWER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """What one failed run is laid to.

    Attributes:
        run_id: The run.
        part: Where it went wrong.
        code: The failure's code; empty where there is none.
        tool: The tool that failed; empty where none did, or it is not known.
    """

    run_id: str
    part: Part
    code: str
    tool: str = ""


def part_of(fault: Fault | None) -> Part:
    """Return what a fault is laid to: by its code, and a code of a contract's own by the stage that found it."""
    if fault is None:
        return Part.OTHER
    if fault.stage == FaultStage.ANSWER:
        return Part.ANSWER  # a schema that the answer breaks has the code of one that a result breaks
    return _PART_OF.get(fault.code) or _PART_OF_STAGE.get(fault.stage, Part.OTHER)


def says_enough(summary: RunSummary) -> bool:
    """Tell whether a run's events would say no more than its summary: of a failed step they name the tool."""
    return summary.outcome not in FAILED or (
        is_decisive(summary.fault) and _part(summary.outcome, summary.fault) not in _OF_A_TOOL
    )


def is_decisive(fault: Fault | None) -> bool:
    """Tell whether a run's last fault says by itself what went wrong."""
    return fault is not None and not fault.cause_step_id and fault.code not in POINTS_ELSEWHERE


def of_summary(summary: RunSummary) -> Attribution | None:
    """Return what a run is laid to by its summary; None when it has not failed."""
    if summary.outcome not in FAILED:
        return None
    fault = summary.fault
    return Attribution(run_id=summary.run_id, part=_part(summary.outcome, fault), code=_code(fault))


def of_state(state: RunState) -> Attribution | None:
    """Return what a run is laid to by its events; None when it has not failed.

    A fault that points elsewhere is followed to the step where it began; one without such a step, for example of a run
    that was handed over, to the first step of the run that failed by itself.
    """
    finished = state.finished
    if finished is None or finished.outcome not in FAILED:
        return None
    fault, tool = _cause(state, finished.fault)
    return Attribution(run_id=state.run_id, part=_part(finished.outcome, fault), code=_code(fault), tool=tool)


def _cause(state: RunState, fault: Fault | None) -> tuple[Fault | None, str]:
    if fault is None or is_decisive(fault):
        return fault, _tool_with(state, fault)
    named = state.steps.get(fault.cause_step_id)
    own = [record for record in state.steps.values() if record.fault is not None and is_decisive(record.fault)]
    began = named if named is not None and named.fault is not None else next(iter(own), None)
    return (fault, "") if began is None else (began.fault, began.tool)


def _tool_with(state: RunState, fault: Fault | None) -> str:
    """Return the tool of the step that failed by a fault, or whose call was under way when the run ended with it."""
    if fault is None:
        return ""
    failed = (record for record in state.steps.values() if record.fault == fault or _was_cut_off(record, fault))
    return next((record.tool for record in failed), "")


def _was_cut_off(record: StepRecord, fault: Fault) -> bool:
    if record.is_done or record.action is None or record.action.fault is None:
        return False
    return record.action.fault == fault or record.action.fault.code == FaultCode.OUTCOME_UNKNOWN


def _part(outcome: Outcome | None, fault: Fault | None) -> Part:
    if outcome is Outcome.NO_TOOL:
        return Part.NO_TOOL
    if outcome is Outcome.LIMIT_REACHED:
        return Part.LIMIT
    return part_of(fault)


def _code(fault: Fault | None) -> str:
    return "" if fault is None else str(fault.code)


@dataclass(slots=True)
class Row:
    """The failed runs that are laid to one part.

    Attributes:
        count: How many.
        codes: How often each code.
        tools: How often each tool, where one is known.
        examples: Ids of some of them.
    """

    count: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


@dataclass(slots=True)
class FailureReport:
    """Counts runs, and lays the failed ones to parts.

    Attributes:
        runs: How many runs were looked at, whatever became of them.
        rows: The parts to which at least one run is laid.
    """

    runs: int = 0
    rows: dict[Part, Row] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """How many runs failed."""
        return sum(row.count for row in self.rows.values())

    def add(self, attribution: Attribution | None) -> None:
        """Count one run; None for one that has not failed."""
        self.runs += 1
        if attribution is None:
            return
        row = self.rows.setdefault(attribution.part, Row())
        row.count += 1
        row.codes[attribution.code or "none"] += 1
        if attribution.tool:
            row.tools[attribution.tool] += 1
        if len(row.examples) < MAX_EXAMPLES:
            row.examples.append(attribution.run_id)

    def share(self, part: Part) -> float:
        """Return the share of the failed runs that is laid to a part, 0 to 1."""
        row = self.rows.get(part)
        return 0.0 if row is None else row.count / self.failed

    def ordered(self) -> Iterable[tuple[Part, Row]]:
        """Return the rows, the largest first."""
        return sorted(self.rows.items(), key=lambda item: (-item[1].count, list(Part).index(item[0])))
