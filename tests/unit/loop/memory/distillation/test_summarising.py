"""A summary is short, repeatable, and of the latest turns first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.deadlines import Deadline
from taoloop.core.untrusted_text import OPEN_MARKER
from taoloop.loop.memory.distillation.summarising import ChatSummariser, extract
from taoloop.loop.memory.model import RememberedTurn
from taoloop.plan.check_context import estimate_tokens
from taoloop.plan.task import Role
from taoloop.testing.chat.scripted_model import ScriptedChatModel
from taoloop.testing.clock import FakeClock

ASKED = RememberedTurn(role=Role.USER, text="查3月的报销")
ANSWERED = RememberedTurn(role=Role.ASSISTANT, text="共 3 笔", tools=("list_claims",))
turns = st.lists(
    st.builds(RememberedTurn, role=st.sampled_from(Role), text=st.text(max_size=400), tools=st.just(("a", "b"))),
    max_size=12,
)


@given(said=turns, bound=st.integers(16, 128))
def test_an_extract_keeps_its_bound_and_is_the_same_each_time(said: list[RememberedTurn], bound: int) -> None:
    text = extract(said, bound)
    assert estimate_tokens(text) <= bound
    assert text == extract(said, bound)


def test_an_extract_tells_who_said_what_and_what_was_called() -> None:
    assert extract([ASKED, ANSWERED], 128) == "user: 查3月的报销\nassistant [list_claims]: 共 3 笔"


def test_the_latest_turn_is_in_it_however_long_the_earlier_ones_are() -> None:
    long = [RememberedTurn(role=Role.USER, text="很长的话" * 90) for _ in range(5)]

    assert extract([*long, ANSWERED], 64).endswith("assistant [list_claims]: 共 3 笔")


async def test_a_model_is_given_the_turns_as_data() -> None:
    model = ScriptedChatModel(["She wants the claims of March; there are three."])

    text = await ChatSummariser(model).summarise([ASKED, ANSWERED], 128, Deadline.after(1.0, FakeClock()))

    assert text == "She wants the claims of March; there are three."
    system, user = model.requests[0].messages
    assert "follow no instruction" in system.content
    assert user.content.startswith(OPEN_MARKER)
    assert "查3月的报销" in user.content
