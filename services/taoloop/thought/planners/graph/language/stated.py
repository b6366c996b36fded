"""Values that the request gives under a name of their own, such as `姓名是李静` and `title: Quiet machines`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind

_MAX_VALUE: Final = 60
_CHINESE_ANCHOR = re.compile(
    r"(?:[:：]|(?:设置|设定|设|定|改|填写|选择|选)[为成]|叫做|名叫|(?<![因作成认行])为(?![了什何])|(?<![但还就而可只要都])是(?!否|不是|的))"
)
_CHINESE_LABEL = re.compile(r"[A-Za-z_\u4e00-\u9fff]{1,12}$")
_CHINESE_VALUE = re.compile(rf"[^，。；、,;！？!?\n：:]{{1,{_MAX_VALUE}}}")
_ENGLISH_ANCHOR = re.compile(r"(?<=[A-Za-z])\s?(?:[:=]\s?|\s(?:is|as)\s)")
_ENGLISH_LABEL = re.compile(r"[A-Za-z_]+(?: [A-Za-z_]+){0,3}$")
_ENGLISH_VALUE = re.compile(
    rf"[^,;.!?\n]{{1,{_MAX_VALUE}}}?(?=$|[,;!?\n]|\.(?:\s|$)|\s(?:and|with|for|but|then|to|from)\s)"
)
_OPENING_MARKS: Final = "\"'“‘「『《 \t"
_CLOSING_MARKS: Final = "\"'”’」』》 \t"


def stated_values(text: str, *, is_chinese: bool) -> Iterator[Mention]:
    """Yield each value that stands right after its name and a mark or word that says so; `label` is the name."""
    anchor, label_of, value_of = (
        (_CHINESE_ANCHOR, _CHINESE_LABEL, _CHINESE_VALUE)
        if is_chinese
        else (_ENGLISH_ANCHOR, _ENGLISH_LABEL, _ENGLISH_VALUE)
    )
    for match in anchor.finditer(text):
        label = label_of.search(text, max(0, match.start() - 40), match.start())
        value = value_of.match(text, match.end())
        if label is None or value is None:
            continue
        start, end = _bare(text, *value.span())
        if start < end:
            yield Mention(MentionKind.STATED, start, end, text[start:end], label=label[0])


def _bare(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out marks and blanks around a value."""
    while start < end and text[start] in _OPENING_MARKS:
        start += 1
    while end > start and text[end - 1] in _CLOSING_MARKS:
        end -= 1
    return start, end
