"""Texts on their way into a prompt."""

from __future__ import annotations

from taoloop.core.untrusted_text import CLOSE_MARKER, OPEN_MARKER, wrap_untrusted
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said


def _wrapped(case_input: CaseInput) -> Said:
    """Wrap a text in which OPEN and CLOSE stand for the markers, as an attacker saw them around such a text before."""
    opening, *_, closing = wrap_untrusted(case_input["text"]).splitlines()
    wrapped = wrap_untrusted(case_input["text"].replace("OPEN", opening).replace("CLOSE", closing))
    return {
        "open_markers": wrapped.count(OPEN_MARKER),
        "close_markers": wrapped.count(CLOSE_MARKER),
        "close_is_last": wrapped.splitlines()[-1].startswith(CLOSE_MARKER),
    }


WRAP_UNTRUSTED = Adapter(feed=_wrapped, required=("text",))
