"""Members of an enum that the request names, by the member itself or by another word for it."""

from __future__ import annotations

from collections.abc import Iterator

from taoloop.thought.planners.graph.language.mentions import Mention
from taoloop.thought.planners.graph.language.text import is_chinese
from taoloop.thought.planners.graph.offers.literals import literal_mentions
from taoloop.thought.planners.graph.offers.synonyms import other_words
from taoloop.thought.planners.graph.reading import Reading
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import Place, RequestView

_SHORTEST = 2


def chosen_members(slot: Slot, view: RequestView, place: Place) -> Iterator[tuple[Mention, Reading]]:
    """Yield the words that name a member of the slot's enum, with the member; its own spelling comes first."""
    members = {member: number for number, member in enumerate(slot.enum) if isinstance(member, str)}
    said: dict[str, int] = {member: number for member, number in members.items() if _is_long_enough(member)}
    for member, number in members.items():
        for word in (*_forms(member), *other_words(member)):
            said.setdefault(word, number)
    for mention, word in literal_mentions(said, view, place):
        number = said[word]
        exact = mention.text == slot.enum[number]
        yield mention, Reading(slot.enum[number], member=None if exact else number)


def _forms(member: str) -> Iterator[str]:
    """Yield the plural or singular of a one-word member."""
    if member.isascii() and member.isalpha() and len(member) > _SHORTEST + 1:
        yield member[:-1] if member.lower().endswith("s") else member + "s"


def _is_long_enough(member: str) -> bool:
    """One letter alone is mostly another word."""
    return len(member) >= _SHORTEST or is_chinese(member) or member.isdigit() or member.isupper()
