"""Which tools a model is offered: those that the request's words find, and those that produce what they need."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Final

from taoloop.plan.task import Permissions, Role
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.pipeline.producing import ToolGraph
from taoloop.thought.planners.graph.index import PlannerIndex
from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.language.mentions import MentionKind
from taoloop.thought.planners.graph.language.text import Word, stem, words
from taoloop.thought.planners.graph.language.vocabulary import (
    CHINESE_READING_WORDS,
    CHINESE_WRITING_WORDS,
    READING_WORDS,
    WRITING_WORDS,
)
from taoloop.thought.planners.graph.rank import Intent, Ranked, rank, read_intent
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import MAX_READ, RequestView, read_request
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import ToolSignature

MAX_PRODUCERS: Final = 2
"""How many tools are offered for one parameter that other tools produce."""
SURE_OF_CLAUSE: Final = 2
"""How many of a clause's best tools come before the tools of all clauses are compared."""
MAX_CODES: Final = 8
"""How many codes of a request, such as order numbers, are held against the patterns of parameters."""
HOP: Final = 1
"""How many places further back in the ranking a producer counts than the tool that needs it."""
MAX_EARLIER_TURNS: Final = 3
"""How many earlier turns of the user are read when the last one finds fewer tools than may be offered."""


_VERBS: Final = frozenset([*map(stem, READING_WORDS | WRITING_WORDS), *CHINESE_READING_WORDS, *CHINESE_WRITING_WORDS])
"""Words that say what is to be done, by which tools of every subject are found."""


