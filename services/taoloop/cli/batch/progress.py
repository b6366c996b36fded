"""How far a long command has come, on standard error: one line that changes on a terminal, else one now and then."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Final, Self

from taoloop.core.clock import Clock

_TERMINAL_SECONDS: Final = 0.2
_PIPE_SECONDS: Final = 10.0


class Progress:
    """Counts items against the bytes of the input; short work shows nothing.

    Args:
        done: What was done to an item, such as `replayed`.
        total_bytes: Of all the input; 0 when that is not known.
        clock: Says when it is time to tell.
    """

    def __init__(self, done: str, total_bytes: int, clock: Clock) -> None:
        self._clock = clock
        self._done = done
        self._total_bytes = total_bytes
        self._is_terminal = sys.stderr.isatty()
        self._every_seconds = _TERMINAL_SECONDS if self._is_terminal else _PIPE_SECONDS
        self._next = self._clock.monotonic() + self._every_seconds
        self._count = 0
        self._is_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_terminal and self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def advance(self, end_bytes: int) -> None:
        """Count one item.

        Args:
            end_bytes: How much of the input was read with it.
        """
        self._count += 1
        if self._clock.monotonic() >= self._next:
            self._next = self._clock.monotonic() + self._every_seconds
            self._tell(end_bytes)

    def _tell(self, end_bytes: int) -> None:
        share = f" ({100 * end_bytes // self._total_bytes} %)" if self._total_bytes else ""
        line = f"{self._done} {self._count}{share}"
        sys.stderr.write(f"\r\x1b[K{line}" if self._is_terminal else line + "\n")
        sys.stderr.flush()
        self._is_shown = True
