"""What words around a number say of the slot that it is for, and words that mean a number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from taoloop.plan.model import Convert
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.reading import Reading
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import Place, RequestView

_UPPER: Final = frozenset(
    {"max", "maximum", "upper", "most", "highest", "ceiling", "to", "end", "high", "limit", "budget", "最高", "最大"}
)
_LOWER: Final = frozenset({"min", "minimum", "lower", "least", "lowest", "from", "start", "low", "最低", "最小"})
_COUNTS: Final = frozenset(
    {"limit", "count", "num", "number", "max", "results", "result", "size", "quantity", "n", "top"}
)
_UPPER_CUE = re.compile(
    r"(?:at most|up to|under|below|less than|no more than|maximum of|max|cheaper than|not exceed(?:ing)?"
    r"|within|不超过|最多|低于|至多|以内)\s*[$€£¥]?$"
)
_LOWER_CUE = re.compile(
    r"(?:at least|over|above|more than|minimum of|min|no less than|至少|不低于|超过|高于)\s*[$€£¥]?$"
)
_COUNT_CUE = re.compile(r"(?:top|first|at most|up to|maximum(?: of)?|only|next|last|limit(?:ed)? to|前|最多)\s*$")
_BETWEEN = re.compile(r"\b(?:between|from)\s*[$€£¥]?$")
_AND_AFTER = re.compile(r"(?:between|from)\s*[$€£¥]?[0-9.,]+[a-z°% ]{0,12}\s(?:and|to)\s*[$€£¥]?$")
_PER = re.compile(r"(?:\bper|(?<!\ba)/)\s*$")
_AFTER_CUE = re.compile(
    r"\s?(?:[a-z]+|[元岁个人分钟天米%％]{1,2})?\s?(?:(?P<upper>or less|or fewer|or cheaper|以下"
    r"|以内|之内)"
    r"|(?P<lower>or more|or higher|以上|起))"
)
_YEAR = re.compile(r"(?:1[0-9]|20)[0-9]{2}")

LONELY: Final = 0.2
"""What `one` without a unit counts less: it is mostly something else than a number."""
CUE: Final = 0.3
"""What a word adds that tells a bound, a count or an end of a range."""


def cue_of(slot: Slot, mention: Mention, view: RequestView) -> float:
    """Return what the words right before a number add to its score for a slot, or take off it."""
    before = view.lowered[max(0, mention.start - 32) : mention.start]
    if _PER.search(before):
        return -1.0
    total = -LONELY if mention.text.lower() == "one" and not mention.unit else 0.0
    after = _AFTER_CUE.match(view.lowered, mention.end)
    is_upper, is_lower = bool(slot.own & _UPPER), bool(slot.own & _LOWER)
    if is_upper != is_lower:
        if after is not None:
            total += CUE if (after["upper"] is not None) == is_upper else -CUE
        elif _UPPER_CUE.search(before) or _AND_AFTER.search(before):
            total += CUE if is_upper else -CUE
        elif _LOWER_CUE.search(before) or _BETWEEN.search(before):
            total += CUE if is_lower else -CUE
    elif not is_upper and (_AND_AFTER.search(before) or _BETWEEN.search(before)):
        total -= CUE / 2
    if slot.own & _COUNTS and _COUNT_CUE.search(before):
        total += CUE
    if "year" in slot.own and not mention.unit and _YEAR.fullmatch(mention.text):
        total += CUE
    elif _YEAR.fullmatch(mention.text) and not mention.unit and "year" not in slot.units and before.endswith("in "):
        total -= CUE
    return total


_LABEL = re.compile(r"(?<![A-Za-z0-9_])(?P<label>[A-Za-z_][A-Za-z0-9_]*)\s?(?P<mark>=|:)\s?$")


def assigned(slot: Slot, mention: Mention, view: RequestView) -> float:
    """Return what a name and `=` right before a mention add: much for the slot's own name, less than 0 for another."""
    match = _LABEL.search(view.text, max(0, mention.start - 32), mention.start)
    if match is None:
        return 0.0
    if match["label"].lower() == slot.name.lower():
        return 2 * CUE
    return -CUE if match["label"].lower() in slot.siblings else 0.0


_FREQUENCIES: Final = {
    "annually": 1, "yearly": 1, "semiannually": 2, "semi-annually": 2, "half-yearly": 2, "quarterly": 4, "monthly": 12,
    "weekly": 52, "daily": 365, "每年": 1, "每半年": 2, "每季度": 4, "每月": 12,
}  # fmt: skip
_FREQUENCY = re.compile("|".join(rf"(?<![a-z-]){word}(?![a-z])" if word.isascii() else word for word in _FREQUENCIES))
_COMPOUNDS: Final = frozenset({"compound", "compounding", "frequency", "period", "periods", "compounded", "n"})


def frequencies(slot: Slot, view: RequestView, place: Place) -> Iterator[tuple[Mention, Reading]]:
    """Yield words such as `quarterly` for a slot that takes how often a year something happens."""
    if not (slot.own & _COMPOUNDS or slot.told & {"compound", "compounded"}) or (
        "year" in slot.own - _COMPOUNDS and not (slot.own & _COMPOUNDS)
    ):
        return
    for match in _FREQUENCY.finditer(view.lowered, *place):
        value = _FREQUENCIES[match[0]]
        if slot.accepts(value):
            text = view.text[match.start() : match.end()]
            convert = Convert(to="enum", options={"values": {text: value}})
            yield Mention(MentionKind.NUMBER, match.start(), match.end(), text), Reading(value, convert)
