"""Costs, and what they are estimated from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import ABSENT, Json
from taoloop.models.ports import ChatRequest
from taoloop.plan.thinking import ThinkRequest

_MAX_DEPTH: Final = 64
"""Deeper results are no JSON of ours (decision 6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFeatures:
    """What is known of a reply before it is written.

    Attributes:
        prompt_tokens: Length of the prompt.
        history_turns: Turns of the conversation.
        result_depth: Depth of the deepest result of a tool in the prompt, 0 to 64.
        longest_string: Characters of the longest string in such a result.
        has_retrieval: Whether text from other people's sources is in the prompt.
        temperature: Of the sampling.
        tools: Tools that are offered.
        attempt: How often the question has been asked, this time included.
        max_tokens: Longest reply that is asked for.
    """

    prompt_tokens: int
    history_turns: int = 0
    result_depth: int = 0
    longest_string: int = 0
    has_retrieval: bool = False
    temperature: float = 0.0
    tools: int = 0
    attempt: int = 1
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a call of a model is reckoned to take.

    Attributes:
        tokens: Of prompt and reply together.
        seconds: From the request to the end of the reply.
    """

    tokens: int
    seconds: float

    @property
    def token_seconds(self) -> float:
        """Tokens times seconds: what the call keeps of the server's memory, and for how long."""
        return self.tokens * self.seconds


@dataclass(frozen=True, slots=True)
class Reservation:
    """Token-seconds that a tenant has set aside for one call.

    Attributes:
        reservation_id: Names it, so that it is settled once.
        tenant: Whose.
        token_seconds: How much.
    """

    reservation_id: str
    tenant: str
    token_seconds: float


@dataclass(frozen=True, slots=True)
class Spent:
    """A budget that does not hold what is asked of it.

    Attributes:
        wait_seconds: When it will, if nothing else is taken meanwhile.
    """

    wait_seconds: float


def features_of(request: ThinkRequest, asked: ChatRequest, prompt_tokens: int, tools: int) -> TokenFeatures:
    """Return what is known of the reply to a question about a request."""
    results = [step.exposed for step in request.completed if step.exposed is not ABSENT]
    shapes = [_shape(result) for result in results]
    return TokenFeatures(
        prompt_tokens=prompt_tokens,
        history_turns=len(request.turns),
        result_depth=max((depth for depth, _ in shapes), default=0),
        longest_string=max((longest for _, longest in shapes), default=0),
        has_retrieval=request.tainted_context,
        temperature=asked.temperature,
        tools=tools,
        attempt=asked.attempt,
        max_tokens=asked.max_tokens,
    )


def _shape(value: Json) -> tuple[int, int]:
    """Return the depth of a value, and the characters of its longest string; names of members are none."""
    depth, longest, level = 0, 0, [value]
    while level and depth < _MAX_DEPTH:
        longest = max(longest, *(len(item) for item in level if isinstance(item, str)), 0)
        nested = [child for item in level for child in _children(item)]
        depth += bool(nested) or any(isinstance(item, Mapping | list) for item in level)
        level = nested
    return depth, longest


def _children(value: Json) -> Sequence[Json]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else ()
