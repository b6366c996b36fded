"""How long a prompt is: counted by the model's own tokenizer, or reckoned and put right by what servers counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from taoloop.core.deadlines import Deadline
from taoloop.models.ports import ChatMessage
from taoloop.thought.budgets.estimating import Mean
from taoloop.thought.budgets.ports import PromptCounter


class PromptLengths:
    """Tells the length of prompts, in tokens of the model that is asked.

    Args:
        counters: By the name of a model, those whose server counts.
    """

    def __init__(self, counters: Mapping[str, PromptCounter] | None = None) -> None:
        self._counters = dict(counters or {})
        self._ratios: dict[str, Mean] = {}

    def __repr__(self) -> str:
        return f"<PromptLengths counted for {sorted(self._counters)}>"

    async def tokens(self, model: str, messages: Sequence[ChatMessage], estimate: int, deadline: Deadline) -> int:
        """Return the tokens of a prompt.

        Args:
            model: Who is asked.
            messages: The prompt.
            estimate: A reckoning by characters, at least 1; it is put right by what the server counted of late.
            deadline: Of the thought.
        """
        counter = self._counters.get(model)
        counted = None if counter is None else await counter.count(messages, deadline)
        return max(1, round(estimate * self._ratio(model).value)) if counted is None else counted

    def learn(self, model: str, estimate: int, tokens: int) -> None:
        """Take what the server counted of a prompt that was reckoned to have `estimate` tokens, at least 1."""
        if tokens:
            self._ratio(model).learn(tokens / max(1, estimate))

    def _ratio(self, model: str) -> Mean:
        return self._ratios.setdefault(model, Mean(1.0))
