"""Names, labels and buckets of metrics."""

from __future__ import annotations

from typing import Final

from taoloop.core.telemetry.names.memory_metrics import *  # noqa: F403 - the registry is one in a few files
from taoloop.core.telemetry.names.metric_spec import (
    CALL_SECONDS,
    OPERATION_SECONDS,
    MetricKind,
    MetricSpec,
    counter,
    gauge,
    seconds,
)
from taoloop.core.telemetry.names.run_metrics import *  # noqa: F403 - the registry is one in a few files

THOUGHT_QUEUE_LENGTH: Final = gauge(
    "taoloop_thought_queue_length", "{request}", (), "Requests for a thought that wait or are in work."
)
PLAN_TOO_LARGE: Final = counter(
    "taoloop_plan_too_large_total", "{plan}", (), "Plans refused because they have too many steps or tokens."
)
THOUGHT_DURATION: Final = seconds(
    "taoloop_thought_duration_seconds",
    ("planner", "outcome"),
    "Time in which a planner made one thought.",
    OPERATION_SECONDS,
)
THOUGHT_STAGE_DURATION: Final = seconds(
    "taoloop_thought_stage_duration_seconds",
    ("stage", "outcome"),
    "Time of one stage of a thought: graph, route, select, plan, expand, check or repair.",
    CALL_SECONDS,
)
THOUGHT_ROUTES: Final = counter(
    "taoloop_thought_routes_total",
    "{thought}",
    ("planner", "reason"),
    "Thoughts by who was to plan them, graph or model, and why.",
)
THOUGHT_FALLBACKS: Final = counter(
    "taoloop_thought_fallbacks_total",
    "{thought}",
    ("rung", "reason"),
    "Rungs of the ladder that made no thought, by why, so that the next one was tried.",
)
THOUGHT_RETRY_SKIPPED: Final = counter(
    "taoloop_thought_retry_skipped_total",
    "{thought}",
    ("reason",),
    "Thoughts for which a model was not asked again, by why: insufficient_deadline, attempts, switched_off.",
)
THOUGHT_REPAIRS: Final = counter(
    "taoloop_thought_repairs_total",
    "{attempt}",
    ("outcome",),
    "Models asked again with the faults of their plan: repaired, refused, or the kind of failure.",
)
THOUGHT_STALLS: Final = counter(
    "taoloop_thought_stalls_total",
    "{thought}",
    ("stall",),
    "Thoughts that did not move their run on: empty_plan, repeated_plan, repeated_question.",
)
THOUGHT_MODES_REFUSED: Final = counter(
    "taoloop_thought_modes_refused_total",
    "{thought}",
    ("mode",),
    "Thoughts of a kind that the deployment does not allow: plan, ask or done.",
)
THOUGHT_SUMMARIES: Final = counter(
    "taoloop_thought_summaries_total",
    "{thought}",
    (),
    "Thoughts that planned no more calls, since their run had made many: they answer with what is known.",
)
TOOLS_LEFT_OUT: Final = counter(
    "taoloop_thought_tools_left_out_total",
    "{tool}",
    ("reason",),
    "Tools that a model was not offered, by why; `no_room` moves when the limits on offered tools bite.",
)
PLANNER_PROCESSES_ENDED: Final = counter(
    "taoloop_planner_processes_ended_total",
    "{process}",
    ("reason",),
    "Planner processes that were replaced: killed after their time or with their request, or died.",
)
QUEUE_WAIT: Final = seconds(
    "taoloop_queue_wait_seconds", (), "Time that a request waited before a worker took it.", CALL_SECONDS
)
QUEUE_REFUSED: Final = counter(
    "taoloop_queue_refused_total", "{request}", ("reason",), "Requests that the queue refused, by reason."
)
QUEUE_JOBS: Final = gauge(
    "taoloop_queue_jobs", "{request}", ("priority", "state"), "Requests in the queue that wait, and that are in work."
)
QUEUE_OLDEST: Final = gauge(
    "taoloop_queue_oldest_seconds", "s", ("priority",), "Age of the oldest request in the queue that is not answered."
)
QUEUE_DEAD_LETTERS: Final = gauge(
    "taoloop_queue_dead_letters", "{request}", (), "Requests that were set aside and are kept for somebody to look at."
)
QUEUE_SET_ASIDE: Final = counter(
    "taoloop_queue_set_aside_total",
    "{request}",
    ("cause",),
    "Requests set aside: unreadable, or handed out too often without an answer.",
)
QUEUE_REDELIVERED: Final = counter(
    "taoloop_queue_redelivered_total", "{request}", (), "Requests handed out again, since their worker did not answer."
)
QUEUE_LEASES_ENDED: Final = counter(
    "taoloop_queue_leases_ended_total",
    "{request}",
    ("reason",),
    "Requests given up while in work: lost to another worker, abandoned by the caller, or late.",
)
QUEUE_DELETED: Final = counter(
    "taoloop_queue_deleted_total", "{request}", (), "Requests in work whose entries somebody else had deleted."
)

