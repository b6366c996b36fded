"""The request and the response that cross the queue: about a kilobyte each, as the bare round trip carries."""

from __future__ import annotations

from typing import Final

from taoloop.plan.task import Role, Turn
from taoloop.plan.thinking import Refusal, RefusalReason, ThinkRequest, ThinkResponse

WORDS: Final = "Where is parcel PX-204881, and when will it arrive? " * 18
REQUEST: Final = ThinkRequest(run_id="r", iteration=1, turns=(Turn(role=Role.USER, text=WORDS),))
RESPONSE: Final = ThinkResponse(outcome=Refusal(reason=RefusalReason.NO_TOOL, message=WORDS), iteration=1)
