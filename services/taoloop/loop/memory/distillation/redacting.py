"""Takes personal data and credentials out of what is about to be remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.core.redaction import is_secret_name, redact_text
from taoloop.tools.contract import PersonalData
from taoloop.tools.personal_data.finding import FINDERS, Finder, half_width
from taoloop.tools.personal_data.masking import masked
from taoloop.tools.personal_data.own_patterns import OwnPattern

MOST_READ: Final = 2048
"""How many characters of a text are read; a credential that is longer is dropped with the word that it is in."""

_GONE: Final = object()
"""Stands for a value that is left out."""


class MemoryRedactor:
    """Masks texts, and leaves members of a state out: a placeholder must never become an argument of a call.

    Args:
        kinds: Kinds of personal data; credentials in their well-known forms go in any case.
        patterns: Patterns of the operator's own by name; the name in upper case is the placeholder.

    Raises:
        SchemaRefused: A pattern is outside the linear part of ECMAScript.
    """

    def __init__(self, kinds: Sequence[PersonalData] = (), patterns: Mapping[str, str] | None = None) -> None:
        chosen = [(f"<{kind.value.upper()}>", finder) for kind, finder in FINDERS.items() if kind in kinds]
        own = [(f"<{name.upper()}>", OwnPattern(pattern).find) for name, pattern in (patterns or {}).items()]
        self._masks: Final[tuple[tuple[str, Finder], ...]] = (*chosen, *own)

    def __repr__(self) -> str:
        return f"<MemoryRedactor {' '.join(placeholder for placeholder, _ in self._masks)}>"

    def text(self, text: str) -> str:
        """Return the text in one line, `<KIND>` in the place of personal data and `***` in that of credentials.

        In one line first: a number that is broken by a line or a tab is found by no pattern before, and read by
        everybody afterwards.
        """
        shown = one_line(redact_text(text))
        for placeholder, finder in self._masks:
            shown = masked(shown, placeholder, finder)
        return shown

    def beginning(self, text: str) -> str:
        """Return the beginning of a text, redacted: of a very long one no more is read than anybody will be told.

        The cut never leaves half of a number or of a key, which no pattern would know any more.
        """
        return self.text(text if len(text) <= MOST_READ else text[: _whole_words(text, MOST_READ)])

    def state(self, state: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the members of an object that hold neither personal data nor credentials, also below them."""
        kept = self._kept(dict(state))
        return kept if isinstance(kept, dict) else {}

    def _kept(self, value: JsonValue) -> JsonValue | object:
        if isinstance(value, str):
            return value if self._is_harmless(value) else _GONE
        if isinstance(value, dict):
            return {
                name: kept
                for name, member in value.items()
                if not self._is_telling(name, member) and (kept := self._kept(member)) is not _GONE
            }
        if isinstance(value, list):
            return [kept for item in value if (kept := self._kept(item)) is not _GONE]
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            return value if self._is_harmless(str(value)) else _GONE
        return value

    def _is_telling(self, name: str, member: JsonValue) -> bool:
        """Tell whether a member goes for its name: the name itself is personal, or says that the value is secret."""
        if not self._is_harmless(name):
            return True
        return is_secret_name(name) and isinstance(member, str | int | Decimal | list) and not isinstance(member, bool)

    def _is_harmless(self, text: str) -> bool:
        return self.text(text) == one_line(text)


def one_line(text: str) -> str:
    """Return a text with one blank in the place of all that separates its words."""
    return " ".join(text.replace("\0", " ").split())


def _whole_words(text: str, end: int) -> int:
    """Return the last place before `end` at which no key, and no number written in groups, is cut in two."""
    read = half_width(text[:end])
    place = end
    while place > 0 and ("!" <= read[place - 1] <= "~" or _follows_a_group(read, place - 1)):
        place -= 1
    return place


def _follows_a_group(text: str, place: int) -> bool:
    """Tell whether the blank at a place may stand between two groups of a number."""
    return text[place].isspace() and text[max(0, place - 3) : place].rstrip(" -\t\r\n\f\v")[-1:].isdecimal()
