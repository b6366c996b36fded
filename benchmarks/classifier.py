"""How right the lexicon of the soft check is on the half of its texts that it was not made from, and how fast."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Final

from taoloop.observation.soft.lexicon_classifier import LexiconClassifier
from taoloop.observation.soft.measuring import LabelFigures, LabelledText, measure
from taoloop.observation.soft.ports import MIN_CERTAINTY

TEXTS: Final = Path(__file__).parent.parent / "tests" / "unit" / "observation" / "soft" / "error_texts.tsv"
_ROUNDS: Final = 20


def main() -> None:
    """Print the figures of each label, and one JSON object in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, default=TEXTS, help="Lines of a label, a tab and a text.")
    parser.add_argument("--min-certainty", type=float, default=MIN_CERTAINTY, help="Below it a label counts as none.")
    options = parser.parse_args()
    lines = options.texts.read_text(encoding="utf-8").splitlines()
    texts = [labelled for labelled in map(LabelledText.parse, lines) if labelled.is_held_out]
    figures = measure(LexiconClassifier(), texts, options.min_certainty)
    print(f"{len(texts)} held-out texts of {len(lines)}, certainty at least {options.min_certainty:g}")
    print(f"{'label':<16}{'texts':>6}{'said':>6}{'right':>6}{'precision':>11}{'recall':>8}")
    for each in figures:
        shown = f"{each.label.value:<16}{each.texts:>6}{each.said:>6}{each.right:>6}"
        print(f"{shown}{each.precision:>11.3f}{each.recall:>8.3f}")
    print(json.dumps({"held_out": len(texts), "microseconds": _microseconds(texts), **_by_label(figures)}))


def _by_label(figures: tuple[LabelFigures, ...]) -> dict[str, dict[str, float]]:
    return {
        each.label.value: {"precision": round(each.precision, 3), "recall": round(each.recall, 3)} for each in figures
    }


def _microseconds(texts: list[LabelledText]) -> float:
    """Return the processor time of one text in microseconds."""
    classifier = LexiconClassifier()
    began = time.process_time()
    for _ in range(_ROUNDS):
        for labelled in texts:
            classifier.classify(labelled.text)
    return round((time.process_time() - began) / (_ROUNDS * len(texts)) * 1e6, 1)


if __name__ == "__main__":
    main()
