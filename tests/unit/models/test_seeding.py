"""Seeds for requests that sample."""

from dataclasses import replace

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.models.ports import ChatMessage, ChatRequest, Role
from taoloop.models.profiles import ModelProfile
from taoloop.models.seeding import SeededChatModel
from taoloop.testing.chat.scripted_model import ScriptedChatModel
from taoloop.testing.clock import FakeClock

REQUEST = ChatRequest(messages=(ChatMessage(Role.USER, "hello"),), max_tokens=10, temperature=0.7)


@pytest.mark.parametrize(
    ("request_sent", "takes_seed", "seed"),
    [
        (REQUEST, True, 42),
        (replace(REQUEST, seed=7), True, 7),
        (replace(REQUEST, temperature=0.0), True, None),
        (REQUEST, False, None),
    ],
)
async def test_a_request_that_samples_has_a_seed_where_the_server_takes_one(
    request_sent: ChatRequest, takes_seed: bool, seed: int | None
) -> None:
    inner = ScriptedChatModel(["hi"], ModelProfile(takes_seed=takes_seed))
    reply = await SeededChatModel(inner, lambda: 42).complete(request_sent, Deadline.after(1.0, FakeClock()))
    assert (inner.requests[0].seed, reply.seed) == (seed, seed)
