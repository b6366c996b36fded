"""What the service needs of a semantic validator."""

from __future__ import annotations

from typing import Protocol

from taoloop.core.deadlines import Deadline
from taoloop.observation.semantic.model import Candidate, ValidationRun


class SemanticValidator(Protocol):
    """Says whether the evidence carries an answer; safe for concurrent use."""

    async def validate(self, candidate: Candidate, deadline: Deadline) -> ValidationRun:
        """Return the verdict, or why there is none; a failure is data and never raised."""
        ...
