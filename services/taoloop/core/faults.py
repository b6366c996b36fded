"""Failures as data: what went wrong inside a run, for the next thought to read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

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


class FaultCode(StrEnum):
    """The stable codes that taoloop itself gives; a contract's `errors` may add codes of its own.

    Attributes:
        meaning: What happened, in one sentence.
        remedy: What the planner, the caller or the operator does about it, in one sentence.
    """

    meaning: str
    remedy: str

    def __new__(cls, value: str, meaning: str = "", remedy: str = "") -> Self:
        """Make a member whose value is the code alone; `FaultCode(text)` looks one up and needs no sentences."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        member.remedy = remedy
        return member

    # Found in a plan before anything runs.
    EMPTY_PLAN = "EMPTY_PLAN", "The plan has no step.", "Plan at least one step, or answer, ask or refuse instead."
    PLAN_TOO_LARGE = (
        "PLAN_TOO_LARGE",
        "The plan has more steps, or more tokens, than are allowed.",
        "Plan fewer steps; the next iteration can go on.",
    )
    INVALID_PLAN = (
        "INVALID_PLAN",
        "The plan does not have the form of a plan.",
        "Write the plan in the documented form.",
    )
    INVALID_STEP_ID = (
        "INVALID_STEP_ID",
        "A step id is empty, too long or has characters that are not allowed.",
        "Give the step a short id of letters, digits, '.', '_' and '-'.",
    )
    UNKNOWN_TOOL = (
        "UNKNOWN_TOOL",
        "A step names a tool that the catalogue does not have.",
        "Use one of the candidates.",
    )
    DUPLICATE_STEP_ID = (
        "DUPLICATE_STEP_ID",
        "Two steps have the same id.",
        "Give each step an id of its own.",
    )
    UNKNOWN_DEPENDENCY = (
        "UNKNOWN_DEPENDENCY",
        "A step depends on a step that does not exist.",
        "Name a step of this plan or a completed one.",
    )
    DEPENDENCY_CYCLE = (
        "DEPENDENCY_CYCLE",
        "Steps wait for one another in a circle.",
        "Remove one of the named dependencies.",
    )
    UNDECLARED_DEPENDENCY = (
        "UNDECLARED_DEPENDENCY",
        "A step refers to the output of a step that it does not depend on.",
        "Add the step to depends_on.",
    )
    UNKNOWN_REFERENCE = (
        "UNKNOWN_REFERENCE",
        "A reference points at a field that its source does not have.",
        "Point at one of the candidates.",
    )
    TYPE_MISMATCH = (
        "TYPE_MISMATCH",
        "The source of an argument has another type than the parameter.",
        "Use a source of the expected type, or a conversion that the parameter declares.",
    )
    MISSING_PARAMETER = (
        "MISSING_PARAMETER",
        "A required parameter has no binding.",
        "Bind the parameter, or ask the user for it.",
    )
    UNKNOWN_PARAMETER = (
        "UNKNOWN_PARAMETER",
        "A binding names a parameter that the tool does not have.",
        "Remove the binding, or use one of the candidates.",
    )
    SOURCE_NOT_ALLOWED = (
        "SOURCE_NOT_ALLOWED",
        "The contract does not let this parameter come from such a source.",
        "Bind the parameter to a source that the contract lists.",
    )
    TOOL_NOT_ALLOWED = (
        "TOOL_NOT_ALLOWED",
        "The caller's permissions do not include the tool.",
        "Use an allowed tool, or ask the operator for the permission.",
    )
    TOOL_UNAVAILABLE = (
        "TOOL_UNAVAILABLE",
        "The tool is known and cannot be called now.",
        "Wait as long as the fault says, or use another tool.",
    )
    EFFECT_NOT_ALLOWED = (
        "EFFECT_NOT_ALLOWED",
        "The tool has a greater effect than the caller's permissions allow.",
        "Use a tool with a smaller effect, or ask for the permission.",
    )
    TAINTED_SOURCE = (
        "TAINTED_SOURCE",
        "Untrusted text would feed or steer a step that writes or reaches outside.",
        "Bind the argument to a trusted source, or let a person decide.",
    )
    CATALOGUE_MISMATCH = (
        "CATALOGUE_MISMATCH",
        "The plan was made against another catalogue.",
        "Plan again with the present catalogue.",
    )
    NOT_YET_SUPPORTED = (
        "NOT_YET_SUPPORTED",
        "The plan or the contract uses a feature that this version does not serve.",
        "Do without the feature, or use a version that serves it.",
    )
    MISSING_USER_QUERY = (
        "MISSING_USER_QUERY",
        "The request has no text of the user.",
        "Send at least one turn of the user with text.",
    )
    INSUFFICIENT_CONTEXT = (
        "INSUFFICIENT_CONTEXT",
        "The request, the state and the observations do not say enough to plan.",
        "Ask the user for what the fault names.",
    )
    NO_TOOL = (
        "NO_TOOL",
        "No tool of the catalogue fits the request.",
        "Tell the user what can be done, or add a tool.",
    )
    AMBIGUOUS_TOOL = (
        "AMBIGUOUS_TOOL",
        "Several tools fit the request equally well.",
        "Ask the user which of the candidates is meant.",
    )

    # Found while arguments are fetched and checked.
    UNRESOLVED_REFERENCE = (
        "UNRESOLVED_REFERENCE",
        "The place that a binding points at holds nothing.",
        "Point at a place that has a value, or ask the user.",
    )
    VALUE_MISMATCH = (
        "VALUE_MISMATCH",
        "The value found is not the one that the planner expected.",
        "Point at the right place, or expect the value that stands there.",
    )
    INVALID_PARAMETER = (
        "INVALID_PARAMETER",
        "An argument breaks the tool's parameter schema.",
        "Give a value that the schema accepts.",
    )
    CONVERSION_REFUSED = (
        "CONVERSION_REFUSED",
        "A value cannot be converted without guessing.",
        "Choose one of the candidates, or ask the user.",
    )

    # Found while a tool is called.
    TOOL_TIMEOUT = (
        "TOOL_TIMEOUT",
        "The tool did not answer in time.",
        "Read again later, or raise the contract's timeout.",
    )
    TOOL_UNREACHABLE = (
        "TOOL_UNREACHABLE",
        "No connection to the tool could be made.",
        "Read again later; the operator checks address and network.",
    )
    TOOL_PROTOCOL_FAULT = (
        "TOOL_PROTOCOL_FAULT",
        "The tool's answer breaks its protocol.",
        "The operator of the tool corrects it.",
    )
    TOOL_ERROR = (
        "TOOL_ERROR",
        "The tool answered that it failed, without a code that the contract knows.",
        "Read the status code and the message, and plan without this result.",
    )
    RESPONSE_TOO_LARGE = (
        "RESPONSE_TOO_LARGE",
        "The decoded response is larger than allowed.",
        "Ask the tool for less, or raise the limit.",
    )
    RESPONSE_INCOMPLETE = (
        "RESPONSE_INCOMPLETE",
        "The response ended before its announced length.",
        "Read again; a write needs its outcome looked up first.",
    )
    RESPONSE_MALFORMED = (
        "RESPONSE_MALFORMED",
        "The body is not of the content type that it claims.",
        "The operator of the tool corrects it.",
    )
    OUTCOME_UNKNOWN = (
        "OUTCOME_UNKNOWN",
        "A write may or may not have taken effect.",
        "Never send it again; look up the outcome, or let a person decide.",
    )
    CREDENTIAL_MISSING = (
        "CREDENTIAL_MISSING",
        "The secret that the contract names is not configured.",
        "The operator provides the secret.",
    )
    CREDENTIAL_REFUSED = (
        "CREDENTIAL_REFUSED",
        "The token endpoint gave no access token, or the client certificate cannot be used.",
        "The operator checks the secrets and the token endpoint; try again later if the fault says so.",
    )
    EGRESS_FORBIDDEN = (
        "EGRESS_FORBIDDEN",
        "The tool's address is not one that may be connected to; the call was not made.",
        "The operator corrects the base URL, or opens the network in TAOLOOP_EGRESS__ALLOW.",
    )
    REDIRECT_FORBIDDEN = (
        "REDIRECT_FORBIDDEN",
        "The tool answered by a redirect that must not be followed.",
        "The owner of the contract corrects the URL.",
    )
    POOL_EXHAUSTED = (
        "POOL_EXHAUSTED",
        "Every connection of the tool's pool was busy until the time was over; the call was not made.",
        "Try again later; the operator raises the contract's pool size, or lowers its limiter.",
    )
    JOB_PROTOCOL_FAULT = (
        "JOB_PROTOCOL_FAULT",
        "The answer about a job lacks a field, or names a state, that the contract does not know.",
        "The owner of the contract compares its pointers and states with what the tool answers.",
    )
    JOB_FAILED = (
        "JOB_FAILED",
        "The tool said that the job failed.",
        "Read the body's cause; the same job fails again unless something changed.",
    )
    JOB_CANCELLED = (
        "JOB_CANCELLED",
        "The tool said that the job was cancelled.",
        "Create the job again if it is still wanted.",
    )
    JOB_TIMEOUT = (
        "JOB_TIMEOUT",
        "The job was not over within the contract's total time; the fault tells its last known state.",
        "A person looks at the job, or the owner of the contract raises its total.",
    )
    JOB_HANDLE_REFUSED = (
        "JOB_HANDLE_REFUSED",
        "The job handle was changed, or belongs to another tenant, run, tool or call.",
        "Send the handle as it came, with the call that it came from.",
    )
    REPEATED_WRITE = (
        "REPEATED_WRITE",
        "The same write was already started, has an unknown outcome or succeeded in this run.",
        "Use the earlier result; plan no second one.",
    )
    APPROVAL_REQUIRED = (
        "APPROVAL_REQUIRED",
        "A person must agree before the call is made; it was not made.",
        "Let a person decide by the approval's id, then make the same call again.",
    )
    APPROVAL_REJECTED = (
        "APPROVAL_REJECTED",
        "A person decided that the call may not be made.",
        "Plan without this call.",
    )
    APPROVAL_EXPIRED = (
        "APPROVAL_EXPIRED",
        "Nobody decided in time, or the leave was not used in time; that is no rejection.",
        "Ask again by a new step, if the call is still wanted.",
    )
    APPROVAL_CANCELLED = (
        "APPROVAL_CANCELLED",
        "The question for leave was withdrawn, for example because the run was cancelled.",
        "Ask again by a new step, if the call is still wanted.",
    )
    APPROVAL_UNUSABLE = (
        "APPROVAL_UNUSABLE",
        "The leave was used, withdrawn or lapsed at the moment at which the call was to start; it was not made.",
        "Make the same call again, which tells where its approval stands.",
    )
    TOOL_SWITCHED_OFF = (
        "TOOL_SWITCHED_OFF",
        "An operator has switched the tool off.",
        "Use another tool, or wait until it is switched on.",
    )
    BREAKER_OPEN = (
        "BREAKER_OPEN",
        "The tool failed so often that it is not called for a while.",
        "Wait as long as the fault says, or use another tool.",
    )
    LIMITER_SHED = (
        "LIMITER_SHED",
        "The tool already has as many calls as its contract allows, so this one was not made.",
        "Try again later, or use another tool.",
    )
    RETRY_BUDGET_EXHAUSTED = (
        "RETRY_BUDGET_EXHAUSTED",
        "The attempt failed, and the tool had too many repeats lately for another one.",
        "Try again later; the operator looks at the tool.",
    )
    FALLBACK_FAILED = (
        "FALLBACK_FAILED",
        "The tool failed, and so did what the contract names in its place.",
        "Skip the tool, and let a person decide.",
    )
    NOT_FOUND = (
        "NOT_FOUND",
        "The tool knows nothing under the given key.",
        "Check the key with the user, or look it up with another tool.",
    )
    RATE_LIMITED = (
        "RATE_LIMITED",
        "The tool takes no more calls now.",
        "Wait as long as the fault says.",
    )
    UPSTREAM_UNAVAILABLE = (
        "UPSTREAM_UNAVAILABLE",
        "The tool answered that it cannot serve now.",
        "Read again later, or use another tool.",
    )
    UPSTREAM_REFUSED = (
        "UPSTREAM_REFUSED",
        "The tool refused the request as it stands.",
        "Correct the arguments or the credentials; the same call fails again.",
    )

    # Found while a result is checked.
    STATUS_FAILED = (
        "STATUS_FAILED",
        "The action did not succeed, so its body was not judged.",
        "Read the cause in the action's own fault.",
    )
    SUCCESS_RULE_FAILED = (
        "SUCCESS_RULE_FAILED",
        "The body says that the tool failed, by the contract's success rule.",
        "Read the body's error, and plan without this result.",
    )
    EMPTY_RESULT = (
        "EMPTY_RESULT",
        "The tool succeeded and returned nothing, which the contract calls a failure.",
        "Check the arguments, or tell the user that there is nothing.",
    )
    SCHEMA_VIOLATION = (
        "SCHEMA_VIOLATION",
        "The body breaks the contract's response schema.",
        "Plan without this result; the owner of the contract or of the tool corrects it.",
    )
    RULE_FAILED = (
        "RULE_FAILED",
        "A rule of the contract does not hold for the data.",
        "Plan without this result, or cross-check it with another tool.",
    )
    RULE_INDETERMINATE = (
        "RULE_INDETERMINATE",
        "A rule of the contract compares something that is missing or null.",
        "Cross-check with another tool; the owner of the contract handles the missing value.",
    )
    RULE_ERROR = (
        "RULE_ERROR",
        "A rule of the contract could not be evaluated.",
        "The owner of the contract corrects the rule.",
    )
    NORMALISATION_REFUSED = (
        "NORMALISATION_REFUSED",
        "A field has more than one reading, or none.",
        "The owner of the contract says which of the candidates is meant.",
    )
    CONSISTENCY_BROKEN = (
        "CONSISTENCY_BROKEN",
        "The data contradicts itself, the arguments or the values that the contract knows.",
        "Cross-check with another tool, or let a person decide.",
    )
    LATENCY_EXCEEDED = (
        "LATENCY_EXCEEDED",
        "The tool answered later than the contract's max_latency.",
        "Use the data with care; the operator looks at the tool.",
    )

    # Found by the loop itself.
    LIMIT_REACHED = (
        "LIMIT_REACHED",
        "The run has used up one of its limits.",
        "Raise the limit, or ask for less in one run.",
    )
    LOOP_DETECTED = (
        "LOOP_DETECTED",
        "The same call gave the same result three times.",
        "Plan another way; the call will not change.",
    )
    UPSTREAM_STEP_FAILED = (
        "UPSTREAM_STEP_FAILED",
        "A step that this one depends on did not succeed, so this one was not called.",
        "Mend the step that the fault names as its cause.",
    )
    AMBIGUOUS_RESULT = (
        "AMBIGUOUS_RESULT",
        "A result fits more than one call, so it was refused.",
        "The sender marks each result with the id of its call.",
    )
    CANCELLED = (
        "CANCELLED",
        "The caller cancelled the run.",
        "Start another run if the answer is still wanted.",
    )
    DEADLINE_EXCEEDED = (
        "DEADLINE_EXCEEDED",
        "The time of the run or of the step is used up.",
        "Give more time, or ask for less in one run.",
    )
    SERVICE_UNAVAILABLE = (
        "SERVICE_UNAVAILABLE",
        "A service of taoloop did not answer.",
        "Retry the run later; the operator looks at the service.",
    )
    DECISION_BY_PERSON_NEEDED = (
        "DECISION_BY_PERSON_NEEDED",
        "The loop may not or cannot decide this by itself.",
        "A person decides, with the events of the run at hand.",
    )
    ANSWER_UNGROUNDED = (
        "ANSWER_UNGROUNDED",
        "The answer holds a number, an id or a date that no observation has.",
        "Give the facts of the observations instead.",
    )


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
