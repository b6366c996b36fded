"""The check of an answer as the service runs it: values first, the semantic validator only where they pass."""

from __future__ import annotations

from typing import Final

from taoloop.core.deadlines import Deadline
from taoloop.observation.grounding.checking import check_answer
from taoloop.observation.grounding.model import GroundingLimits
from taoloop.observation.heavy_work import HeavyWork
from taoloop.observation.semantic.deciding import decided
from taoloop.observation.semantic.model import Candidate
from taoloop.observation.semantic.ports import SemanticValidator
from taoloop.plan.answering import CheckAnswerRequest, CheckAnswerResponse

LARGE_ANSWER_CHARACTERS: Final = 2048
"""Text and evidence together, as JSON; more is heavy work: about 5 ms, in which no other call would be answered."""

REPLY_MARGIN_SECONDS: Final = 0.25
"""What is kept of the caller's time to send the verdict of the comparison when the validator takes too long."""


class AnswerChecker:
    """Checks answers.

    Args:
        limits: What one comparison may cost.
        heavy: Compares what is large beside the event loop.
        validator: Asked about answers whose values are all supported; None for the comparison alone.
    """

    def __init__(self, limits: GroundingLimits, heavy: HeavyWork, validator: SemanticValidator | None = None) -> None:
        self.limits = limits
        self._heavy = heavy
        self._validator = validator

    async def check(
        self, request: CheckAnswerRequest, deadline: Deadline, *, is_large: bool = False
    ) -> CheckAnswerResponse:
        """Return the verdict on an answer.

        An unsupported value settles it: the validator could say nothing that would change that, so it is not asked.

        Args:
            request: The answer and its evidence.
            deadline: The caller's; it bounds the validator.
            is_large: Whether it must not be compared on the event loop.

        Raises:
            QueueFull: QUEUE_FULL, too many large inputs wait already.
        """
        if is_large:
            compared = await self._heavy.run(lambda: check_answer(request, self.limits))
        else:
            compared = check_answer(request, self.limits)
        if self._validator is None or not compared.grounded:
            return compared
        candidate = Candidate(text=request.text, evidence=request.evidence, locale=request.locale)
        in_time = Deadline.at(deadline.monotonic_seconds - REPLY_MARGIN_SECONDS, deadline.clock)
        return decided(compared, await self._validator.validate(candidate, in_time))

    def __repr__(self) -> str:
        return f"AnswerChecker(validator={self._validator!r})"
