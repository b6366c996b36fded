"""What a server can do, as data: OpenAI-compatible says how to ask, never what is understood."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class StructuredOutput(StrEnum):
    """How a server is told the form of a reply."""

    JSON_SCHEMA = "json_schema"
    """`response_format` with the schema, kept by a grammar: vLLM, llama.cpp, SGLang, OpenAI."""
    JSON_MODE = "json_mode"
    """`response_format` `json_object`: JSON of any form; the schema is told in words."""
    NONE = "none"
    """No such parameter; the schema is told in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """What is known of one model on one server.

    Attributes:
        structured_output: How it is told the form of a reply.
        context_tokens: Prompt and reply together, in its tokens.
    """

    structured_output: StructuredOutput = StructuredOutput.JSON_SCHEMA
    context_tokens: int = 8192
