"""What a probe finds out about a model's server."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from taoloop.models.profiles.model import ModelProfile


class Capability(StrEnum):
    """What is compared with the profile; the label of the counters."""

    CREDENTIALS = "credentials"
    """The server takes the key."""
    MODEL = "model"
    """The server has the model of the settings."""
    CONTEXT = "context"
    """Prompt and reply may be as long as the profile says."""
    STRUCTURED_OUTPUT = "structured_output"
    """Replies are kept to a form in the profile's way."""
    COMPACT = "compact"
    """Replies that are kept to a form end by themselves, rather than in blanks without end."""
    FACTS = "facts"
    """Facts that the prompt states come back unchanged."""
    SEED = "seed"
    """The same seed gives the same reply."""
    LOGPROBS = "logprobs"
    """Likelihoods come with the tokens."""
    USAGE = "usage"
    """Tokens are counted."""
    SPEED = "speed"
    """Replies come at least half as fast as the profile says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """One thing in which a server differs from its profile.

    Attributes:
        capability: Which.
        expected: What the settings and the profile say.
        found: What the server did; never its words.
        remedy: What an operator does about it.
        is_fatal: Whether the model cannot be used so.
    """

    capability: Capability
    expected: str
    found: str
    remedy: str
    is_fatal: bool = False

    def __str__(self) -> str:
        return f"{self.capability}: expected {self.expected}, found {self.found}. {self.remedy}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """The outcome of a probe that got its answers.

    Attributes:
        profile: What the server can do, without what it turned out to lack.
        mismatches: In which it differs from the profile of the settings, in the order of `Capability`.
        tokens_per_second: How fast one reply came; None where that cannot be seen.
    """

    profile: ModelProfile
    mismatches: tuple[Mismatch, ...] = ()
    tokens_per_second: float | None = None

    @property
    def is_usable(self) -> bool:
        """Whether no mismatch is fatal."""
        return not any(one.is_fatal for one in self.mismatches)
