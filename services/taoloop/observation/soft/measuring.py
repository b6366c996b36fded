"""How right a classifier is: precision and recall of each label on labelled texts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from taoloop.observation.soft.ports import Classifier, SoftLabel


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text and what it is.

    Attributes:
        label: What a person says that it is.
        text: The text.
    """

    label: SoftLabel
    text: str

    @classmethod
    def parse(cls, line: str) -> Self:
        """Read a line of a label, a tab and a text.

        Raises:
            ValueError: It is none such.
        """
        label, tab, text = line.rstrip("\n").partition("\t")
        if not tab or not text:
            raise ValueError("a line is a label, a tab and a text")
        return cls(SoftLabel(label), text)

    @property
    def is_held_out(self) -> bool:
        """Tell whether the text is of the half that no word of a lexicon may be taken from: its digest decides."""
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 1


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """How right a classifier is for one label.

    Attributes:
        label: The label.
        texts: Texts that are of it.
        said: Texts that were surely said to be of it.
        right: Those of them that are.
    """

    label: SoftLabel
    texts: int
    said: int
    right: int

    @property
    def precision(self) -> float:
        """Return the share of what was said that is right; 1 when nothing was said."""
        return self.right / self.said if self.said else 1.0

    @property
    def recall(self) -> float:
        """Return the share of the texts that was found; 1 when there is none."""
        return self.right / self.texts if self.texts else 1.0


def measure(classifier: Classifier, texts: Iterable[LabelledText], min_certainty: float) -> tuple[LabelFigures, ...]:
    """Return the figures of each label; a label that is less sure than `min_certainty` counts as none."""
    of, said, right = Counter[SoftLabel](), Counter[SoftLabel](), Counter[SoftLabel]()
    for labelled in texts:
        found = classifier.classify(labelled.text)
        label = found.label if found.certainty >= min_certainty else SoftLabel.NONE
        of[labelled.label] += 1
        said[label] += 1
        right[label] += label is labelled.label
    return tuple(LabelFigures(label, of[label], said[label], right[label]) for label in SoftLabel)
