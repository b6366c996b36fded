"""What is found while arguments are fetched and checked."""

from __future__ import annotations

from typing import Final

from taoloop.core.faults.sentences import Sentences

CODES: Final = {
    "UNRESOLVED_REFERENCE": Sentences(
        "The place that a binding points at holds nothing.",
        "Point at a place that has a value, or ask the user.",
    ),
    "VALUE_MISMATCH": Sentences(
        "The value found is not the one that the planner expected.",
        "Point at the right place, or expect the value that stands there.",
    ),
    "INVALID_PARAMETER": Sentences(
        "An argument breaks the tool's parameter schema.",
        "Give a value that the schema accepts.",
    ),
    "CONVERSION_REFUSED": Sentences(
        "A value cannot be converted without guessing.",
        "Choose one of the candidates, or ask the user.",
    ),
}
