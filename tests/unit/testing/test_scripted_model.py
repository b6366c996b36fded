"""The chat model in process keeps the port's promises."""

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.models.ports import ChatMessage, ChatReply, ChatRequest, ModelFailed, ModelFailureKind, Role
from taoloop.testing.chat.scripted_model import ScriptedChatModel
from taoloop.testing.clock import FakeClock

REQUEST = ChatRequest(messages=(ChatMessage(Role.USER, "hello"),), max_tokens=10, seed=3)


async def test_the_script_is_played_and_its_end_repeated() -> None:
    late = ModelFailed(ModelFailureKind.TIMEOUT, "late")
    model = ScriptedChatModel(["one", late, ChatReply(text="two")])
    deadline = Deadline.after(1.0, FakeClock())
    assert await model.complete(REQUEST, deadline) == ChatReply(text="one", finish_reason="stop", seed=3)
    with pytest.raises(ModelFailed):
        await model.complete(REQUEST, deadline)
    assert [(await model.complete(REQUEST, deadline)).text for _ in range(2)] == ["two", "two"]
    assert model.requests == [REQUEST] * 4


async def test_nothing_is_asked_when_no_time_is_left() -> None:
    model = ScriptedChatModel(["one"])
    with pytest.raises(ModelFailed) as failed:
        await model.complete(REQUEST, Deadline.after(0.0, FakeClock()))
    assert failed.value.kind is ModelFailureKind.TIMEOUT
    assert not model.requests


def test_a_script_needs_a_reply() -> None:
    with pytest.raises(ValueError, match="needs a reply"):
        ScriptedChatModel([])
