"""What a model took for its predictions: tokens in and out, the cached share, and the replies of no use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from taoloop.core.exact_json import JsonValue
from taoloop.evaluation.planning.models.asking import Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How a number of tokens is spread over replies.

    Attributes:
        total: The sum.
        median: Half of the replies have at most so many.
        p90: Nine in ten have at most so many.
        largest: The most.
    """

    total: int = 0
    median: int = 0
    p90: int = 0
    largest: int = 0

    @classmethod
    def of(cls, values: Sequence[int]) -> Spread:
        """Return the spread of some numbers."""
        if not values:
            return cls()
        ordered = sorted(values)
        median, p90 = (ordered[(len(ordered) - 1) * percent // 100] for percent in (50, 90))
        return cls(total=sum(ordered), median=median, p90=p90, largest=ordered[-1])

    def as_json(self) -> JsonValue:
        """Return all four."""
        return {"total": self.total, "median": self.median, "p90": self.p90, "largest": self.largest}


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumption:
    """What a run over cases took; calls without a reply count in `failures` alone.

    Attributes:
        input_tokens: Of the prompts.
        output_tokens: Of the replies.
        cached_tokens: Of the prompts', those that the server had read before, summed up.
        failures: Replies of no use by their reason.
    """

    input_tokens: Spread
    output_tokens: Spread
    cached_tokens: int
    failures: Counter[str]

    @property
    def cached_share(self) -> float:
        """Return the share of the prompts' tokens that was cached, 0 to 1."""
        return self.cached_tokens / self.input_tokens.total if self.input_tokens.total else 0.0

    def as_json(self) -> dict[str, JsonValue]:
        """Return everything as one JSON object."""
        return {
            "input_tokens": self.input_tokens.as_json(),
            "output_tokens": self.output_tokens.as_json(),
            "cached_share": round(self.cached_share, 3),
            "unusable": dict(self.failures.most_common()),
        }


def consumption(answers: Sequence[Asked]) -> Consumption:
    """Sum up what answers took."""
    replied = [asked.usage for asked in answers if asked.usage.output_tokens]
    return Consumption(
        input_tokens=Spread.of([usage.input_tokens for usage in replied]),
        output_tokens=Spread.of([usage.output_tokens for usage in replied]),
        cached_tokens=sum(usage.cached_tokens for usage in replied),
        failures=Counter(asked.failure for asked in answers if asked.failure),
    )
