"""Answers whose values were labelled by hand, and how well the check agrees: run it as a module to see the figures."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from taoloop.core.exact_json import loads
from taoloop.observation.grounding.checking import check_answer
from taoloop.plan.answering import CheckAnswerRequest, Claim, Evidence

DATA = Path(__file__).parent / "data"
_LABEL = re.compile(r"\[([+-])([^\]]*)\]")


@dataclass(frozen=True)
class Label:
    """One value of an answer, by its place in the text, and whether the evidence supports it."""

    start: int
    end: int
    is_supported: bool

    def overlaps(self, claim: Claim) -> bool:
        return claim.start < self.end and self.start < claim.end


@dataclass(frozen=True)
class LabelledAnswer:
    """An answer with the labels of all its values."""

    name: str
    is_held_out: bool
    request: CheckAnswerRequest
    labels: tuple[Label, ...]


@dataclass
class Figures:
    """How the check agrees with the labels.

    Attributes:
        true_supported: Values that both call supported.
        false_supported: Values that only the check calls supported: what must not happen.
        missed_supported: Values that only the labels call supported, or that the check does not see.
        true_unsupported: Values that neither calls supported.
        unseen_unsupported: Values that the evidence does not support and that the check does not see.
        unlabelled_unsupported: What the check objects to and no label marks: false alarms.
        right_answers: Answers whose verdict as a whole is right.
        answers: All answers.
        disagreements: One line each.
    """

    true_supported: int = 0
    false_supported: int = 0
    missed_supported: int = 0
    true_unsupported: int = 0
    unseen_unsupported: int = 0
    unlabelled_unsupported: int = 0
    right_answers: int = 0
    answers: int = 0
    disagreements: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Of the values that the check calls supported, the share that are."""
        return self.true_supported / max(1, self.true_supported + self.false_supported)

    @property
    def recall(self) -> float:
        """Of the values that are supported, the share that the check calls so."""
        return self.true_supported / max(1, self.true_supported + self.missed_supported)

    def __str__(self) -> str:
        supported = self.true_supported + self.missed_supported
        unsupported = self.true_unsupported + self.false_supported + self.unseen_unsupported
        return "; ".join(
            (
                f"answers {self.answers}, right as a whole {self.right_answers}",
                f"supported: precision {self.precision:.4f}, recall {self.recall:.4f} of {supported}",
                f"unsupported values caught: {self.true_unsupported} of {unsupported}",
                f"false alarms: {self.unlabelled_unsupported}",
            )
        )


def read_answers() -> Iterator[LabelledAnswer]:
    """Yield the labelled answers; of each evidence, those with even numbers are held out."""
    scenes = loads((DATA / "evidence.json").read_bytes())
    assert isinstance(scenes, dict)
    numbers: Counter[str] = Counter()
    for line in (DATA / "answers.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, _, marked = line.partition(" | ")
        numbers[name] += 1
        scene = scenes[name]
        assert isinstance(scene, dict)
        steps = scene["evidence"]
        assert isinstance(steps, dict)
        text, labels = unmarked(marked.replace("\\n", "\n"))
        request = CheckAnswerRequest(
            text=text,
            evidence=tuple(Evidence(step_id=step_id, exposed=value) for step_id, value in steps.items()),
            locale=str(scene["locale"]),
            time_zone=str(scene["time_zone"]),
        )
        yield LabelledAnswer(f"{name}-{numbers[name]}", numbers[name] % 2 == 0, request, labels)


def unmarked(marked: str) -> tuple[str, tuple[Label, ...]]:
    """Return the text without its marks, and the labels that they make."""
    text, labels, last = "", [], 0
    for found in _LABEL.finditer(marked):
        text += marked[last : found.start()]
        labels.append(Label(len(text), len(text) + len(found[2]), found[1] == "+"))
        text += found[2]
        last = found.end()
    return text + marked[last:], tuple(labels)


def measured(answers: Iterator[LabelledAnswer]) -> Figures:
    """Check the answers and compare."""
    figures = Figures()
    for answer in answers:
        _compare(answer, figures)
    return figures


def _compare(answer: LabelledAnswer, figures: Figures) -> None:
    response = check_answer(answer.request)
    figures.answers += 1
    figures.right_answers += response.grounded == all(label.is_supported for label in answer.labels)
    for label in answer.labels:
        claims = [claim for claim in response.claims if label.overlaps(claim)]
        is_called_so = bool(claims) and all(claim.supported for claim in claims)
        if label.is_supported:
            figures.true_supported += is_called_so
            figures.missed_supported += not is_called_so
        else:
            figures.false_supported += is_called_so
            figures.true_unsupported += bool(claims) and not is_called_so
            figures.unseen_unsupported += not claims
        if is_called_so != label.is_supported or not claims:
            text = answer.request.text[label.start : label.end]
            told = [(claim.text, claim.normalised, str(claim.reason)) for claim in claims]
            figures.disagreements.append(f"{answer.name}: {text!r} labelled {label.is_supported}: {told}")
    for claim in response.claims:
        if not claim.supported and not any(label.overlaps(claim) for label in answer.labels):
            figures.unlabelled_unsupported += 1
            figures.disagreements.append(f"{answer.name}: {claim.text!r} is no value, and {claim.reason}")


def main() -> None:
    """Print the figures of the half that was looked at, with its disagreements, then of the held-out half."""
    for is_held_out in (False, True):
        figures = measured(one for one in read_answers() if one.is_held_out is is_held_out)
        lines = [("held out: " if is_held_out else "looked at: ") + str(figures)]
        lines += [] if is_held_out and "--all" not in sys.argv else figures.disagreements
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
