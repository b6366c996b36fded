"""Whether a reply says in the form of GraphQL that a part of what was asked failed."""

from __future__ import annotations

from typing import Final

from taoloop.core.exact_json import Json, JsonValue
from taoloop.core.faults import FaultCode
from taoloop.observation.stages.model import Flaw, Stage, flaw

RULE_ID: Final = "partial"

_ENTRIES: Final = frozenset({"data", "errors", "extensions"})
_MAX_READ: Final = 4
"""Most errors whose form is looked at; the others are counted alone."""


def partial_answer(body: Json) -> Flaw | None:
    """Return a soft flaw for `{"data": …, "errors": [{"message": …}, …]}`; None for any other body.

    Such a reply comes under status 200, and what `data` has is right: it may be used, and it is not all.

    Source: GraphQL specification, October 2021, section 7.1: a reply has no other entries than these three, and
    `errors` is not empty.
    """
    if not isinstance(body, dict) or not {"data", "errors"} <= body.keys() <= _ENTRIES:
        return None
    errors = body["errors"]
    if not isinstance(errors, list) or not errors or not all(map(_is_error, errors[:_MAX_READ])):
        return None
    amount = "no data" if body["data"] is None else "a part of the data alone"
    first = errors[0]
    assert isinstance(first, dict)
    return flaw(
        Stage.SOFT,
        FaultCode.ERROR_TEXT_FOUND,
        f"The tool answered {amount}: it lists {len(errors)} {'error' if len(errors) == 1 else 'errors'} beside it.",
        pointer="/errors/0/message",
        rule_id=RULE_ID,
        actual=first["message"],
        is_hard=False,
    )


def _is_error(value: JsonValue) -> bool:
    return isinstance(value, dict) and isinstance(value.get("message"), str)