ACTION_CALLS: Final = counter("taoloop_action_calls_total", "{call}", ("tool", "status"), "Executions, by status.")
ACTION_DURATION: Final = seconds(
    "taoloop_action_duration_seconds", ("tool",), "Time of one execution with all its attempts.", CALL_SECONDS
)
ACTION_ATTEMPTS: Final = counter(
    "taoloop_action_attempts_total", "{attempt}", ("tool", "outcome"), "Attempts, by `answered` or the fault's code."
)
ACTION_RETRIES: Final = counter(
    "taoloop_action_retries_total", "{attempt}", ("tool", "reason"), "Repeats, by the kind of failure before them."
)
RETRY_STOPPED: Final = counter(
    "taoloop_retry_stopped_total",
    "{call}",
    ("tool", "reason"),
    "Failed calls without a further attempt, by what ended them.",
)
RETRY_BUDGET_EXHAUSTED: Final = counter(
    "taoloop_retry_budget_exhausted_total", "{call}", ("tool",), "Repeats refused by the tool's retry budget."
)
BREAKER_STATE: Final = gauge(
    "taoloop_breaker_state", "1", ("tool",), "Where the tool's breaker stands: 0 closed, 1 half open, 2 open."
)
BREAKER_TRANSITIONS: Final = counter(
    "taoloop_breaker_transitions_total", "{transition}", ("tool", "state"), "Changes of a breaker, by its new state."
)
BREAKER_REFUSED: Final = counter(
    "taoloop_breaker_refused_total", "{attempt}", ("tool",), "Attempts refused by a breaker that is not closed."
)
LIMITER_SHED: Final = counter(
    "taoloop_limiter_shed_total", "{call}", ("tool", "limit"), "Attempts without a free slot, by the limit that bit."
)
LIMITER_IN_FLIGHT: Final = gauge(
    "taoloop_limiter_in_flight", "{attempt}", ("tool",), "Attempts that hold a slot of the tool's limiter now."
)
SWITCHED_OFF_REFUSED: Final = counter(
    "taoloop_switched_off_refused_total", "{attempt}", ("tool",), "Attempts refused by an operator's kill switch."
)
FALLBACKS: Final = counter(
    "taoloop_fallbacks_total", "{call}", ("tool", "outcome"), "Calls that another tool or an old answer stood in for."
)
READ_CACHE: Final = counter(
    "taoloop_read_cache_total", "{read}", ("tool", "outcome"), "Reads of tools with a cache: hit, miss or last_good."
)
READ_CACHE_EVICTIONS: Final = counter(
    "taoloop_read_cache_evictions_total", "{answer}", (), "Answers that left the read cache for want of room."
)
RESPONSE_REFUSED: Final = counter(
    "taoloop_response_refused_total",
    "{response}",
    ("tool", "limit"),
    "Responses of tools refused by a limit on size or completeness.",
)
SECRETS_MASKED: Final = counter(
    "taoloop_secrets_masked_total", "{response}", ("tool",), "Answers that held our own credential, which is masked."
)
EXPOSED_CUT: Final = counter(
    "taoloop_observation_exposed_cut_total",
    "{result}",
    ("tool",),
    "Results of which prompts saw less than the contract exposes, since it was longer than max_exposed_bytes.",
)
POOL_CONNECTIONS: Final = gauge(
    "taoloop_action_pool_connections", "{connection}", ("tool", "state"), "Connections of a tool's pool, busy or idle."
)
POOL_EXHAUSTED: Final = counter(
    "taoloop_action_pool_exhausted_total", "{call}", ("tool",), "Calls that got no connection of their pool in time."
)
STALE_CONNECTIONS: Final = counter(
    "taoloop_action_stale_connections_total",
    "{call}",
    ("tool",),
    "Calls that met a connection which the server had closed while it was idle.",
)
EGRESS_REFUSED: Final = counter(
    "taoloop_action_egress_refused_total",
    "{call}",
    ("tool", "reason"),
    "Calls refused because of an address or a redirect.",
)
MCP_SESSIONS: Final = counter(
    "taoloop_action_mcp_sessions_total",
    "{session}",
    ("server", "outcome"),
    "Sessions with MCP servers: opened, lost after that, or failed before.",
)
JOBS_ENDED: Final = counter(
    "taoloop_action_jobs_ended_total",
    "{job}",
    ("tool", "outcome"),
    "Jobs that are no longer asked about: succeeded, or the fault's code.",
)
TOKEN_REQUESTS: Final = counter(
    "taoloop_action_token_requests_total", "{request}", ("tool", "outcome"), "Access tokens asked for, by outcome."
)

