"""Names, labels and buckets of the metrics of memory."""

from __future__ import annotations

from typing import Final

from taoloop.core.telemetry.names.metric_spec import MetricKind, MetricSpec, counter

MEMORY_READS: Final = counter(
    "taoloop_memory_reads_total",
    "{read}",
    ("tier", "outcome"),
    "Reads of memory, by tier, hot or warm: hit, miss, error, or skipped while the store is left alone.",
)
MEMORY_WRITES: Final = counter(
    "taoloop_memory_writes_total",
    "{write}",
    ("tier", "outcome"),
    "Writes of memory, by tier: written, conflict with another run of the session, error, or skipped.",
)
MEMORY_TOLD: Final = MetricSpec(
    "taoloop_memory_told_tokens",
    MetricKind.HISTOGRAM,
    "{token}",
    (),
    "Tokens of memory that one thought was told.",
    (0, 25, 50, 100, 150, 200, 250, 300),
)
MEMORY_LEFT_OUT: Final = counter(
    "taoloop_memory_left_out_total",
    "{item}",
    ("reason",),
    "What was known and not told or not kept, by why: score, items, tokens, candidates, state_size, line, tainted.",
)
MEMORY_SUMMARIES: Final = counter(
    "taoloop_memory_summaries_total",
    "{summary}",
    ("by",),
    "Summaries of sessions, by who made them: extract, model, or model_failed, too_many and outdated, where the "
    "extract stays.",
)
MEMORY_EXPIRED: Final = counter(
    "taoloop_memory_expired_total", "{row}", (), "Rows of warm memory that were deleted because they had expired."
)
