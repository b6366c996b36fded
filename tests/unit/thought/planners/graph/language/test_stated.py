"""Values that stand under their own name."""

import pytest

from taoloop.thought.planners.graph.language.stated import stated_values


@pytest.mark.parametrize(
    ("text", "label", "value"),
    [
        ("title: Quiet machines", "title", "Quiet machines"),
        ("姓名是李静，电话不详", "姓名", "李静"),
        ("颜色设置为蓝色。", "颜色", "蓝色"),
    ],
)
def test_a_value_stands_after_its_name_and_a_mark(text: str, label: str, value: str) -> None:
    found = list(stated_values(text, is_chinese=not text.isascii()))
    assert [(mention.label, mention.text) for mention in found] == [(label, value)]


def test_a_name_alone_states_nothing() -> None:
    assert list(stated_values("the title of a book", is_chinese=False)) == []
