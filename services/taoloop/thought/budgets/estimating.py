"""Estimates that follow what really happened: the length of replies, and how long they take."""

from __future__ import annotations

from typing import Final

from taoloop.thought.budgets.model import TokenFeatures

_WEIGHT: Final = 0.1
"""The weight of what happened last; about the last twenty replies count."""
_FIRST_TOKENS: Final = 60
"""What a reply is taken to have before there was one: a plan in its compact form (architecture §6)."""
_FIRST_SECONDS: Final = 0.3
_SECONDS_PER_TOKEN: Final = 0.01


class Mean:
    """An exponentially weighted mean that begins as the plain one, so that its start does not linger.

    Args:
        value: What is assumed before anything happened.
    """

    def __init__(self, value: float) -> None:
        self.value = value
        self._count = 0

    def __repr__(self) -> str:
        return f"<Mean {self.value:.3g} of {self._count}>"

    def learn(self, value: float) -> None:
        """Take one more value."""
        self._count += 1
        self.value += (value - self.value) * max(_WEIGHT, 1 / self._count)


class RunningMean:
    """A `TokenEstimator`: the mean of the replies of late, apart for first questions and for repairs.

    Under a grammar the length of a reply hangs on the plan's steps more than on the prompt, and the mean of the last
    twenty follows a change of model or prompt by itself.
    """

    def __init__(self) -> None:
        self._first = Mean(_FIRST_TOKENS)
        self._repaired = Mean(_FIRST_TOKENS)

    def __repr__(self) -> str:
        return f"<RunningMean first {self._first!r} repaired {self._repaired!r}>"

    def estimate(self, features: TokenFeatures) -> int:
        """See `TokenEstimator.estimate`."""
        return max(1, min(features.max_tokens, round(self._mean(features).value)))

    def learn(self, features: TokenFeatures, tokens: int) -> None:
        """See `TokenEstimator.learn`."""
        self._mean(features).learn(tokens)

    def _mean(self, features: TokenFeatures) -> Mean:
        return self._first if features.attempt == 1 else self._repaired


class Pace:
    """How long replies take: the time to the first token, and the time of each one after it.

    Args:
        first_token_seconds: What is assumed at first, from the model's profile where it says so.
        seconds_per_token: The same, of each token of a reply.
    """

    def __init__(
        self, first_token_seconds: float = _FIRST_SECONDS, seconds_per_token: float = _SECONDS_PER_TOKEN
    ) -> None:
        self._first = Mean(first_token_seconds)
        self._each = Mean(seconds_per_token)

    def __repr__(self) -> str:
        return f"<Pace first token {self._first.value:.3f} s, then {self._each.value:.4f} s each>"

    def seconds(self, tokens: int) -> float:
        """Return how long a reply of so many tokens takes."""
        return self._first.value + self._each.value * tokens

    def learn(self, tokens: int, seconds: float, first_token_seconds: float | None) -> None:
        """Take what a reply took. One that came whole tells only its whole time, which counts as for its tokens."""
        if first_token_seconds is None:
            first_token_seconds = min(self._first.value, seconds)
        else:
            self._first.learn(first_token_seconds)
        if tokens > 1:
            self._each.learn(max(0.0, seconds - first_token_seconds) / (tokens - 1))
