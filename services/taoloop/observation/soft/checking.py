"""The soft check of one result: its texts, by a classifier, and only where that is sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import FaultCode
from taoloop.observation.soft.ports import Classifier, SoftLabel
from taoloop.observation.soft.texts import FoundText
from taoloop.observation.stages.model import Flaw, Stage, excerpt, flaw

_SAYS: Final = {
    SoftLabel.NETWORK_ISSUE: "A text of the tool tells of a broken or slow connection behind it",
    SoftLabel.AUTH_FAILED: "A text of the tool tells that it, or what it calls, was not let in",
    SoftLabel.DATA_CORRUPTED: "A text of the tool tells of damaged or unreadable data",
    SoftLabel.RATE_LIMITED: "A text of the tool tells that too much was asked of it",
}


@dataclass(frozen=True, slots=True)
class SoftFinding:
    """A text that surely tells of a failure.

    Attributes:
        label: Of which kind.
        flaw: For the verdict; soft.
    """

    label: SoftLabel
    flaw: Flaw


@dataclass(frozen=True, slots=True)
class SoftCheck:
    """A classifier and how sure it must be.

    Attributes:
        classifier: Labels texts.
        min_certainty: Below it a label is not used, 0 to 1; 1 switches the check off, since no label is so sure.
    """

    classifier: Classifier
    min_certainty: float

    def look_at(self, texts: Sequence[FoundText]) -> SoftFinding | None:
        """Return the first text that surely tells of a failure; None when no text does."""
        if self.min_certainty >= 1.0:
            return None
        for found in texts:
            said = self.classifier.classify(found.text)
            if said.label is not SoftLabel.NONE and said.certainty >= self.min_certainty:
                return SoftFinding(said.label, _flaw(found, said.label, said.certainty))
        return None


def _flaw(found: FoundText, label: SoftLabel, certainty: float) -> Flaw:
    return flaw(
        Stage.SOFT,
        FaultCode.ERROR_TEXT_FOUND,
        f"{_SAYS[label]} ({label.value}, certainty {certainty:.2f}).",
        pointer=found.pointer,
        rule_id=label.value,
        actual=found.text,
        is_hard=False,
    )


def with_words(found: Flaw, texts: Sequence[FoundText]) -> Flaw:
    """Return a flaw that names no place with the tool's own words as what was found, cut and masked."""
    if not texts or found.failure.pointer or found.failure.actual is not ABSENT:
        return found
    failure = replace(found.failure, pointer=texts[0].pointer, actual=excerpt(texts[0].text))
    return replace(found, failure=failure)
