"""How well a kind of mention suits a class of slot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.roles import Role
from taoloop.thought.planners.graph.slots import Slot

_K = MentionKind
_ANY_TOKEN: Final = dict.fromkeys((_K.ID, _K.TIME, _K.NUMBER, _K.CODE, _K.QUOTED, _K.DATE, _K.NAME), 0.85)

# How well a kind of mention suits a class of slot, 0 to 1.
# Set by hand, order of size only; thresholds and calibration are fitted on generated data.
SUITS: Final[Mapping[SlotClass, Mapping[MentionKind, float]]] = {
    SlotClass.PATTERN: _ANY_TOKEN,
    SlotClass.DATE: {_K.DATE: 0.85},
    SlotClass.DATE_TIME: {_K.DATE: 0.8, _K.ID: 0.8},
    SlotClass.DATE_RANGE: {_K.DATE: 0.85},
    SlotClass.TIME: {_K.TIME: 0.85},
    SlotClass.EMAIL: {_K.EMAIL: 0.9, _K.MALFORMED: 0.9},
    SlotClass.URL: {_K.URL: 0.9},
    SlotClass.INTEGER: {_K.NUMBER: 0.5, _K.ID: 0.4},
    SlotClass.NUMBER: {_K.NUMBER: 0.5, _K.ID: 0.3},
    SlotClass.PLACE: {_K.PLACE: 0.75, _K.NAME: 0.5, _K.QUOTED: 0.6, _K.CODE: 0.3, _K.PERSON: 0.36},
    SlotClass.LANGUAGE: {_K.QUOTED: 0.3},
    SlotClass.CURRENCY: {_K.QUOTED: 0.3},
    SlotClass.UNIT: {_K.QUOTED: 0.4},
    SlotClass.PERSON: {_K.PERSON: 0.75, _K.QUOTED: 0.7, _K.NAME: 0.5, _K.PLACE: 0.36, _K.CODE: 0.2, _K.ID: 0.3},
    SlotClass.ID: {_K.ID: 0.75, _K.NUMBER: 0.45, _K.QUOTED: 0.5, _K.CODE: 0.35, _K.NAME: 0.25},
    SlotClass.DATE_TEXT: {_K.DATE: 0.6, _K.TIME: 0.3, _K.QUOTED: 0.4},
    SlotClass.TEXT: {_K.QUOTED: 0.8, _K.NAME: 0.3, _K.EXPRESSION: 0.3},
    SlotClass.OTHER: {
        _K.QUOTED: 0.6, _K.NAME: 0.4, _K.PLACE: 0.36, _K.PERSON: 0.36, _K.ID: 0.4, _K.CODE: 0.4, _K.URL: 0.3,
        _K.EMAIL: 0.3, _K.EXPRESSION: 0.4,
    },
}  # fmt: skip
_LOGIN_WORDS: Final = frozenset({"user", "login", "account", "player", "handle"})
_NUMBER_WORDS: Final = frozenset({"number", "phone", "no", "zip", "电话", "号码"})


def suits_of(slot: Slot, mention: Mention) -> float:
    """Return how well a mention suits by its kind; an account has no name of a person, a number has digits."""
    if mention.kind is MentionKind.QUOTED and slot.role in _QUOTED_SUITS:
        return _QUOTED_SUITS[slot.role]
    if mention.kind in {MentionKind.CODE, MentionKind.ID}:
        if slot.slot_class is SlotClass.PERSON and slot.own & _LOGIN_WORDS:
            return 0.5
        if slot.own & _NUMBER_WORDS and not any(character.isdigit() for character in mention.text):
            return 0.1
    if mention.kind is MentionKind.NUMBER and slot.own & _PHONE_WORDS and len(mention.text) < _SHORTEST_PHONE:
        return 0.1
    return SUITS[slot.slot_class][mention.kind]


_QUOTED_SUITS: Final = {Role.TITLE: 0.8, Role.MESSAGE: 0.85, Role.TOPIC: 0.75, Role.AGENT: 0.45, Role.PERSON: 0.55}
"""How well quoted text suits by the part that the text plays, where that tells more than its class."""
_PHONE_WORDS: Final = frozenset({"phone", "mobile", "telephone"})
_SHORTEST_PHONE: Final = 5
