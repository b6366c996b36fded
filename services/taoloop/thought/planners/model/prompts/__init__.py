"""Prompts as versioned files with hashes, and how the messages for one thought are made of them."""

from taoloop.thought.planners.model.prompts.building import (
    Prompt,
    build_prompt,
    repair_message,
    system_text,
)
from taoloop.thought.planners.model.prompts.prompt_set import (
    LATEST_VERSION,
    PromptSet,
    load_prompts,
    load_prompts_from,
    prompt_versions,
)

__all__ = [
    "LATEST_VERSION",
    "Prompt",
    "PromptSet",
    "build_prompt",
    "load_prompts",
    "load_prompts_from",
    "prompt_versions",
    "repair_message",
    "system_text",
]
