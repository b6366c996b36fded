"""A run that a host drives."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from taoloop.core.errors import TaoError
from taoloop.loop.ports import RunKey
from taoloop.loop.runlog.writer import RunWriter


@dataclass(eq=False, slots=True)
class OpenRun:
    """A run that this host drives."""

    writer: RunWriter
    work: asyncio.Task[None]
    failure: TaoError | None = None
    """Why it was given up without an end in the log."""

    @property
    def key(self) -> RunKey:
        """Name the run among those of all tenants."""
        return RunKey(self.writer.tenant, self.writer.state.run_id)

    def give_up(self, why: TaoError) -> None:
        """Stop driving without a word in the log: the run is, or will be, another host's."""
        if self.failure is None:
            self.failure = why
        self.writer.seal()
        self.work.cancel()
