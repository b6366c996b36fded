"""What `GET /models` says of a model: that it is there, and how long its context is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import JsonSyntaxError, JsonValue, loads

_CONTEXT_FIELDS: Final = ("max_model_len", "context_length", "context_window", "n_ctx")
"""What servers call it: vLLM and SGLang, gateways, hosted services, llama.cpp (in `meta`)."""

_MOST_NAMES: Final = 5


@dataclass(frozen=True, slots=True)
class Listing:
    """The models of a server.

    Attributes:
        names: Their ids, in its order.
        context_tokens: Of the one that was looked for; None where the server does not say.
    """

    names: tuple[str, ...]
    context_tokens: int | None = None

    @property
    def some_names(self) -> str:
        """The first names, for an operator."""
        shown = ", ".join(repr(name[:100]) for name in self.names[:_MOST_NAMES])
        return f"{shown}, …" if len(self.names) > _MOST_NAMES else shown or "none"


def read_listing(body: bytes, model: str) -> Listing | None:
    """Read the list; None where it has another form, which says nothing about the model."""
    try:
        answer = loads(body, max_bytes=len(body))
    except JsonSyntaxError:
        return None
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list):
        return None
    entries = {name: one for one in data if isinstance(one, dict) and isinstance(name := one.get("id"), str)}
    return Listing(tuple(entries), _context(entries.get(model)))


def _context(entry: dict[str, JsonValue] | None) -> int | None:
    meta = entry.get("meta") if entry else None
    for members in (entry or {}, meta if isinstance(meta, dict) else {}):
        for field in _CONTEXT_FIELDS:
            value = members.get(field)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
    return None
