"""Truth values in words."""

from __future__ import annotations

from typing import Final

from taoloop.values.folding import fold
from taoloop.values.refusals import unreadable

_WORDS: Final = {"true": True, "yes": True, "是": True, "false": False, "no": False, "否": False}


def parse_boolean(text: str) -> bool:
    """Read `true`, `yes`, `是`, `false`, `no` or `否`, in any letter case and width.

    Digits and `on`/`off` are refused: they are values of other kinds at least as often.

    Raises:
        ValueRefused: UNREADABLE for every other text.
    """
    try:
        return _WORDS[fold(text)]
    except KeyError:
        raise unreadable("a truth value") from None