class LeftOut(StrEnum):
    """Why a tool is not offered."""

    NOT_WHITELISTED = "not_whitelisted"
    """The deployment does not let its planners use it yet."""
    EFFECT = "effect"
    """Its effect is stronger than the request's permissions allow."""
    NOT_PERMITTED = "not_permitted"
    """The request's permissions list other tools."""
    UNAVAILABLE = "unavailable"
    """It cannot be called at present."""
    NOT_FOUND = "not_found"
    """No word of the request finds it, and nothing that is offered needs it."""
    NO_ROOM = "no_room"
    """It was found, or is needed, and better ones fill the places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRules:
    """How many tools are offered.

    Attributes:
        is_on: Whether tools are chosen; else all that may be used are offered.
        max_found: Most tools that the request's words find, at least 1.
        max_produced: Most tools that are offered besides, for what they produce.
        max_depth: Most producers in a row from a tool that was found, at least 1.
        allowed_tools: The deployment's own list; empty allows every tool.
    """

    is_on: bool = True
    max_found: int = 12
    max_produced: int = 8
    max_depth: int = 4
    allowed_tools: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Selection:
    """The tools that a model is offered.

    Attributes:
        tools: In the catalogue's order, whatever found them: the same tools give the same prompt.
        needed_by: For a tool that only the closure brought: the tool that needs its result.
        left_out: Every other tool of the catalogue, with why.
    """

    tools: tuple[ToolSignature, ...]
    needed_by: Mapping[str, str]
    left_out: Mapping[str, LeftOut]


class Selector:
    """Selects tools of one catalogue; compiled once, safe to share between threads.

    Args:
        catalogue: The tools.
        rules: How many are offered; the defaults when left out.
        index: The same tools as the graph planner has them, where they are compiled already.
    """

    def __init__(
        self, catalogue: Catalogue, rules: SelectionRules | None = None, index: PlannerIndex | None = None
    ) -> None:
        self._rules = rules or SelectionRules()
        self._index = index or PlannerIndex(catalogue.signatures())
        self._graph = ToolGraph(self._index)
        self._numbers = {tool.name: number for number, tool in enumerate(self._index.tools)}
        self._patterns = _patterns(self._index)

    def __repr__(self) -> str:
        return f"<Selector of {len(self._numbers)} tools>"

    def select(self, request: ThinkRequest, limit: int | None = None) -> Selection:
        """Return the tools for a request; the same request gives the same tools.

        When all tools that may be used have room, all are offered: the prompt is then the same for every request.

        Args:
            request: What is to be thought about.
            limit: Most tools altogether, where a model's context holds fewer than the rules allow.
        """
        blocked = self._blocked(request)
        usable = [number for number, tool in enumerate(self._index.tools) if tool.name not in blocked]
        room = self._rules.max_found + self._rules.max_produced
        room = room if limit is None else max(1, min(limit, room))
        if not self._rules.is_on or len(usable) <= room:
            return self._selection(usable if self._rules.is_on else usable[:limit], {}, blocked, usable)
        ranked = list(self._ranked(request, frozenset(usable)))
        # A small room is shared as the rules share theirs, so that producers are not crowded out.
        share = max(1, room * self._rules.max_found // (self._rules.max_found + self._rules.max_produced))
        found = ranked[:share]
        spare = min(self._rules.max_produced, room - len(found))
        produced, wanted = self._closure(found, ranked, frozenset(usable), spare)
        return self._selection([*found, *produced], produced, blocked, [*ranked, *wanted])

    def _blocked(self, request: ThinkRequest) -> dict[str, LeftOut]:
        permissions = request.permissions or Permissions()
        away = {entry.tool for entry in request.availability if not entry.available}
        blocked: dict[str, LeftOut] = {}
        for tool in self._index.tools:
            if self._rules.allowed_tools and tool.name not in self._rules.allowed_tools:
                blocked[tool.name] = LeftOut.NOT_WHITELISTED
            elif not tool.signature.effect.is_within(permissions.max_effect):
                blocked[tool.name] = LeftOut.EFFECT
            elif permissions.allowed_tools and tool.name not in permissions.allowed_tools:
                blocked[tool.name] = LeftOut.NOT_PERMITTED
            elif tool.name in away:
                blocked[tool.name] = LeftOut.UNAVAILABLE
        return blocked

    def _ranked(self, request: ThinkRequest, usable: frozenset[int]) -> Iterator[int]:
        """Yield the usable tools that the conversation's words find, best first, each once."""
        seen: set[int] = set()
        for number in self._every_ranked(request):
            if number in usable and number not in seen:
                seen.add(number)
                yield number

    def _every_ranked(self, request: ThinkRequest) -> Iterator[int]:
        view = read_request(request)
        if view is None:
            return
        whole = self._of_words(view.words, Intent.UNKNOWN, frozenset())
        clauses = [self._of_clause(view, number) for number in range(len(view.clauses))]
        best = [self._numbers[item.tool.name] for item in _best_first(clauses)]
        named = self._of_patterns(view, [*best, *(self._numbers[item.tool.name] for item in whole)])
        yield from (
            number for row in zip_longest(named, best, self._about(view)) for number in row if number is not None
        )
        yield from (self._numbers[item.tool.name] for item in whole)
        yield from (self._numbers[step.tool] for step in reversed(request.completed) if step.tool in self._numbers)
        earlier = [turn.text for turn in request.turns[: view.turn] if turn.role is Role.USER]
        for text in reversed(earlier[-MAX_EARLIER_TURNS:]):
            found = self._of_words(words(text[:MAX_READ]), Intent.UNKNOWN, frozenset())
            yield from (self._numbers[item.tool.name] for item in found)

    def _about(self, view: RequestView) -> list[int]:
        """Return the tools that share a word with the request other than a verb, those with its rarest word first.

        A verb of the user's that no tool has, or that tools of every subject have, must not hide its subject.
        """
        said = [word for word in view.words if word.key not in _VERBS]
        rarest = {key: self._index.rarity(key) for key in {word.key for word in said}}
        ranked = self._of_words(said, Intent.UNKNOWN, frozenset())
        orders = {
            self._numbers[item.tool.name]: (
                -max(rarest[key] for key in rarest.keys() & item.tool.terms.keys()),
                -item.score / item.factor,
            )
            for item in ranked
        }
        return sorted(orders, key=lambda number: (orders[number], number))

    def _of_clause(self, view: RequestView, number: int) -> tuple[Ranked, ...]:
        clause = view.clauses[number]
        place = (clause.start, clause.end)
        intent, verbs = read_intent(view.plain_text(place))
        return self._of_words(view.words_in(place), intent, verbs)

    def _of_words(self, said: Iterable[Word], intent: Intent, verbs: frozenset[str]) -> tuple[Ranked, ...]:
        return rank(self._index, said, intent, verbs, limit=len(self._index.tools))

    def _of_patterns(self, view: RequestView, ranked: Iterable[int]) -> list[int]:
        """Return the tools that take a code of the request by its pattern, those with words of the request first."""
        codes = [mention.text for mention in view.mentions if mention.kind is MentionKind.ID][:MAX_CODES]
        taking: set[int] = set()
        for slot, numbers in self._patterns:
            if any(slot.accepts(code) for code in codes):
                taking |= numbers
        return [*dict.fromkeys(number for number in ranked if number in taking), *sorted(taking - set(ranked))]

    def _closure(
        self, found: list[int], ranked: list[int], usable: frozenset[int], room: int
    ) -> tuple[dict[int, int], list[int]]:
        """Return the producers that are offered with the tool that each serves, and those without room.

        The nearest to the words come first: what the best tool needs, and in turn what that needs, before what a tool
        needs that was found far behind.
        """
        order = {number: place for place, number in enumerate(ranked)}
        offered, produced, wanted = set(found), dict[int, int](), list[int]()
        pending = [(place, 0, number) for place, number in enumerate(found)]
        heapq.heapify(pending)
        while pending:
            distance, depth, consumer = heapq.heappop(pending)
            for producer in self._new_producers(consumer, offered, usable, order):
                if len(produced) >= room:
                    wanted.append(producer)
                    continue
                offered.add(producer)
                produced[producer] = consumer
                if depth + 1 < self._rules.max_depth:
                    heapq.heappush(pending, (distance + HOP, depth + 1, producer))
        return produced, wanted

    def _new_producers(
        self, consumer: int, offered: set[int], usable: frozenset[int], order: Mapping[int, int]
    ) -> Iterator[int]:
        """Yield the tools to add for what a tool needs; among those that fit, the conversation's words choose."""
        last = len(order)
        for producers in self._graph.needs(consumer):
            new = [number for number in producers if number in usable and number not in offered]
            new.sort(key=lambda number: (self._index.tools[number].is_writing, order.get(number, last)))
            yield from new[:MAX_PRODUCERS]

    def _selection(
        self, chosen: Iterable[int], produced: Mapping[int, int], blocked: Mapping[str, LeftOut], wanted: Iterable[int]
    ) -> Selection:
        tools, offered, without_room = self._index.tools, set(chosen), set(wanted)
        left_out = dict(blocked)
        for number, tool in enumerate(tools):
            if number not in offered and tool.name not in blocked:
                left_out[tool.name] = LeftOut.NO_ROOM if number in without_room else LeftOut.NOT_FOUND
        return Selection(
            tools=tuple(tools[number].signature for number in sorted(offered)),
            needed_by={tools[number].name: tools[consumer].name for number, consumer in produced.items()},
            left_out=left_out,
        )


def _best_first(clauses: Sequence[tuple[Ranked, ...]]) -> Iterator[Ranked]:
    """Yield the best tools of every clause, then all others by how much of their clause they explain.

    A clause that only leads up to the request, such as "we are planning the next season", thus takes few places.
    """
    yield from (item for row in zip_longest(*(each[:SURE_OF_CLAUSE] for each in clauses)) for item in row if item)
    rest = [item for each in clauses for item in each[SURE_OF_CLAUSE:]]
    yield from sorted(rest, key=lambda item: (-item.fit, -item.score, item.tool.name))


def _patterns(index: PlannerIndex) -> tuple[tuple[Slot, set[int]], ...]:
    """Return one parameter for each pattern of the catalogue, with the tools that take it."""
    found: dict[str, tuple[Slot, set[int]]] = {}
    for number, tool in enumerate(index.tools):
        for slot in tool.slots:
            single = slot.item or slot
            pattern = single.schema.get("pattern")
            if single.slot_class is SlotClass.PATTERN and isinstance(pattern, str):
                found.setdefault(pattern, (single, set()))[1].add(number)
    return tuple(found.values())
