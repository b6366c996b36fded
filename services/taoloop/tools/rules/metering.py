"""How much text one evaluation may hand to the custom operators, which the engine's own budget does not count."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from taoloop.tools.rules.coercion import TOO_MUCH_TEXT, Uncomputable

MAX_OPERAND_CHARACTERS: Final = 4 * 1024 * 1024
"""Most characters of JSON that one evaluation may hand to custom operators: four times the largest body."""


class TextMeter(threading.local):
    """Counts the text of the evaluation that runs in this thread; the engine calls back in the calling one."""

    def __init__(self) -> None:
        self._left = MAX_OPERAND_CHARACTERS

    def start(self) -> None:
        """Begin an evaluation."""
        self._left = MAX_OPERAND_CHARACTERS

    def metered(self, operator: Callable[[str], str]) -> Callable[[str], str]:
        """Return the operator that counts its operands and refuses when the limit is reached."""

        def counting(operands_json: str) -> str:
            self._left -= len(operands_json)
            if self._left < 0:
                raise Uncomputable(TOO_MUCH_TEXT)
            return operator(operands_json)

        return counting
