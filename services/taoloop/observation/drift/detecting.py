"""Finds in a body what was never seen of its tool; a warning, whatever the schema allows."""

from __future__ import annotations

from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.observation.stages.model import excerpt
from taoloop.plan.observing import Drift, DriftKind
from taoloop.tools.seen import Familiar, Novelty, NoveltyKind

NO_DRIFT: Final[tuple[Drift, ...]] = ()

_KINDS: Final = {
    NoveltyKind.FIELD: DriftKind.NEW_FIELD,
    NoveltyKind.TYPE: DriftKind.NEW_TYPE,
    NoveltyKind.VALUE: DriftKind.NEW_ENUM_VALUE,
}


def drift_of(seen: Familiar, body: JsonValue) -> tuple[Drift, ...]:
    """Return what the body has that was not seen, each once and a bounded number; quoted values are cut and masked."""
    novelties = seen.novelties(body)
    return tuple(_drift(novelty) for novelty in novelties) if novelties else NO_DRIFT


def unknown_value(pointer: str, value: JsonValue) -> Drift:
    """Return the drift of a value at a place of the data that is none of those that the contract knows."""
    shown = excerpt(value)
    return Drift(kind=DriftKind.NEW_ENUM_VALUE, pointer=pointer, value=None if shown is ABSENT else shown, in_data=True)


def together(of_body: tuple[Drift, ...], of_data: tuple[Drift, ...]) -> tuple[Drift, ...]:
    """Return both; a value that the body showed as new is not told again under the name that the data has for it."""
    told = {each.value for each in of_body if each.kind is DriftKind.NEW_ENUM_VALUE and isinstance(each.value, str)}
    return of_body + tuple(each for each in of_data if not isinstance(each.value, str) or each.value not in told)


def _drift(novelty: Novelty) -> Drift:
    return Drift(
        kind=_KINDS[novelty.kind], pointer=pointers.join(*novelty.tokens), value=excerpt(novelty.value), in_data=False
    )
