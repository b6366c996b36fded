"""Words in arguments that a contract's vocabulary has one value for, and no others, are replaced by that value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue
from taoloop.plan.schema_places import place
from taoloop.tools.signature import VOCABULARY_KEYWORD
from taoloop.values.conversions import as_text
from taoloop.values.folding import fold


@dataclass(frozen=True, slots=True)
class Reading:
    """One text argument that has a vocabulary.

    Attributes:
        pointer: Its place in the arguments.
        values: The values that the vocabulary has.
        matches: Those of them that the text stands for; the text itself when it is one of them.
        text: What stands there.
    """

    pointer: str
    values: tuple[str, ...]
    matches: tuple[str, ...]
    text: str

    @property
    def is_right(self) -> bool:
        """Whether nothing needs to be replaced."""
        return self.text in self.values


def readings(arguments: JsonValue, schema: object) -> tuple[Reading, ...]:
    """Return what the texts in a call's arguments mean by their vocabularies, in the order of the schema.

    A text stands for a value when it is the value or one of its words, letter case, width and white space left out of
    account. Nothing else is the same: a word that is only like another one matches nothing.
    """
    return tuple(_readings(arguments, schema, ""))


def reading_at(schema: object, pointer: str, value: JsonValue) -> Reading | None:
    """Return what one text means at a place of the arguments; None where there is no vocabulary."""
    node = place(schema, pointer) if isinstance(schema, dict) else None
    words = node.get(VOCABULARY_KEYWORD) if isinstance(node, dict) else None
    return _reading(pointer, value, words) if isinstance(value, str) and isinstance(words, dict) else None


def is_fixable(found: tuple[Reading, ...]) -> bool:
    """Tell whether something is to be replaced, and every text that is no value has just one reading."""
    wrong = [reading for reading in found if not reading.is_right]
    return bool(wrong) and all(len(reading.matches) == 1 for reading in wrong)


def fixed(arguments: dict[str, JsonValue], schema: object) -> dict[str, JsonValue]:
    """Return the arguments with each word replaced by the one value that it stands for; others stay as they are."""
    mended: JsonValue = arguments
    for reading in readings(arguments, schema):
        if not reading.is_right and len(reading.matches) == 1:
            mended = _replaced(mended, pointers.parse(reading.pointer), reading.matches[0])
    assert isinstance(mended, dict)
    return mended


def _readings(value: JsonValue, schema: object, at: str) -> Iterator[Reading]:
    if not isinstance(schema, dict):
        return
    words = schema.get(VOCABULARY_KEYWORD)
    if isinstance(value, str) and isinstance(words, dict):
        yield _reading(at, value, words)
    elif isinstance(value, dict):
        declared = schema.get("properties")
        for name, inner in declared.items() if isinstance(declared, dict) else ():
            if name in value:
                yield from _readings(value[name], inner, at + pointers.join(name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _readings(item, schema.get("items"), at + pointers.join(index))


def _reading(at: str, text: str, words: Mapping[str, Any]) -> Reading:
    values = tuple(words)
    if text in words:
        return Reading(at, values, (text,), text)
    folded = fold(text)
    matches = tuple(
        value
        for value, written in words.items()
        if folded == fold(value) or any(folded == fold(as_text(word)) for word in written)
    )
    return Reading(at, values, matches, text)


def _replaced(value: JsonValue, tokens: tuple[str, ...] | list[str], new: JsonValue) -> JsonValue:
    """Return the value with one place replaced; the value itself is not changed."""
    if not tokens:
        return new
    first, *rest = tokens
    if isinstance(value, list):
        index = int(first)
        return [*value[:index], _replaced(value[index], rest, new), *value[index + 1 :]]
    assert isinstance(value, dict)
    return {**value, first: _replaced(value[first], rest, new)}
