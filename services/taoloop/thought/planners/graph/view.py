"""One request as the stages see it: the text, its mentions and words, and what else an argument may come from."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.plan.task import ProvidedInput, Role
from taoloop.plan.thinking import CompletedStep, ThinkRequest
from taoloop.thought.planners.graph.language.mentions import Mention
from taoloop.thought.planners.graph.language.phrases import Phrase, find_messages, find_phrases
from taoloop.thought.planners.graph.language.segment import Clause, segment
from taoloop.thought.planners.graph.language.spans import find_mentions
from taoloop.thought.planners.graph.language.text import Word, is_chinese, words
from taoloop.values.conversions import ConversionContext

MAX_READ: Final = 20_000
"""How many code points of a turn are read: what is asked for and with which values stands there, or nobody finds it."""

Place = tuple[int, int]
"""Start and end in code points of the turn's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestView:
    """One request, read once.

    Attributes:
        turn: Index of the user's last turn with text.
        text: Its text.
        lowered: The text in lower case, as long as the text.
        is_chinese: Whether questions are put in Chinese.
        mentions: Its typed mentions, in order.
        clauses: Its clauses, in order.
        words: Its comparable words outside of mentions of values, in order; names and codes stay words.
        conversion: What dates and numbers in words are read against.
        state: The session's state.
        inputs: Answers of the caller, newest first.
        completed: The steps of earlier iterations, in order.
        phrases: What may be free text, in order.
        messages: Where stands what is to be said or noted.
    """

    turn: int
    text: str
    lowered: str
    is_chinese: bool
    mentions: tuple[Mention, ...]
    clauses: tuple[Clause, ...]
    words: tuple[Word, ...]
    conversion: ConversionContext
    state: Mapping[str, JsonValue]
    inputs: tuple[ProvidedInput, ...]
    completed: tuple[CompletedStep, ...]
    phrases: tuple[Phrase, ...] = ()
    messages: tuple[Place, ...] = ()

    def words_in(self, place: Place) -> tuple[Word, ...]:
        """Return the words inside a place."""
        first = bisect_left(self.words, place[0], key=lambda word: word.start)
        last = bisect_left(self.words, place[1], key=lambda word: word.start)
        return tuple(word for word in self.words[first:last] if word.end <= place[1])

    def mentions_in(self, place: Place) -> tuple[Mention, ...]:
        """Return the mentions inside a place."""
        first = bisect_left(self.mentions, place[0], key=lambda mention: mention.start)
        last = bisect_left(self.mentions, place[1], key=lambda mention: mention.start)
        return tuple(mention for mention in self.mentions[first:last] if mention.end <= place[1])

    @property
    def is_follow_up(self) -> bool:
        """Whether the request names values and nothing that is done with them, as 那3月呢 and `and in March?` do."""
        return bool(self.clauses) and bool(self.mentions) and not self.words

    def continuing(self, keys: Iterable[str]) -> RequestView:
        """Return the request with words that it leaves out, as if its first clause began with them."""
        start = self.clauses[0].start
        return replace(self, words=tuple(Word(key, start, start) for key in sorted(keys)))

    def plain_text(self, place: Place) -> str:
        """Return the text of a place with quoted text and addresses blanked out, so that no verb is read from them."""
        pieces, position = [], place[0]
        for mention in self.mentions_in(place):
            if mention.kind in _OPAQUE:
                pieces.append(self.text[position : mention.start])
                position = mention.end
        pieces.append(self.text[position : place[1]])
        return " ".join(pieces)


_OPAQUE = frozenset({"quoted", "url", "email", "malformed"})
_WORDLESS = _OPAQUE | frozenset({"date", "time", "number", "id"})


def last_user_turn(request: ThinkRequest) -> int | None:
    """Return the index of the user's last turn that has text, or None."""
    for index in range(len(request.turns) - 1, -1, -1):
        turn = request.turns[index]
        if turn.role is Role.USER and turn.text.strip():
            return index
    return None


def read_request(request: ThinkRequest) -> RequestView | None:
    """Read a request; None when the user says nothing."""
    turn = last_user_turn(request)
    if turn is None:
        return None
    text = request.turns[turn].text[:MAX_READ]
    mentions = find_mentions(text)
    hidden = tuple((mention.start, mention.end) for mention in mentions if mention.kind in _WORDLESS)
    return RequestView(
        turn=turn,
        text=text,
        lowered=_lowered(text),
        is_chinese=is_chinese(text) if not request.locale else _is_chinese_locale(request.locale, text),
        mentions=mentions,
        clauses=segment(text, tuple((mention.start, mention.end) for mention in mentions)),
        words=_words_outside(text, hidden),
        conversion=ConversionContext(
            reference_time=request.reference_time, time_zone=request.time_zone, locale=request.locale
        ),
        state=_object(request.state),
        inputs=tuple(reversed(request.inputs)),
        completed=request.completed,
        phrases=find_phrases(text, mentions),
        messages=find_messages(text, mentions),
    )


def _lowered(text: str) -> str:
    """Return the text in lower case; as it is where a letter's lower case is longer, which would shift every place."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text


def _words_outside(text: str, hidden: tuple[Place, ...]) -> tuple[Word, ...]:
    found: list[Word] = []
    position = 0
    for start, end in (*hidden, (len(text), len(text))):
        found.extend(words(text[position:start], position))
        position = max(position, end)
    return tuple(found)


def _is_chinese_locale(locale: str, text: str) -> bool:
    return locale.lower().startswith("zh") and (is_chinese(text) or not text.isascii())


def _object(value: Json) -> Mapping[str, JsonValue]:
    return value if value is not ABSENT and isinstance(value, dict) else {}
