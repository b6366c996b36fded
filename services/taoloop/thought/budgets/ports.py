"""What budgets need of the world: a store that all workers share, an estimator of replies, and a counter of prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from taoloop.core.deadlines import Deadline
from taoloop.models.ports import ChatMessage
from taoloop.thought.budgets.model import Reservation, Spent, TokenFeatures


class TenantBudget(Protocol):
    """A bucket of token-seconds for each tenant, which fills at a steady rate."""

    async def reserve(self, tenant: str, token_seconds: float, deadline: Deadline) -> Reservation | Spent:
        """Take so much out of the tenant's bucket, or say how long it lasts until it holds so much.

        More than the whole bucket is taken as the whole bucket: such a call waits for a full one.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def settle(self, reservation: Reservation, token_seconds: float, deadline: Deadline) -> None:
        """Give back what a call did not take, or take what it took besides; the second time changes nothing.

        Raises:
            BackendUnavailable: The store does not answer in time; the reservation is spent as it is.
        """
        ...


class TokenEstimator(Protocol):
    """Estimates how many tokens a reply has; safe for concurrent use."""

    def estimate(self, features: TokenFeatures) -> int:
        """Return the tokens of the reply, 1 to `features.max_tokens`."""
        ...

    def learn(self, features: TokenFeatures, tokens: int) -> None:
        """Take what a reply really had."""
        ...


class PromptCounter(Protocol):
    """Counts the tokens of a prompt by the model's own tokenizer."""

    async def count(self, messages: Sequence[ChatMessage], deadline: Deadline) -> int | None:
        """Return the tokens of the prompt, its template included; None where the server does not count."""
        ...
