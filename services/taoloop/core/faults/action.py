"""What is found while a tool is called."""

from __future__ import annotations

from typing import Final

from taoloop.core.faults.sentences import Sentences

CODES: Final = {
    "TOOL_TIMEOUT": Sentences(
        "The tool did not answer in time.",
        "Read again later, or raise the contract's timeout.",
    ),
    "TOOL_UNREACHABLE": Sentences(
        "No connection to the tool could be made.",
        "Read again later; the operator checks address and network.",
    ),
    "TOOL_PROTOCOL_FAULT": Sentences(
        "The tool's answer breaks its protocol.",
        "The operator of the tool corrects it.",
    ),
    "TOOL_ERROR": Sentences(
        "The tool answered that it failed, without a code that the contract knows.",
        "Read the status code and the message, and plan without this result.",
    ),
    "RESPONSE_TOO_LARGE": Sentences(
        "The decoded response is larger than allowed.",
        "Ask the tool for less, or raise the limit.",
    ),
    "RESPONSE_INCOMPLETE": Sentences(
        "The response ended before its announced length.",
        "Read again; a write needs its outcome looked up first.",
    ),
    "RESPONSE_MALFORMED": Sentences(
        "The body is not of the content type that it claims.",
        "The operator of the tool corrects it.",
    ),
    "OUTCOME_UNKNOWN": Sentences(
        "A write may or may not have taken effect.",
        "Never send it again; look up the outcome, or let a person decide.",
    ),
    "CREDENTIAL_MISSING": Sentences(
        "The secret that the contract names is not configured.",
        "The operator provides the secret.",
    ),
    "CREDENTIAL_REFUSED": Sentences(
        "The token endpoint gave no access token, or the client certificate cannot be used.",
        "The operator checks the secrets and the token endpoint; try again later if the fault says so.",
    ),
    "EGRESS_FORBIDDEN": Sentences(
        "The tool's address is not one that may be connected to; the call was not made.",
        "The operator corrects the base URL, or opens the network in TAOLOOP_EGRESS__ALLOW.",
    ),
    "REDIRECT_FORBIDDEN": Sentences(
        "The tool answered by a redirect that must not be followed.",
        "The owner of the contract corrects the URL.",
    ),
    "POOL_EXHAUSTED": Sentences(
        "Every connection of the tool's pool was busy until the time was over; the call was not made.",
        "Try again later; the operator raises the contract's pool size, or lowers its limiter.",
    ),
    "JOB_PROTOCOL_FAULT": Sentences(
        "The answer about a job lacks a field, or names a state, that the contract does not know.",
        "The owner of the contract compares its pointers and states with what the tool answers.",
    ),
    "JOB_FAILED": Sentences(
        "The tool said that the job failed.",
        "Read the body's cause; the same job fails again unless something changed.",
    ),
    "JOB_CANCELLED": Sentences(
        "The tool said that the job was cancelled.",
        "Create the job again if it is still wanted.",
    ),
    "JOB_TIMEOUT": Sentences(
        "The job was not over within the contract's total time; the fault tells its last known state.",
        "A person looks at the job, or the owner of the contract raises its total.",
    ),
    "JOB_HANDLE_REFUSED": Sentences(
        "The job handle was changed, or belongs to another tenant, run, tool or call.",
        "Send the handle as it came, with the call that it came from.",
    ),
    "REPEATED_WRITE": Sentences(
        "The same write was already started, has an unknown outcome or succeeded in this run.",
        "Use the earlier result; plan no second one.",
    ),
    "APPROVAL_REQUIRED": Sentences(
        "A person must agree before the call is made; it was not made.",
        "Let a person decide by the approval's id, then make the same call again.",
    ),
    "APPROVAL_REJECTED": Sentences(
        "A person decided that the call may not be made.",
        "Plan without this call.",
    ),
    "APPROVAL_EXPIRED": Sentences(
        "Nobody decided in time, or the leave was not used in time; that is no rejection.",
        "Ask again by a new step, if the call is still wanted.",
    ),
    "APPROVAL_CANCELLED": Sentences(
        "The question for leave was withdrawn, for example because the run was cancelled.",
        "Ask again by a new step, if the call is still wanted.",
    ),
    "APPROVAL_UNUSABLE": Sentences(
        "The leave was used, withdrawn or lapsed at the moment at which the call was to start; it was not made.",
        "Make the same call again, which tells where its approval stands.",
    ),
    "TOOL_SWITCHED_OFF": Sentences(
        "An operator has switched the tool off.",
        "Use another tool, or wait until it is switched on.",
    ),
    "BREAKER_OPEN": Sentences(
        "The tool failed so often that it is not called for a while.",
        "Wait as long as the fault says, or use another tool.",
    ),
    "LIMITER_SHED": Sentences(
        "The tool already has as many calls as its contract allows, so this one was not made.",
        "Try again later, or use another tool.",
    ),
    "RETRY_BUDGET_EXHAUSTED": Sentences(
        "The attempt failed, and the tool had too many repeats lately for another one.",
        "Try again later; the operator looks at the tool.",
    ),
    "FALLBACK_FAILED": Sentences(
        "The tool failed, and so did what the contract names in its place.",
        "Skip the tool, and let a person decide.",
    ),
    "NOT_FOUND": Sentences(
        "The tool knows nothing under the given key.",
        "Check the key with the user, or look it up with another tool.",
    ),
    "RATE_LIMITED": Sentences(
        "The tool takes no more calls now.",
        "Wait as long as the fault says.",
    ),
    "UPSTREAM_UNAVAILABLE": Sentences(
        "The tool answered that it cannot serve now.",
        "Read again later, or use another tool.",
    ),
    "UPSTREAM_REFUSED": Sentences(
        "The tool refused the request as it stands.",
        "Correct the arguments or the credentials; the same call fails again.",
    ),
}
