"""JSON values written as YAML that a person likes to read and edit, and that reads back as the same values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from taoloop.core import exact_json

_LINE: Final = 110
"""Longest flow collection, with its indentation, in characters."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./()-]*(?: [A-Za-z0-9_./()-]+)*|[0-9]+(?:ms|s|m|h|d)")
_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.-]*")
_READ_OTHERWISE: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
# What YAML does not take as it is: control characters, and the marks that some editors hide.
_HIDDEN = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def yaml_text(value: Mapping[str, Any], *, comments: tuple[str, ...] = ()) -> str:
    """Return the text of a document.

    Args:
        value: JSON values; keys keep their order.
        comments: Lines that stand before it; an empty one separates.
    """
    lines = [f"# {_CONTROL.sub(' ', line)}".rstrip() for text in comments for line in (text.splitlines() or [""])]
    return "\n".join([*lines, *(_block(value, 0) if value else ["{}"])]) + "\n"


def _block(value: Mapping[str, Any], depth: int) -> Iterator[str]:
    for key, member in value.items():
        yield from _entry(f"{'  ' * depth}{_key(key)}:", member, depth)


def _entry(head: str, value: Any, depth: int) -> Iterator[str]:
    """Yield one member of a mapping, on the line of its key if it fits there."""
    flow = _flow(value)
    if not value or not isinstance(value, Mapping | list | tuple) or len(head) + 1 + len(flow) <= _LINE:
        yield f"{head} {flow}"
    elif isinstance(value, Mapping):
        yield head
        yield from _block(value, depth + 1)
    else:
        yield head
        for item in value:
            yield from _item(item, depth + 1)


def _item(value: Any, depth: int) -> Iterator[str]:
    pad = "  " * depth
    flow = _flow(value)
    if not value or not isinstance(value, Mapping) or len(pad) + 2 + len(flow) <= _LINE:
        # A list of lists stays on its line, however long: no contract has one that people read.
        yield f"{pad}- {flow}"
        return
    lines = list(_block(value, depth + 1))
    yield f"{pad}- {lines[0].strip()}"
    yield from lines[1:]


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {_flow(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _text(value) if isinstance(value, str) else exact_json.dumps(value)


def _key(text: str) -> str:
    return text if _PLAIN_KEY.fullmatch(text) and text.lower() not in _READ_OTHERWISE else _quoted(text)


def _text(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and text.lower() not in _READ_OTHERWISE else _quoted(text)


def _quoted(text: str) -> str:
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", exact_json.dumps(text))
