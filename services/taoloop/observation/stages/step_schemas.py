"""The output schemas of steps: compiled once each, within bounds, since a model may have written them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from taoloop.core.exact_json import JsonEncodeError, JsonValue, dumps
from taoloop.observation.stages.consistency import unreadable_expectation
from taoloop.observation.stages.model import Flaw
from taoloop.tools.schema_refusals import SchemaRefused, subschemas
from taoloop.tools.schemas import CompiledSchema

MAX_CHARACTERS: Final = 32 * 1024
"""Longest schema of a step; a longer one is not compiled."""

MAX_PATTERNS: Final = 32
"""Most patterns in the schema of a step; one may take a megabyte when it is compiled."""

MAX_CAUSE_CHARACTERS: Final = 300
"""More of the reasons why a schema is refused is not said."""

MAX_KEPT: Final = 256
"""Most schemas that are kept, each pattern in them counting as one more; the one unused for longest goes first."""


class StepSchemas:
    """Compiled schemas of steps; threads may share them."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[CompiledSchema | Flaw, int]] = OrderedDict()
        self._kept = 0
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<StepSchemas [{len(self._known)} schemas, {self._kept} of {MAX_KEPT}]>"

    def of(self, schema: JsonValue) -> CompiledSchema | Flaw:
        """Return the schema compiled, or the flaw of one that cannot be used: then nothing is as expected."""
        try:
            key = dumps(schema)
        except JsonEncodeError:
            return unreadable_expectation("The step's output schema is no JSON.")
        if len(key) > MAX_CHARACTERS:
            message = f"The step's output schema has {len(key)} characters, more than {MAX_CHARACTERS}."
            return unreadable_expectation(message)
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                return known[0]
        patterns = _count_patterns(schema)
        compiled = _compiled(schema, patterns)  # outside the lock: it may take long
        with self._lock:
            self._keep(key, compiled, 1 + patterns)
        return compiled

    def _keep(self, key: str, compiled: CompiledSchema | Flaw, weight: int) -> None:
        if key in self._known:
            return
        self._known[key] = (compiled, weight)
        self._kept += weight
        while self._kept > MAX_KEPT and len(self._known) > 1:
            self._kept -= self._known.popitem(last=False)[1][1]


def _compiled(schema: JsonValue, patterns: int) -> CompiledSchema | Flaw:
    if patterns > MAX_PATTERNS:
        return unreadable_expectation(f"The step's output schema has {patterns} patterns, more than {MAX_PATTERNS}.")
    try:
        return CompiledSchema.compile(schema)
    except SchemaRefused as refused:
        cause = str(refused)[:MAX_CAUSE_CHARACTERS]  # it quotes the schema
        return unreadable_expectation(f"The step's output schema cannot be used: {cause}.")


def _count_patterns(schema: JsonValue) -> int:
    count = 0
    for _, node in subschemas(schema):
        named = node.get("patternProperties")
        count += ("pattern" in node) + (len(named) if isinstance(named, Mapping) else 0)
    return count
