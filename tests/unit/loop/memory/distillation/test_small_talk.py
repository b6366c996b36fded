"""Greetings and thanks ask for nothing; whatever may ask or decide something is kept."""

from __future__ import annotations

import pytest

from taoloop.loop.memory.distillation.small_talk import SMALL_TALK, has_action_intent


@pytest.mark.parametrize(
    "text",
    [
        "你好", "您好！", "你好呀～", "谢谢", "谢谢你！！", "好的，谢谢", "嗯嗯 谢谢啦", "在吗？",
        "早上好，客服", "辛苦了，再见👋", "哈哈哈哈", "謝謝您",
        "Hi", "hello there!", "Thanks a lot :)", "ok, thank you so much", "Good morning, team", "bye", "great, thanks!",
        "Thank you for your help.", "how’s it going", "hi 你好", "", "   ", "👍", "...",
    ],
)  # fmt: skip
def test_small_talk_asks_for_nothing(text: str) -> None:
    assert not has_action_intent(text)


@pytest.mark.parametrize(
    "text",
    [
        "那3月呢？", "查一下我的订单", "你好，帮我订会议室", "好的", "可以", "不用了，取消吧", "谢谢，再查一下4月的",
        "上海", "12345",
        "yes", "ok", "no", "cancel it", "hi, where is my order", "thanks, and the other one?", "hire a car",
        "thankless tasks report", "hello world program", "A-17", "and March?", "早餐", "好人卡",
    ],
)  # fmt: skip
def test_what_may_ask_or_decide_something_is_kept(text: str) -> None:
    assert has_action_intent(text)


def test_every_listed_word_by_itself_is_small_talk() -> None:
    assert [word for words in SMALL_TALK.values() for word in words if has_action_intent(word)] == []


def test_a_long_turn_is_read_in_no_time() -> None:
    assert has_action_intent("谢谢" * 100_000)
    assert not has_action_intent("谢谢" * 40)
