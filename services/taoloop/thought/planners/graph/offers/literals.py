"""Where given values stand in a request, written out: members of enums, examples of descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.view import Place, RequestView


def literal_mentions(values: Iterable[str], view: RequestView, place: Place) -> Iterator[tuple[Mention, str]]:
    """Yield each place where a value stands, and the value; case, `_` and blanks are folded, longer values first."""
    taken: list[Place] = []
    for value in sorted({item for item in values if item.strip()}, key=lambda item: (-len(item), item)):
        for match in _pattern(value).finditer(view.lowered, place[0], place[1]):
            if not any(match.start() < end and start < match.end() for start, end in taken):
                taken.append(match.span())
                text = view.text[match.start() : match.end()]
                yield Mention(MentionKind.CODE, match.start(), match.end(), text), value


@lru_cache(maxsize=4096)
def _pattern(value: str) -> re.Pattern[str]:
    pattern = re.escape(value.lower()).replace("_", "[_ -]").replace(r"\ ", "[_ -]").replace(r"\-", "[_ -]")
    left = r"(?<![A-Za-z0-9])" if value[0].isascii() and value[0].isalnum() else ""
    right = r"(?![A-Za-z0-9])" if value[-1].isascii() and value[-1].isalnum() else ""
    return re.compile(left + pattern + right)
