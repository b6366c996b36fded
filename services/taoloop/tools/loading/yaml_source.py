"""YAML files read as exact JSON values, with the place of every value: the part of YAML 1.2 that JSON can carry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue

MAX_FILE_BYTES: Final = 1 << 20
"""Largest file that is read."""

MAX_DEPTH: Final = 60
"""Deepest nesting that is read."""


@dataclass(frozen=True, slots=True)
class SourceFault:
    """One reason why a file cannot be read as it stands.

    Attributes:
        code: `FILE_UNREADABLE`, `FILE_TOO_LARGE`, `FILE_EMPTY`, `YAML_SYNTAX` or `YAML_FEATURE`.
        cause: What is wrong, one sentence.
        remedy: What to do about it.
        line: Line, from 1.
        column: Column in characters, from 1.
        pointer: Where in the document, as far as known.
    """

    code: str
    cause: str
    remedy: str
    line: int = 1
    column: int = 1
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read, perhaps with faults.

    Attributes:
        path: As it was given.
        value: The document; None when there is none.
        places: Pointer to (line, column), both from 1; for a member of a mapping the place of its key.
        faults: Everything that was wrong with the text.
    """

    path: Path
    value: JsonValue
    places: Mapping[str, tuple[int, int]]
    faults: tuple[SourceFault, ...]

    def place(self, pointer: str) -> tuple[int, int]:
        """Return the place of the pointer, or of the nearest value around it."""
        while pointer and pointer not in self.places:
            pointer = pointer.rpartition("/")[0]
        return self.places.get(pointer, (1, 1))


def read_source(path: Path) -> Source:
    """Read a file; what is wrong with it is in the result's faults, nothing is raised."""
    try:
        size_bytes = path.stat().st_size
        if size_bytes > MAX_FILE_BYTES:
            cause = f"the file has {size_bytes} bytes, more than {MAX_FILE_BYTES}"
            return Source(path, None, {}, (SourceFault("FILE_TOO_LARGE", cause, "Split the file."),))
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as exc:
        cause = "the file is not UTF-8" if isinstance(exc, UnicodeDecodeError) else f"the file cannot be read: {exc}"
        return Source(path, None, {}, (SourceFault("FILE_UNREADABLE", cause, "Give a readable file in UTF-8."),))
    return read_text(text, path)


def read_text(text: str, path: Path) -> Source:
    """Read a document that is already text; `path` only names it."""
    composer = _Composer()
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            composer.take(event)
    except _TooDeep:
        composer.fault("YAML_FEATURE", f"the nesting is deeper than {MAX_DEPTH}", "Write a flatter document.")
    except YAMLError as exc:
        composer.syntax_fault(exc)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as exc:
        # The parser raises what it likes on text that is far from YAML, such as control characters in a tag.
        composer.fault("YAML_SYNTAX", f"the text is not YAML: {exc}", "Correct the syntax.")
    if composer.document_count == 0 and not composer.faults:
        composer.fault("FILE_EMPTY", "the file holds no document", "Write a document or remove the file.")
    return Source(path, composer.value, composer.places, tuple(composer.faults))


class _TooDeep(Exception):
    """The document nests deeper than the limit."""


@dataclass(slots=True)
class _Frame:
    """A mapping or sequence that is being read."""

    value: dict[str, Any] | list[Any]
    pointer: str
    key: str | None = None
    first_lines: dict[str, int] = field(default_factory=dict)