APPROVALS: Final = counter(
    "taoloop_action_approvals_total",
    "{call}",
    ("tool", "state"),
    "Calls that need leave, by where their approval stands.",
)
EFFECT_OUTCOMES_LOST: Final = counter(
    "taoloop_action_effect_outcomes_lost_total", "{effect}", (), "Outcomes of writes that the ledger did not take."
)
EFFECTS_SWEPT: Final = counter(
    "taoloop_action_effects_swept_total",
    "{effect}",
    ("state",),
    "Effects that nobody worked on any more, by what they became: unknown or failed.",
)
EFFECTS_LOOKED_UP: Final = counter(
    "taoloop_action_effects_looked_up_total",
    "{look_up}",
    ("tool", "outcome"),
    "Look-ups of unknown effects: took_place, did_not, or unknown.",
)
LEDGER_BEATS_LOST: Final = counter(
    "taoloop_action_ledger_beats_lost_total",
    "{beat}",
    (),
    "Rounds of the ledger's keeper that the store did not answer.",
)

OBSERVATIONS: Final = counter(
    "taoloop_observations_total", "{observation}", ("tool", "valid"), "Results that were checked, by verdict."
)
DRIFT: Final = counter(
    "taoloop_observation_drift_total",
    "{drift}",
    ("tool", "kind"),
    "Fields, types and enumerated values in results that were never seen of the tool.",
)
DRIFT_REFUSED: Final = counter(
    "taoloop_observation_drift_refused_total", "{drift}", (), "Drift that is not remembered: its tool has max_records."
)
SOFT_LABELS: Final = counter(
    "taoloop_observation_soft_labels_total",
    "{result}",
    ("tool", "label"),
    "Results in whose text the soft check surely found a failure, by its label.",
)
HEAVY_WAITING: Final = gauge(
    "taoloop_observation_heavy_waiting", "{result}", (), "Large bodies that are judged or wait for their turn."
)
HEAVY_REFUSED: Final = counter(
    "taoloop_observation_heavy_refused_total", "{result}", (), "Large bodies refused since too many waited."
)

