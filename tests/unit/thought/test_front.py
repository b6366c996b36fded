"""The front takes conversations as they are stored: clean, or not at all."""

from __future__ import annotations

import pytest

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import InvalidRequest
from taoloop.plan.task import Role, Turn
from taoloop.plan.thinking import ThinkRequest
from taoloop.testing.clock import FakeClock
from taoloop.testing.job_queue import InMemoryJobQueue
from taoloop.thought.front import ThoughtFront


async def test_a_conversation_with_marks_that_nobody_sees_is_refused_before_the_queue() -> None:
    clock = FakeClock()
    queue = InMemoryJobQueue(clock)
    turns = (Turn(role=Role.USER, text="fine"), Turn(role=Role.USER, text="A\u200b-17\u202e"))
    call = CallContext(tenant="t", deadline=Deadline.after(1.0, clock))

    with pytest.raises(InvalidRequest) as caught:
        await ThoughtFront(queue).think(ThinkRequest(run_id="0" * 32, iteration=1, turns=turns), call)

    assert [violation.field for violation in caught.value.violations] == ["turns[1].text"]
    assert "1 zero_width, 1 bidirectional" in str(caught.value)
    assert (await queue.state()).length == 0
