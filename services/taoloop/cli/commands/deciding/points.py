"""The seven decision points of an agent as a table: what each decides, its switches, settings and metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from taoloop.cli.deployables import DeployableName
from taoloop.core.telemetry import names
from taoloop.core.telemetry.names.metric_spec import MetricSpec

Off = str | float | bool | None


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a deployable.

    Attributes:
        deployable: Who reads it.
        env: Name of the variable.
    """

    deployable: DeployableName
    env: str


@dataclass(frozen=True, slots=True)
class Switch:
    """A setting by which a part of a decision point is switched off.

    Attributes:
        setting: The setting.
        decides: What it switches, in a few words.
        off: The value that switches it off; None is unset.
        without: What happens then instead.
        is_main: Whether the whole decision point is off without it.
    """

    setting: Setting
    decides: str
    off: Off
    without: str
    is_main: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPoint:
    """One decision point.

    Attributes:
        number: 1 to 7.
        name: Its name.
        question: What is decided.
        always: What is decided in any case and cannot be switched off.
        switches: What can be switched off.
        settings: What else sets it.
        metrics: By what it is watched.
        lacks: What this version does not have of it; empty when nothing is known to lack.
    """

    number: int
    name: str
    question: str
    always: str
    switches: tuple[Switch, ...] = ()
    settings: tuple[Setting, ...] = ()
    metrics: tuple[MetricSpec, ...] = ()
    lacks: str = ""


def _worker(name: str) -> Setting:
    return Setting(DeployableName.THOUGHT_WORKER, f"TAOLOOP_{name}")


def _loop(name: str) -> Setting:
    return Setting(DeployableName.LOOP, f"TAOLOOP_{name}")


def _action(name: str) -> Setting:
    return Setting(DeployableName.ACTION, f"TAOLOOP_{name}")


def _observation(name: str) -> Setting:
    return Setting(DeployableName.OBSERVATION, f"TAOLOOP_OBSERVATION_{name}")


