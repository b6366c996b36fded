"""Names, labels and buckets of the metrics of runs and of the people that they wait for."""

from __future__ import annotations

from typing import Final

from taoloop.core.telemetry.names.metric_spec import OPERATION_SECONDS, counter, gauge, seconds

RUNS: Final = counter("taoloop_runs_total", "{run}", ("outcome",), "Runs that ended, by outcome.")
RUN_DURATION: Final = seconds(
    "taoloop_run_duration_seconds", ("outcome",), "Wall time of a run, waiting for people left out.", OPERATION_SECONDS
)
OPEN_RUNS: Final = gauge("taoloop_open_runs", "{run}", (), "Runs that this process is driving now.")
RUNS_TAKEN_OVER: Final = counter(
    "taoloop_runs_taken_over_total", "{run}", (), "Runs that this process went on with after their host fell silent."
)
RUNS_ORPHANED: Final = gauge(
    "taoloop_runs_orphaned", "{run}", (), "Open runs whose lease has lapsed and that no host has taken over yet."
)
RUN_LEASES_LOST: Final = counter(
    "taoloop_run_leases_lost_total",
    "{run}",
    (),
    "Runs that this process gave up, since another host went on with them.",
)
REPEATED_CALLS: Final = counter(
    "taoloop_repeated_calls_total",
    "{call}",
    ("tool", "outcome"),
    "Calls that a run had made before: shared within a plan, served from an earlier result, or refused.",
)
LIMIT_REACHED: Final = counter(
    "taoloop_limit_reached_total", "{run}", ("limit",), "Runs that reached one of their limits."
)
RUNS_OVER_TENANT_LIMIT: Final = counter(
    "taoloop_tenant_runs_refused_total", "{run}", (), "Runs refused because their tenant had as many open as it may."
)
APPROVALS_WARNED: Final = counter(
    "taoloop_approvals_expiring_total", "{approval}", (), "Approvals of which it was told that they lapse soon."
)
APPROVALS_LAPSED: Final = counter(
    "taoloop_approvals_lapsed_total",
    "{approval}",
    ("reaction",),
    "Approvals that nobody decided in time, by what their run did then: fail, hand_over or ask_again.",
)
HANDOVERS: Final = counter(
    "taoloop_handovers_total",
    "{handover}",
    ("event",),
    "Handovers to a person: opened, and how they were decided: answered, resumed or closed.",
)
CORRECTIONS: Final = counter(
    "taoloop_corrections_total",
    "{correction}",
    ("fault_class", "reaction"),
    "Failures of steps and thoughts that a run reacted to, by kind of failure and reaction.",
)
CORRECTIONS_SKIPPED: Final = counter(
    "taoloop_corrections_skipped_total",
    "{correction}",
    ("reaction", "reason"),
    "Reactions that were not taken, by why: insufficient_deadline, max_iterations, switched_off.",
)
ANSWERS: Final = counter("taoloop_answers_total", "{answer}", ("origin",), "Answers of runs, by who worded them.")
ANSWERS_REPLACED: Final = counter(
    "taoloop_answers_replaced_total",
    "{answer}",
    ("reason",),
    "Texts of models that were not used, by why: ungrounded, unchecked, other_language, or what came of the model.",
)
