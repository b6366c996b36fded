"""What the loop knows of the tools: the executor's list, kept for a few seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.exact_json import JsonValue
from taoloop.loop.ports import ActionPort
from taoloop.plan.acting import ToolSummary
from taoloop.plan.task import ToolAvailability
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Effect

_NO_ARGUMENTS: Final[dict[str, JsonValue]] = {"type": "object", "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class KnownTools:
    """The tools of one catalogue, as the executor listed them."""

    catalogue_digest: str
    by_name: Mapping[str, ToolSummary]
    _schemas: dict[str, CompiledSchema] = field(default_factory=dict, repr=False, compare=False)

    def parameters(self, tool: str) -> CompiledSchema:
        """Return the compiled schema of a tool's arguments; one that is not listed takes none."""
        if tool not in self._schemas:
            summary = self.by_name.get(tool)
            listed = summary.parameters if summary is not None else None
            self._schemas[tool] = CompiledSchema.compile(listed if isinstance(listed, dict) else _NO_ARGUMENTS)
        return self._schemas[tool]

    def unavailable(self) -> tuple[ToolAvailability, ...]:
        """Return the tools that must not be planned with at present."""
        listed = (tool.availability for tool in self.by_name.values())
        return tuple(entry for entry in listed if entry is not None and not entry.available)


class ToolDirectory:
    """Reads the executor's list when the one at hand is older than `max_age_seconds`."""

    def __init__(self, action: ActionPort, clock: Clock, max_age_seconds: float) -> None:
        self._action = action
        self._clock = clock
        self._max_age_seconds = max_age_seconds
        self._known: KnownTools | None = None
        self._read_at = 0.0
        self._one_reader = asyncio.Lock()

    async def tools(self, call: CallContext) -> KnownTools:
        """Return the tools.

        Raises:
            TaoError: The executor does not answer and no list is at hand.
        """
        async with self._one_reader:
            if self._known is None or self._clock.monotonic() - self._read_at > self._max_age_seconds:
                listing = await self._action.list_tools(call)
                self._known = KnownTools(listing.catalogue_digest, {tool.name: tool for tool in listing.tools})
                self._read_at = self._clock.monotonic()
            return self._known

    def is_read(self, tool: str) -> bool:
        """Tell whether a tool is known to change nothing, by the list at hand."""
        known = self._known.by_name.get(tool) if self._known is not None else None
        return known is not None and known.effect is Effect.READ

    def forget(self) -> None:
        """Read the list anew next time: it was found to be out of date."""
        self._known = None