ANSWERS_CHECKED: Final = counter(
    "taoloop_answers_checked_total",
    "{answer}",
    ("grounded", "origin"),
    "Answers that were compared with their evidence, by verdict and by who gave it.",
)
ANSWER_CLAIMS: Final = counter(
    "taoloop_answer_claims_total", "{claim}", ("kind", "reason"), "Values in answers, by why they are supported or not."
)
ANSWER_REFUSED: Final = counter(
    "taoloop_answer_refused_total", "{answer}", ("limit",), "Answers that were not checked, by the limit that bit."
)
ANSWER_CHECK_DURATION: Final = seconds(
    "taoloop_answer_check_duration_seconds", (), "Time of one check of an answer, its validator included.", CALL_SECONDS
)
VALIDATION_ATTEMPTS: Final = counter(
    "taoloop_validation_attempts_total",
    "{attempt}",
    ("outcome",),
    "Attempts to get a verdict of the semantic validator: verdict, or the error's code.",
)
BUDGET_REFUSED: Final = counter(
    "taoloop_budget_refused_total",
    "{call}",
    ("then",),
    "Calls of models that a tenant's budget did not hold, by what became of the thought: graph, refuse.",
)
BUDGET_UNCHECKED: Final = counter(
    "taoloop_budget_unchecked_total",
    "{call}",
    (),
    "Reservations and settlements that the store of budgets left unanswered.",
)
BUDGET_TOKEN_SECONDS: Final = counter(
    "taoloop_budget_token_seconds_total", "{token}.s", ("state",), "Token-seconds of all tenants: reserved, used."
)
BUDGET_ESTIMATE_ERROR: Final = MetricSpec(
    "taoloop_budget_estimate_error_tokens",
    MetricKind.HISTOGRAM,
    "{token}",
    ("part",),
    "By how many tokens an estimate missed what the server counted: prompt, output.",
    (0, 1, 2, 4, 8, 15, 30, 60, 120, 250, 500, 1000),
)
MODEL_CALLS: Final = counter(
    "taoloop_model_calls_total",
    "{call}",
    ("purpose", "outcome"),
    "Calls of language models: replied, or the kind of failure.",
)
MODEL_TOKENS: Final = counter(
    "taoloop_model_tokens_total",
    "{token}",
    ("purpose", "direction"),
    "Tokens of language models: input, those of it that were cached_input, and output.",
)
MODEL_COST: Final = counter(
    "taoloop_model_cost_total", "{currency}", ("purpose", "currency"), "What those tokens cost, by the profile's price."
)
MODEL_DURATION: Final = seconds(
    "taoloop_model_call_duration_seconds",
    ("purpose", "outcome"),
    "Time of a call of a language model.",
    OPERATION_SECONDS,
)
MODEL_FIRST_TOKEN: Final = seconds(
    "taoloop_model_first_token_seconds",
    ("purpose",),
    "Time from a request to the first token of a streamed reply.",
    OPERATION_SECONDS,
)
MODEL_IN_FLIGHT: Final = gauge(
    "taoloop_model_in_flight", "{call}", ("purpose",), "Calls of language models that are under way or wait for a slot."
)
MODEL_READY: Final = gauge(
    "taoloop_model_ready", "1", ("purpose",), "Whether the model's server passed its last probe: 1, or 0."
)
MODEL_DEGRADED: Final = gauge(
    "taoloop_model_degraded",
    "1",
    ("purpose", "capability"),
    "Whether the server lacks what its profile promises, by capability: 1, or 0.",
)
MODEL_PROBES: Final = counter(
    "taoloop_model_probes_total",
    "{probe}",
    ("purpose", "outcome"),
    "Probes of a model's server: ready, degraded, mismatch, or the kind of failure.",
)

RPC_REQUESTS: Final = counter(
    "taoloop_rpc_server_requests_total", "{request}", ("method", "code"), "RPCs that ended, by gRPC status."
)
RPC_DURATION: Final = seconds(
    "taoloop_rpc_server_duration_seconds",
    ("method",),
    "Time from the request to the last byte of the reply.",
    CALL_SECONDS,
)
RPC_REFUSED: Final = counter(
    "taoloop_rpc_server_refused_total",
    "{request}",
    ("method",),
    "RPCs refused because as many as max_concurrent_rpcs were in progress.",
)
MESSAGE_TOO_LARGE: Final = counter(
    "taoloop_message_too_large_total",
    "{message}",
    ("direction",),
    "Messages above max_message_bytes: sent or received.",
)
CLIENT_REPEATS: Final = counter(
    "taoloop_client_repeats_total",
    "{call}",
    ("rpc", "reason"),
    "Calls that the client library made again, and why the one before failed.",
)
REDIS_RECONNECTS: Final = counter(
    "taoloop_redis_reconnects_total", "{connection}", (), "Connections to Redis made again."
)

METRICS: Final[tuple[MetricSpec, ...]] = tuple(
    spec for spec in list(globals().values()) if isinstance(spec, MetricSpec)
)
"""Every metric, in the order of definition."""
