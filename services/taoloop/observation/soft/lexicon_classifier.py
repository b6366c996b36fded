"""A classifier that looks for telling words: no model, no guess, microseconds."""

from __future__ import annotations

import unicodedata
from typing import Final

from taoloop.observation.soft.lexicon import CUES, NO_RELIEF, RELIEF
from taoloop.observation.soft.ports import Classification, SoftLabel

MAX_CHARACTERS: Final = 300
"""More of a text is not read."""

_RELIEVED: Final = Classification(SoftLabel.NONE, 0.97)
_SILENT: Final = Classification(SoftLabel.NONE, 0.5)


class LexiconClassifier:
    """A `Classifier` on a lexicon of English and Chinese words.

    Each word speaks for one label with its own certainty; words for the same label add up as independent witnesses
    do, words for another one take away. Words of relief, of instructions and of plans mean that nothing failed.
    """

    def __repr__(self) -> str:
        return f"LexiconClassifier({len(CUES)} cues)"

    def classify(self, text: str) -> Classification:
        """See `Classifier.classify`."""
        plain = " ".join(unicodedata.normalize("NFKC", text[:MAX_CHARACTERS]).lower().split())
        doubts: dict[SoftLabel, float] = {}
        for cue in CUES:
            if cue.words.are_in(plain):
                doubts[cue.label] = doubts.get(cue.label, 1.0) * (1.0 - cue.certainty)
        if not doubts:
            return _SILENT
        if _has_relief(plain):
            return _RELIEVED
        label, *others = sorted(doubts, key=lambda each: doubts[each])
        rival = 1.0 - doubts[others[0]] if others else 0.0
        return Classification(label, round((1.0 - doubts[label]) * (1.0 - _taken_by(rival)), 4))


def _taken_by(rival: float) -> float:
    """Return how much of the certainty goes when words speak for another label, too: a hint takes nothing away."""
    return max(0.0, rival - 0.6)


def _has_relief(plain: str) -> bool:
    for words in NO_RELIEF:
        plain = plain.replace(words, "")
    return RELIEF.are_in(plain)
