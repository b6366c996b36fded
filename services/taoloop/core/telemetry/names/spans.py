"""Names of spans and keys of their attributes."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

SCHEMA_URL: Final = "https://opentelemetry.io/schemas/gen-ai/1.42.0"
"""The semantic conventions for generative AI that the names below follow."""

AGENT_NAME: Final = "taoloop"


class Operation(StrEnum):
    """Values of `gen_ai.operation.name` that taoloop records."""

    INVOKE_AGENT = "invoke_agent"
    PLAN = "plan"
    EXECUTE_TOOL = "execute_tool"
    CHAT = "chat"


class Attribute(StrEnum):
    """Keys of span attributes; those of our own start with `taoloop.`."""

    OPERATION_NAME = "gen_ai.operation.name"
    AGENT_NAME = "gen_ai.agent.name"
    AGENT_VERSION = "gen_ai.agent.version"
    CONVERSATION_ID = "gen_ai.conversation.id"
    PROVIDER_NAME = "gen_ai.provider.name"
    REQUEST_MODEL = "gen_ai.request.model"
    REQUEST_TEMPERATURE = "gen_ai.request.temperature"
    REQUEST_TOP_P = "gen_ai.request.top_p"
    REQUEST_SEED = "gen_ai.request.seed"
    REQUEST_STREAM = "gen_ai.request.stream"
    REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
    RESPONSE_ID = "gen_ai.response.id"
    RESPONSE_MODEL = "gen_ai.response.model"
    RESPONSE_FINISH_REASONS = "gen_ai.response.finish_reasons"
    INPUT_TOKENS = "gen_ai.usage.input_tokens"
    CACHED_INPUT_TOKENS = "gen_ai.usage.cache_read.input_tokens"
    OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
    REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
    TOOL_NAME = "gen_ai.tool.name"
    TOOL_TYPE = "gen_ai.tool.type"
    TOOL_CALL_ID = "gen_ai.tool.call.id"

    ERROR_TYPE = "error.type"

    HTTP_METHOD = "http.request.method"
    HTTP_STATUS_CODE = "http.response.status_code"
    HTTP_RESEND_COUNT = "http.request.resend_count"
    HTTP_RESPONSE_BODY_BYTES = "http.response.body.size"
    SERVER_ADDRESS = "server.address"
    SERVER_PORT = "server.port"
    URL_TEMPLATE = "url.template"
    URL_SCHEME = "url.scheme"

    CODE_FUNCTION = "code.function.name"
    DB_SYSTEM = "db.system.name"
    DB_STATUS_CODE = "db.response.status_code"
    DB_RETURNED_ROWS = "db.response.returned_rows"

    RPC_SYSTEM = "rpc.system.name"
    RPC_METHOD = "rpc.method"
    RPC_STATUS_CODE = "rpc.response.status_code"

    MCP_METHOD = "mcp.method.name"
    MCP_PROTOCOL_VERSION = "mcp.protocol.version"

    MESSAGING_SYSTEM = "messaging.system"
    MESSAGING_DESTINATION = "messaging.destination.name"
    MESSAGING_MESSAGE_ID = "messaging.message.id"
    MESSAGING_OPERATION = "messaging.operation.name"

    RUN_ID = "taoloop.run.id"
    RUN_OUTCOME = "taoloop.run.outcome"
    RUN_ITERATION = "taoloop.run.iteration"
    THOUGHT_ID = "taoloop.thought.id"
    THOUGHT_OUTCOME = "taoloop.thought.outcome"
    THOUGHT_PLANNER = "taoloop.thought.planner"
    THOUGHT_STAGE = "taoloop.thought.stage"
    THOUGHT_STAGE_OUTCOME = "taoloop.thought.stage.outcome"
    THOUGHT_ROUTE_REASON = "taoloop.thought.route.reason"
    THOUGHT_RUNG = "taoloop.thought.rung"
    THOUGHT_ATTEMPT = "taoloop.thought.attempt"
    THOUGHT_TOOLS_OFFERED = "taoloop.thought.tools_offered"
    STEP_ID = "taoloop.step.id"
    STEP_INDEX = "taoloop.step.index"
    STEP_TYPE = "taoloop.step.type"
    PLAN_STEPS = "taoloop.plan.steps"
    REASONING_KNOWN = "taoloop.reasoning.known"
    REASONING_GAP = "taoloop.reasoning.gap"
    REASONING_TOOL = "taoloop.reasoning.tool"
    REASONING_WHY = "taoloop.reasoning.why"
    REASONING_EXPECTED = "taoloop.reasoning.expected"
    ACTION_STATUS = "taoloop.action.status"
    ACTION_EFFECT = "taoloop.action.effect"
    OBSERVATION_VALID = "taoloop.observation.valid"
    OBSERVATION_CONFIDENCE = "taoloop.observation.confidence"
    ANSWER_GROUNDED = "taoloop.answer.grounded"
    ANSWER_CLAIMS = "taoloop.answer.claims"
    ANSWER_UNSUPPORTED = "taoloop.answer.unsupported_claims"
    VALIDATION_ORIGIN = "taoloop.validation.origin"
    VALIDATION_ATTEMPTS = "taoloop.validation.attempts"
    VALIDATION_ERROR_CODE = "taoloop.validation.error_code"
    FAULT_CODE = "taoloop.fault.code"
    FAULT_STAGE = "taoloop.fault.stage"
    CATALOGUE_DIGEST = "taoloop.catalogue.digest"
    PROMPT_SHA256 = "taoloop.prompt.sha256"
    PROMPT_VERSION = "taoloop.prompt.version"
    PROMPT_DIGEST = "taoloop.prompt.digest"
    PROMPT_STABLE_SHARE = "taoloop.prompt.stable_share"
    REPLY_REPAIRS = "taoloop.reply.repairs"
    MODEL_STRUCTURED_OUTPUT = "taoloop.model.structured_output"


RUN_SPAN: Final = f"{Operation.INVOKE_AGENT} {AGENT_NAME}"
"""The span of one run."""

_HTTP_METHODS = frozenset({"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"})


def plan_span(planner: str) -> str:
    """Return the name of the span in which a planner, such as `graph`, makes one plan."""
    return f"{Operation.PLAN} {planner}"


def stage_span(stage: str) -> str:
    """Return the name of the span of one stage of a thought, such as `thought select`."""
    return f"thought {stage}"


def tool_span(tool: str) -> str:
    """Return the name of the span of one execution; `tool` must be a name of the catalogue."""
    return f"{Operation.EXECUTE_TOOL} {tool}"


def observe_span(tool: str) -> str:
    """Return the name of the span in which one result is checked; `tool` must be a name of the catalogue."""
    return f"observe {tool}"


def chat_span(model: str) -> str:
    """Return the name of the span of one call of a language model; `model` is the settings' name for it."""
    return f"{Operation.CHAT} {model}"


def answer_span() -> str:
    """Return the name of the span in which an answer is compared with its evidence."""
    return "check answer"


def queue_span() -> str:
    """Return the name of the span in which a worker processes one entry of the thought queue."""
    return "process thought"


def http_span(method: str, path_template: str) -> str:
    """Return the name of the span of one HTTP request.

    Args:
        method: An HTTP method; unknown ones become `HTTP`, so that the set of names stays fixed.
        path_template: The path as the contract writes it, never with values in it, such as `/orders/{id}`.
    """
    known = method.upper() if method.upper() in _HTTP_METHODS else "HTTP"
    return f"{known} {path_template}".rstrip()


def function_span(entry_point: str) -> str:
    """Return the name of the span of one call of a Python function; `entry_point` is the contract's."""
    return f"call {entry_point}"


def statement_span(system: str, tool: str) -> str:
    """Return the name of the span of one statement; `system` is the kind of database, `tool` names the statement."""
    return f"{system} {tool}"


def mcp_span(method: str, tool: str) -> str:
    """Return the name of the span of one MCP request; `tool` is the server's name for it, from the contract."""
    return f"{method} {tool}"
