"""What the soft check asks: one label for a text, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

MIN_CERTAINTY: Final = 0.95
"""A label that is less sure than this is not used: the result of the other checks stands as it is."""


class SoftLabel(StrEnum):
    """What a text says of a call; one of these and nothing else."""

    NETWORK_ISSUE = "network_issue"
    """The way to something behind the tool is broken or too slow: it may heal by itself."""
    AUTH_FAILED = "auth_failed"
    """Somebody was not let in: a person corrects credentials or permissions."""
    DATA_CORRUPTED = "data_corrupted"
    """What was read or sent is damaged or cannot be read."""
    RATE_LIMITED = "rate_limited"
    """Too much was asked: it may be asked again later."""
    NONE = "none"
    """Nothing of the kind."""


@dataclass(frozen=True, slots=True)
class Classification:
    """What a classifier says of one text.

    Attributes:
        label: The one label.
        certainty: How sure it is, 0 to 1.
    """

    label: SoftLabel
    certainty: float


class Classifier(Protocol):
    """Labels the texts by which tools tell of failures."""

    def classify(self, text: str) -> Classification:
        """Return the label of a text of any length; the same text always has the same one, and no text raises."""
        ...
