"""Prompts are counted where that is possible, and reckoned ever better where it is not."""

from __future__ import annotations

from collections.abc import Sequence

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.models.ports import ChatMessage, Role
from taoloop.thought.budgets.counting import PromptLengths

PROMPT = (ChatMessage(Role.USER, "where is my parcel"),)


class Counter:
    def __init__(self, answer: int | None) -> None:
        self.answer = answer

    async def count(self, messages: Sequence[ChatMessage], deadline: Deadline) -> int | None:
        return self.answer


async def length(lengths: PromptLengths, model: str = "small", estimate: int = 100) -> int:
    return await lengths.tokens(model, PROMPT, estimate, Deadline.after(1.0, SystemClock()))


async def test_the_count_of_the_server_is_the_length() -> None:
    assert await length(PromptLengths({"small": Counter(137)})) == 137


async def test_without_a_count_the_reckoning_follows_what_servers_counted() -> None:
    lengths = PromptLengths({"small": Counter(None)})
    assert await length(lengths) == 100
    for _ in range(10):
        lengths.learn("small", 100, 130)
    assert await length(lengths, estimate=200) == 260
    assert await length(lengths, model="large") == 100


async def test_a_server_that_tells_no_tokens_teaches_nothing() -> None:
    lengths = PromptLengths()
    lengths.learn("small", 100, 0)
    assert await length(lengths) == 100


async def test_a_prompt_has_at_least_one_token() -> None:
    lengths = PromptLengths()
    lengths.learn("small", 1000, 1)
    assert await length(lengths, estimate=1) == 1
