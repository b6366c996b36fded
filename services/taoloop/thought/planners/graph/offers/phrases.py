"""Which phrases of a request may be the free text of a slot: by the word that leads to them and the text's part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.phrases import NAMING, OPENING, VERB, Phrase
from taoloop.thought.planners.graph.language.roles import Role
from taoloop.thought.planners.graph.language.text import stem
from taoloop.thought.planners.graph.language.vocabulary import GENERIC_WORDS
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import Place, RequestView

_GENERIC: Final = frozenset(stem(word) for word in GENERIC_WORDS)

# How well a phrase suits a text by what leads to it. Set by hand, order of size only, on requests of our own with
# their paired negatives, where a value is left out.
LED: Final[Mapping[Role, Mapping[str, float]]] = {
    Role.AGENT: {"by": 0.65, "from": 0.42, "with": 0.5, "starring": 0.65, "featuring": 0.6, "of": 0.4},
    Role.TOPIC: {"about": 0.65, "on": 0.6, "regarding": 0.65, "concerning": 0.65, "for": 0.5, "of": 0.5, VERB: 0.42,
                 "in": 0.45},
    Role.KIND: {VERB: 0.2},
    Role.THING: {VERB: 0.5, "for": 0.5, "of": 0.52, "about": 0.5, "on": 0.45, "with": 0.4, "by": 0.4,
                 "in": 0.38},
    Role.TITLE: {VERB: 0.45, "of": 0.45, "for": 0.4, "in": 0.4, "about": 0.42, "from": 0.36},
    Role.GROUP: {"of": 0.52, "for": 0.5, "at": 0.5, "by": 0.42, "from": 0.5, "with": 0.4, "in": 0.4, "about": 0.45,
                 VERB: 0.4},
    Role.OTHER: {VERB: 0.36, "of": 0.4, "for": 0.4, "about": 0.42, "on": 0.38, "in": 0.36},
    Role.MESSAGE: {"about": 0.4},
}  # fmt: skip
NAMED: Final[Mapping[Role, float]] = {
    Role.TITLE: 0.65, Role.THING: 0.55, Role.OTHER: 0.5, Role.GROUP: 0.6, Role.TOPIC: 0.4, Role.PERSON: 0.6,
}  # fmt: skip
"""The same after `called` and the like."""
NARROWING: Final[Mapping[Role, float]] = {
    Role.KIND: 0.6, Role.THING: 0.5, Role.TOPIC: 0.45, Role.GROUP: 0.36, Role.OTHER: 0.4, Role.TITLE: 0.36,
}  # fmt: skip
"""The same for words before a noun that the tool speaks of, as `horror` in `horror film`."""
APPOSED: Final = 0.6
"""The same for words right after, or right before, a word of the slot itself, as `species Panthera onca`."""
MESSAGE: Final = 0.6
"""The same for what is to be said or noted."""


@dataclass(frozen=True, slots=True)
class PhraseOffer:
    """One phrase that may fill a slot."""

    mention: Mention
    suits: float


def phrase_offers(slot: Slot, view: RequestView, place: Place) -> Iterator[PhraseOffer]:
    """Yield the phrases of a place that may be the text of a slot."""
    if slot.role is Role.MESSAGE:
        for start, end in view.messages:
            if place[0] <= start and end <= place[1]:
                yield _offer(view, start, end, MESSAGE)
    for phrase in view.phrases:
        if place[0] <= phrase.start and phrase.end <= place[1] and not _is_in_name(phrase, view):
            yield from _of_phrase(slot, phrase, view)


def _of_phrase(slot: Slot, phrase: Phrase, view: RequestView) -> Iterator[PhraseOffer]:
    keys = [stem(view.text[start:end].removesuffix("'s").removesuffix("’s")) for start, end in phrase.words]
    known = [key in slot.tool_words or key in _GENERIC for key in keys]
    first = next((number for number, is_known in enumerate(known) if not is_known), None)
    if first is None:
        return
    last = max(number for number, is_known in enumerate(known) if not is_known)
    led = _led(slot, phrase.lead)
    if first > 0:  # such as `the movie Titanic`
        is_own = keys[first - 1] in slot.own or slot.words.get(keys[first - 1], 0.0) >= 0.5
        suits = APPOSED if is_own else min(led, 0.45)
        yield from _between(view, phrase, first, last, suits)
        if is_own:
            return
    elif last < len(keys) - 1:  # such as `horror film`
        is_own = keys[last + 1] in slot.own or keys[last + 1] in slot.usual
        if is_own and slot.role is not Role.KIND:
            yield from _between(view, phrase, first, last + 1, APPOSED)
        yield from _between(view, phrase, first, last, NARROWING.get(slot.role, 0.0))
    yield from _between(view, phrase, first, last, led if last == len(keys) - 1 else led - 0.05)


def _led(slot: Slot, lead: str) -> float:
    if lead in NAMING:
        return NAMED.get(slot.role, 0.4)
    return 0.0 if lead == OPENING else LED.get(slot.role, {}).get(lead, 0.0)


def _between(view: RequestView, phrase: Phrase, first: int, last: int, suits: float) -> Iterator[PhraseOffer]:
    if suits > 0.0:
        yield _offer(view, phrase.words[first][0], phrase.words[last][1], suits)


def _offer(view: RequestView, start: int, end: int, suits: float) -> PhraseOffer:
    text = view.text[start:end]
    bare = text.removesuffix("'s").removesuffix("’s")
    end = start + len(bare)
    same = next((m for m in view.mentions_in((start, end)) if (m.start, m.end) == (start, end)), None)
    return PhraseOffer(same or Mention(MentionKind.PHRASE, start, end, bare), suits)


def _is_in_name(phrase: Phrase, view: RequestView) -> bool:
    """Tell whether a phrase begins inside of a longer name, or is a piece of one."""
    return any(
        mention.kind in _NAMES
        and (mention.start < phrase.start < mention.end or mention.start <= phrase.start < phrase.end < mention.end)
        for mention in view.mentions_in((max(0, phrase.start - 60), phrase.end + 60))
    )


_NAMES: Final = frozenset({MentionKind.NAME, MentionKind.PLACE, MentionKind.PERSON})
