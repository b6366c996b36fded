"""Every kind of input that can be fed into the product, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from taoloop.evaluation.cases.adapters import (
    egress,
    http_answers,
    http_clients,
    http_servers,
    normalising,
    paths,
    policies,
    prompts,
    queues,
    rules,
    schemas,
    texts,
    workers,
)
from taoloop.evaluation.cases.adapters.plans import calls, checks, references, runs
from taoloop.evaluation.cases.adapters.telemetry import cardinality, showing
from taoloop.evaluation.cases.adapters.wire import calls as grpc_calls
from taoloop.evaluation.cases.adapters.wire import deadlines
from taoloop.evaluation.cases.model import Adapter

ADAPTERS: Final[Mapping[str, Adapter]] = {
    "llm_output": texts.LLM_OUTPUT,
    "chat_response": texts.CHAT_RESPONSE,
    "tool_args": texts.TOOL_ARGS,
    "jsonl_roundtrip": texts.JSONL_ROUNDTRIP,
    "plan": checks.PLAN,
    "plan_run": runs.PLAN_RUN,
    "reference": references.REFERENCE,
    "tool_calls": calls.TOOL_CALLS,
    "tool_results": calls.TOOL_RESULTS,
    "call_sequence": calls.CALL_SEQUENCE,
    "schema_instance": schemas.SCHEMA_INSTANCE,
    "register_schema": schemas.REGISTER_SCHEMA,
    "jsonlogic": rules.JSONLOGIC,
    "retry_after": paths.RETRY_AFTER,
    "path_param": paths.PATH_PARAM,
    "http_server": http_servers.HTTP_SERVER,
    "idempotency": http_clients.IDEMPOTENCY,
    "transport": http_clients.TRANSPORT,
    "pool": http_clients.POOL,
    "breaker_trace": policies.BREAKER_TRACE,
    "backoff": policies.BACKOFF,
    "url_guard": egress.URL_GUARD,
    "redirect": egress.REDIRECT,
    "wrap_untrusted": prompts.WRAP_UNTRUSTED,
    "http_response": http_answers.HTTP_RESPONSE,
    "normalise": normalising.NORMALISE,
    "roundtrip": normalising.ROUNDTRIP,
    "delivery": workers.DELIVERY,
    "xautoclaim_reply": queues.XAUTOCLAIM_REPLY,
    "redis_scenario": queues.REDIS_SCENARIO,
    "grpc_size": grpc_calls.GRPC_SIZE,
    "grpc_metadata": grpc_calls.GRPC_METADATA,
    "grpc_status_message": grpc_calls.GRPC_STATUS_MESSAGE,
    "grpc_deadline": deadlines.GRPC_DEADLINE,
    "redact": showing.REDACT,
    "redact_headers": showing.REDACT_HEADERS,
    "span_name": showing.SPAN_NAME,
    "cardinality": cardinality.CARDINALITY,
}
"""Kind to adapter; a kind that is not here is unsupported."""