POINTS: Final = (
    DecisionPoint(
        number=1,
        name="Planning",
        question="Does a language model plan, or the graph planner alone?",
        always="Every plan is checked, whoever made it.",
        switches=(
            Switch(_worker("MODEL__URL"), "the language model", None, "the graph planner plans everything",
                   is_main=True),
            Switch(_worker("STRONGER_MODEL__URL"), "the stronger model", None,
                   "after the first model the graph planner follows"),
            Switch(_worker("THOUGHT__ROUTE__ENABLED"), "routing to a model", False,
                   "the graph planner plans everything", is_main=True),
            Switch(_worker("THOUGHT__PLAN__ENABLED"), "planning by models", False,
                   "the graph planner plans everything", is_main=True),
            Switch(_worker("THOUGHT__ROUTE__MAX_INPUT_TOKENS"), "the bypass for long inputs", 0,
                   "a model is given inputs of any length, as far as they fit its context"),
        ),
        settings=tuple(map(_worker, (
            "THOUGHT__ROUTE__URGENT_WORDS", "THOUGHT__ROUTE__NEGATION_WORDS", "THOUGHT__ROUTE__MAX_FAILURES",
            "THOUGHT__ROUTE__FORGET_FAILURES_SECONDS", "THOUGHT__ROUTE__EMPTY_PLAN", "THOUGHT__ROUTE__MIN_FIT",
            "THOUGHT__ROUTE__MIN_ARGUMENTS", "THOUGHT__ROUTE__MIN_MISSING", "THOUGHT__ROUTE__FIT_OF_NONE",
        ))),
        metrics=(names.THOUGHT_ROUTES, names.THOUGHT_FALLBACKS, names.THOUGHT_DURATION, names.THOUGHT_STAGE_DURATION),
    ),
    DecisionPoint(
        number=2,
        name="Memory",
        question="What of what is known does a thought read, how much of it, and in which form?",
        always="A thought reads its task's turns, the caller's answers and what contracts expose of earlier results; "
        "of the session's state a model is told names alone, and of memory 300 tokens at most (docs/memory.md).",
        switches=(
            Switch(_loop("MEMORY__ENABLED"), "memory", False, "every run begins with what its caller sends",
                   is_main=True),
            Switch(_loop("MEMORY__RECALL__ENABLED"), "telling thoughts of earlier turns, runs and failures", False,
                   "a thought reads its own run alone; what is remembered restores the state"),
            Switch(_loop("MEMORY__RECALL__RESTORES_STATE"), "restoring the session's state", False,
                   "the state is what the caller sends"),
            Switch(_loop("MEMORY__RECALL__MAX_ITEMS"), "knowledge that fits the request", 0,
                   "a thought is told of its session alone"),
            Switch(_loop("MEMORY__SUMMARISER__URL"), "summaries by a language model", None,
                   "a session is summed up by an extract of its turns"),
        ),
        settings=(
            _loop("MEMORY__RECALL__MIN_SCORE"), _loop("MEMORY__RECALL__MAX_TOKENS"),
            _loop("MEMORY__RECALL__MAX_SUMMARY_TOKENS"), _loop("MEMORY__WARM__MAX_CANDIDATES"),
            _loop("MEMORY__MAX_TURNS"), _observation("MAX_EXPOSED_BYTES"),
        ),
        metrics=(names.MEMORY_TOLD, names.MEMORY_LEFT_OUT, names.MEMORY_SUMMARIES, names.EXPOSED_CUT),
    ),
    DecisionPoint(
        number=3,
        name="Tool contract",
        question="Which tools may a plan use, and does a call keep its contract?",
        always="Arguments are checked against the contract before a call, and permissions hold for every planner.",
        switches=(
            Switch(_worker("THOUGHT__SELECT__ENABLED"), "the selection of tools for a model", False,
                   "a model is offered every tool that may be used"),
            Switch(_worker("THOUGHT__SELECT__MAX_PRODUCED"), "tools offered for what they produce", 0,
                   "a model is offered what the request's words find, and nothing more"),
            Switch(_worker("THOUGHT__AUTHORISE__TOOLS"), "the white list of tools", "[]",
                   "plans may use every tool that the request permits"),
            Switch(_action("BOARD__TOOLS_OFF"), "the kill switch for single tools", "{}", "every tool is called"),
            Switch(_action("APPROVAL__WHEN"), "leave by people for calls of every tool", None,
                   "calls wait where their contract asks for leave, or untrusted text steers or feeds them"),
            Switch(_loop("PEOPLE__WARN_BEFORE_SECONDS"), "the warning before an approval lapses", 0.0,
                   "an approval that nobody decides lapses unannounced"),
        ),
        settings=(
            *map(_worker, ("THOUGHT__AUTHORISE__MODES", "THOUGHT__SELECT__MAX_FOUND", "THOUGHT__SELECT__MAX_DEPTH")),
            _loop("PEOPLE__ON_EXPIRE"),
        ),
        metrics=(
            names.TOOLS_LEFT_OUT, names.THOUGHT_MODES_REFUSED, names.ACTION_CALLS, names.ACTION_RETRIES,
            names.BREAKER_STATE, names.FALLBACKS, names.SWITCHED_OFF_REFUSED, names.APPROVALS, names.APPROVALS_WARNED,
            names.APPROVALS_LAPSED,
        ),
    ),
    DecisionPoint(
        number=4,
        name="Observation",
        question="Is a result a success, what does it say in our words, and how far is it trusted?",
        always="Status, success rule, schema, normalisation, rules and confidence are judged for every result.",
        switches=(
            Switch(_observation("MIN_CERTAINTY"), "the reading of failures in a result's text", 1.0,
                   "a text that tells of a failure counts for nothing"),
            Switch(_observation("VALIDATOR__URL"), "the semantic validator of answers", None,
                   "answers are compared with their evidence by values alone"),
            Switch(_loop("ANSWER__BY"), "the language model that words answers", "template",
                   "templates of the contracts and facts answer"),
        ),
        settings=tuple(map(_observation, (
            "CONFIDENCE__PREFERRED", "CONFIDENCE__DOUBTFUL", "WEIGHTS__FALLBACK", "WEIGHTS__CACHE",
            "WEIGHTS__UNTRUSTED", "MAX_BODY_BYTES",
        ))),
        metrics=(names.OBSERVATIONS, names.SOFT_LABELS, names.DRIFT, names.ANSWERS_CHECKED, names.VALIDATION_ATTEMPTS,
                 names.ANSWERS, names.ANSWERS_REPLACED),
    ),
    DecisionPoint(
        number=5,
        name="Self-correction",
        question="Is a failure repaired, planned again, or given to a person?",
        always="A failure is data with a stable code, and a table says what is done about it (docs/correction.md); a "
        "write whose outcome is unknown goes to a person.",
        switches=(
            Switch(_loop("CORRECTION__ENABLED"), "every correction of a run", False,
                   "a failure ends its run, or goes to a person", is_main=True),
            Switch(_loop("CORRECTION__RETRY"), "making a late call once more", False,
                   "the failure is planned round at once"),
            Switch(_loop("CORRECTION__FIX_INPUT"), "replacing words by a contract's vocabularies", False,
                   "the user is asked for the value"),
            Switch(_loop("CORRECTION__FALLBACK"), "using a contract's fallback where a result is of no use", False,
                   "the failure is planned round"),
            Switch(_loop("CORRECTION__CROSS_CHECK"), "comparing a doubtful result with another source", False,
                   "a person decides about it"),
            Switch(_loop("CORRECTION__REPROMPT"), "thinking again, more strictly", False,
                   "a malformed thought ends the run, or goes to a person"),
            Switch(_loop("CORRECTION__REPLAN"), "planning round a failure", False,
                   "a failure ends the run, or goes to a person or the user"),
            Switch(_loop("CORRECTION__ASK"), "asking for another value", False,
                   "a value that a tool refuses ends the run"),
            Switch(_worker("THOUGHT__REPAIR__ENABLED"), "asking a model again with its plan's faults", False,
                   "the next planner takes over"),
            Switch(_worker("THOUGHT__STALL__ENABLED"), "the detector of thoughts that stand still", False,
                   "a repeated plan runs until a limit of the run ends it"),
        ),
        settings=(
            _worker("THOUGHT__REPAIR__ATTEMPTS"), _worker("THOUGHT__REPAIR__MARGIN_SECONDS"),
            _loop("MAX_EQUAL_CALLS"), _loop("MAX_ITERATIONS"), _loop("CORRECTION__MIN_PAUSE_SECONDS"),
            _loop("CORRECTION__MAX_PAUSE_SECONDS"), _loop("CORRECTION__MODEL_TIMEOUT_SECONDS"),
            _loop("CORRECTION__MARGIN_SECONDS"),
        ),
        metrics=(
            names.THOUGHT_REPAIRS, names.THOUGHT_RETRY_SKIPPED, names.THOUGHT_STALLS, names.RETRY_STOPPED,
            names.RETRY_BUDGET_EXHAUSTED, names.CORRECTIONS, names.CORRECTIONS_SKIPPED,
        ),
    ),
    DecisionPoint(
        number=6,
        name="Token control",
        question="How many tokens may a thought and a run take, and of which model?",
        always="A plan, a reply and a run have upper bounds; what a call of a model takes is estimated.",
        switches=(
            Switch(
                _worker("BUDGET__ENABLED"), "tenants' budgets of token-seconds", False, "models are asked without bound"
            ),
            Switch(_worker("THOUGHT__SUMMARISE__ENABLED"), "the end of planning after many calls of tools", False,
                   "a run plans on until one of its own limits ends it"),
        ),
        settings=(
            _worker("THOUGHT__SUMMARISE__AFTER_CALLS"),
            _worker("BUDGET__TOKEN_SECONDS_PER_MINUTE"), _worker("BUDGET__TENANTS"), _worker("BUDGET__WHEN_SPENT"),
            _worker("BUDGET__STRONGER_ABOVE_TOKENS"), _worker("BUDGET__HYSTERESIS"), _worker("BUDGET__ESTIMATOR"),
            _worker("PLAN__MAX_TOKENS"), _worker("PLAN__MAX_STEPS"), _worker("THOUGHT__PLAN__MAX_OUTPUT_TOKENS"),
            _worker("MODEL__MAX_REPLY_TOKENS"), _worker("MODEL__CONTEXT_TOKENS"), _worker("MODEL__MAX_IN_FLIGHT"),
            _loop("MAX_TOKENS"),
        ),
        metrics=(
            names.BUDGET_REFUSED, names.BUDGET_TOKEN_SECONDS, names.BUDGET_ESTIMATE_ERROR, names.MODEL_TOKENS,
            names.MODEL_COST, names.PLAN_TOO_LARGE, names.LIMIT_REACHED, names.THOUGHT_SUMMARIES,
        ),
    ),
    DecisionPoint(
        number=7,
        name="Memory lifecycle",
        question="How long is what kept, and for whom?",
        always="Every key and every row names tenant, line of business, user and session; personal data and "
        "credentials are taken out before anything is remembered; a run is forgotten after its retention.",
        switches=(
            Switch(_loop("MEMORY__HOT__ENABLED"), "hot memory, for minutes in Redis", False,
                   "sessions are read from warm memory alone"),
            Switch(_loop("MEMORY__WARM__URL"), "warm memory, for a day in SQL", None,
                   "a session is forgotten minutes after its last run, and nothing is known of users"),
            Switch(_loop("MEMORY__STRICT_LINES"), "refusing lines of business without stores of their own", False,
                   "lines without stores of their own share one, under keys of their own"),
        ),
        settings=(
            _loop("MEMORY__HOT__TTL_SECONDS"), _loop("MEMORY__WARM__TTL_SECONDS"), _loop("MEMORY__LINES"),
            _loop("MEMORY__REDACT"), _loop("MEMORY__REDACT_PATTERNS"), _loop("MEMORY__MAX_STATE_BYTES"),
            _loop("RUN_RETENTION_SECONDS"), _observation("DRIFT__RETENTION_DAYS"),
        ),
        metrics=(names.MEMORY_READS, names.MEMORY_WRITES, names.MEMORY_EXPIRED, names.OPEN_RUNS),
        lacks="No archive: what has left warm memory and the run log is gone.",
    ),
)  # fmt: skip
"""All seven, in their order."""
