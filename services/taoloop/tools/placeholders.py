"""Placeholders in the texts of a contract: `{parameter}`, `{arguments.x}`, `{data.y}` and `{{base.NAME}}`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from taoloop.core.exact_json import JsonValue

_ANY: Final = re.compile(r"\{\{\s*base\.(?P<base>[A-Za-z0-9_-]+)\s*\}\}|\{(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)\}")
_WHOLE: Final = re.compile(r"\{(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)\}")


def names(text: str) -> tuple[str, ...]:
    """Return the names between single braces, in order, repeats included.

    >>> names("{{base.orders}}/orders/{order_id}/{part}")
    ('order_id', 'part')
    """
    return tuple(found["name"] for found in _ANY.finditer(text) if found["name"])


def bases(text: str) -> tuple[str, ...]:
    """Return the names of the bases, in order, repeats included."""
    return tuple(found["base"] for found in _ANY.finditer(text) if found["base"])


def whole(text: str) -> str | None:
    """Return the name if the text is nothing but one placeholder, else None."""
    found = _WHOLE.fullmatch(text)
    return found["name"] if found else None


def leftovers(text: str) -> bool:
    """Tell whether braces remain once every placeholder is taken out: most likely a misspelt one."""
    rest = _ANY.sub("", text)
    return "{" in rest or "}" in rest


def texts(value: JsonValue, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text inside a JSON value with its pointer."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from texts(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