class _Composer:
    """Builds a value from parser events, without recursion."""

    def __init__(self) -> None:
        self.value: JsonValue = None
        self.places: dict[str, tuple[int, int]] = {}
        self.faults: list[SourceFault] = []
        self.document_count = 0
        self._frames: list[_Frame] = []
        self._line, self._column = 1, 1

    def take(self, event: Any) -> None:
        """Take the next event."""
        mark = event.start_mark
        self._line, self._column = mark.line + 1, mark.column + 1
        if isinstance(event, DocumentStartEvent):
            self.document_count += 1
            if self.document_count == 2:
                self.fault("YAML_FEATURE", "the file holds several documents", "Give each document a file of its own.")
        elif self.document_count < 2:
            self._take_node(event)

    def fault(self, code: str, cause: str, remedy: str) -> None:
        """Note a fault at the place of the current event."""
        pointer = self._frames[-1].pointer if self._frames else ""
        self.faults.append(SourceFault(code, cause, remedy, self._line, self._column, pointer))

    def syntax_fault(self, error: YAMLError) -> None:
        """Note what the parser could not read."""
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        if mark is not None:
            self._line, self._column = mark.line + 1, mark.column + 1
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        remedy = "Indent with spaces, not tabs." if "\\t" in repr(problem) else "Correct the syntax."
        self.fault("YAML_SYNTAX", f"the text is not YAML: {problem}", remedy)

    def _take_node(self, event: Any) -> None:
        if isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._frames.pop()
        elif isinstance(event, AliasEvent):
            self.fault("YAML_FEATURE", f"the alias *{event.anchor} is not used here", "Write the value out.")
            self._put(None, is_key_text=False)
        elif isinstance(event, ScalarEvent):
            self._note_features(event)
            self._take_scalar(event)
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            self._note_features(event)
            self._open({} if isinstance(event, MappingStartEvent) else [])

    def _note_features(self, event: Any) -> None:
        if event.anchor is not None:
            self.fault("YAML_FEATURE", f"the anchor &{event.anchor} is not used here", "Write the value out.")
        if getattr(event, "tag", None) is not None:
            self.fault("YAML_FEATURE", f"the tag {event.tag} is not used here", "Remove the tag; quote what is text.")

    def _take_scalar(self, event: Any) -> None:
        is_plain = event.style is None or event.style == ""
        frame = self._frames[-1] if self._frames else None
        if frame is not None and isinstance(frame.value, dict) and frame.key is None:
            self._take_key(frame, event.value)
            return
        value = _plain(event.value) if is_plain else event.value
        if is_plain and _NOT_FINITE.fullmatch(event.value):
            self.fault("YAML_FEATURE", f"{event.value} has no JSON form", "Write a finite number, or quote the text.")
        self._put(value)

    def _take_key(self, frame: _Frame, key: str) -> None:
        here = frame.pointer + pointers.join(key)
        first_line = frame.first_lines.get(key)
        if first_line is not None:
            cause = f"the key {key!r} stands twice, first in line {first_line}"
            self.faults.append(
                SourceFault("DUPLICATE_KEY", cause, "Remove one of the two.", self._line, self._column, here)
            )
        frame.first_lines.setdefault(key, self._line)
        frame.key = key
        self.places.setdefault(here, (self._line, self._column))

    def _open(self, value: dict[str, Any] | list[Any]) -> None:
        if len(self._frames) >= MAX_DEPTH:
            raise _TooDeep
        pointer = self._put(value, is_key_text=False)
        self._frames.append(_Frame(value, pointer))

    def _put(self, value: Any, *, is_key_text: bool = True) -> str:
        """Put a value into the current frame and return its pointer."""
        if not self._frames:
            self.value = value
            self.places[""] = (self._line, self._column)
            return ""
        frame = self._frames[-1]
        if isinstance(frame.value, list):
            pointer = frame.pointer + pointers.join(len(frame.value))
            frame.value.append(value)
            self.places[pointer] = (self._line, self._column)
            return pointer
        if frame.key is None:
            assert not is_key_text
            self.fault("YAML_FEATURE", "a key is not plain text", "Write the key as text.")
            frame.key = ""
            return frame.pointer
        pointer = frame.pointer + pointers.join(frame.key)
        frame.value.setdefault(frame.key, value)
        frame.key = None
        return pointer


_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FRACTION = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,6})?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_MAX_DIGITS: Final = 1000


def _plain(text: str) -> JsonValue:
    """Resolve a scalar without quotes by the core schema of YAML 1.2; numbers keep their exact value."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if len(text) > _MAX_DIGITS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    return Decimal(text) if _FRACTION.fullmatch(text) else text
