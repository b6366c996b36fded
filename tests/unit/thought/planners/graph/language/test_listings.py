"""Lists of plain words."""

import pytest

from taoloop.thought.planners.graph.language.listings import word_lists


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a salad with rice, beans and corn", ["rice", "beans", "corn"]),
        ("maps of rivers and lakes for children", ["rivers", "lakes"]),
        ("没有列表", []),
        ("想种玫瑰、竹子和绣球", ["玫瑰", "竹子", "绣球"]),
        ("参会人有张三、李四和王五", ["张三", "李四", "王五"]),
        ("比较苹果和梨的价格", ["苹果", "梨"]),
    ],
)
def test_the_items_of_a_list_stand_without_what_leads_to_it(text: str, items: list[str]) -> None:
    found = list(word_lists(text, is_chinese=not text.isascii()))
    assert [text[start:end] for start, end in (found[0] if found else [])] == items
