"""Reasoning in words becomes the five fields of a thought, in both languages."""

from __future__ import annotations

import doctest

from taoloop.plan.model import Reasoning
from taoloop.thought.parsing import reasoning
from taoloop.thought.parsing.reasoning import MAX_FIELD_CHARACTERS, reasoning_of


def test_the_labels_of_both_languages_are_read() -> None:
    english = "Known: order A-17; it is paid\nGap: the address\nTool: get_order\nWhy: it knows\nExpected: a status"
    chinese = (
        "当前已知：[订单 A-17]；[已付款]\n信息缺口：无\n选择工具：get_order\n选择理由：可查状态\n预期获得：订单状态"
    )

    assert reasoning_of([english]) == Reasoning(
        known=("order A-17", "it is paid"), gap=("the address",), tool="get_order", why="it knows", expected="a status"
    )
    assert reasoning_of([chinese]) == Reasoning(
        known=("订单 A-17", "已付款"), gap=(), tool="get_order", why="可查状态", expected="订单状态"
    )


def test_words_without_a_label_say_why() -> None:
    assert reasoning_of(["By rule 3.2 receipts are needed.", "So: look it up."]).why == (
        "By rule 3.2 receipts are needed. So: look it up."
    )


def test_long_reasoning_is_cut() -> None:
    assert len(reasoning_of(["x" * 10_000]).why) == MAX_FIELD_CHARACTERS


def test_the_examples_hold() -> None:
    assert doctest.testmod(reasoning).failed == 0
