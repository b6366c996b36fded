"""Lists of plain words in a text, such as `rice, beans and corn` and `苹果、香蕉和梨`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_CHINESE_ITEM: Final = r"[^，。；、：:,;!！?？\n\s“”\"《》（）()]{1,15}"
_CHINESE_LIST = re.compile(rf"{_CHINESE_ITEM}(?:、{_CHINESE_ITEM})+")
_CHINESE_PAIR = re.compile(
    rf"(?:为|是|：|关于|包括|包含|注册|比较|对比|学习|分析|购买|添加|订阅|推荐|查询)(?P<one>{_CHINESE_ITEM}?)(?:和|与|以及)(?P<two>{_CHINESE_ITEM}?)(?=[的，。,两这等]|$|课程|新闻|地区)"
)
_CHINESE_LAST = re.compile(r"(?:和|与|以及|及|还有)")
_CHINESE_OPENING = re.compile(
    r".*(?:想种|种植|想要|喜欢|感兴趣的?|要求|会|需要|吃|买|包括|包含|分别是|分别为|有|为|是|含|关于|把|将|对|从|在|给|：|查询|比较|分析|搜索|查找|添加|推荐|计算)"
)
_CHINESE_CLOSING = re.compile(r"(?:的|等|这|[三两四五几](?=[个门种位款家只项类部]|大)|进行|作为|之间|各).*$")

_ENGLISH_ITEM: Final = r"[A-Za-z][A-Za-z0-9'&-]{0,39}(?: [A-Za-z0-9][A-Za-z0-9'&-]{0,39}){0,3}"
"""Words, and the items of a list, are bounded: else the search goes from each letter to the end of a hostile text."""
_ENGLISH_LIST = re.compile(
    rf"(?P<items>{_ENGLISH_ITEM}(?:, {_ENGLISH_ITEM}){{1,50}}),? (?:and|or|&) (?P<last>{_ENGLISH_ITEM})"
    rf"|(?P<one>{_ENGLISH_ITEM}) (?:and|&) (?P<two>{_ENGLISH_ITEM})"
)
_ENGLISH_OPENING = re.compile(
    r".*\b(?:including|include|includes|like|such as|are|is|of|with|for|on|in|about|to|from|the|have|has|had|using"
    r"|between|by|containing|my|these|named|called|at)\s",
    re.IGNORECASE,
)
_ENGLISH_CLOSING = re.compile(
    r"\s(?:for|in|on|at|to|from|with|of|by|as|is|are|into|using|that|which|and|who|during|over|under|if|via|please)\s.*$"
    r"|\s(?:for|in|on|at|to|from|with|of|by|as|please|respectively)$",
    re.IGNORECASE,
)

Listing = list[tuple[int, int]]
"""Start and end of each item."""


def word_lists(text: str, *, is_chinese: bool) -> Iterator[Listing]:
    """Yield the lists of plain words of a text, each as the places of its items."""
    if is_chinese:
        yield from _chinese(text)
        yield from _chinese_pairs(text)
    else:
        yield from _english(text)


def _chinese(text: str) -> Iterator[Listing]:
    for match in _CHINESE_LIST.finditer(text):
        items: Listing = []
        place = match.start()
        for part in match[0].split("、"):
            items.append((place, place + len(part)))
            place += len(part) + 1
        start, end = items.pop()
        last = _CHINESE_LAST.search(text, start, end)
        if last is not None and _CHINESE_CLOSING.match(text[last.end() : end] or "的"):
            last = None  # such as the 和 of 碳中和的
        tail = [(start, end)] if last is None else [(start, last.start()), (last.end(), end)]
        items.extend(tail)
        yield from _trimmed(text, items, _CHINESE_OPENING, _CHINESE_CLOSING)


def _chinese_pairs(text: str) -> Iterator[Listing]:
    for match in _CHINESE_PAIR.finditer(text):
        yield [match.span("one"), match.span("two")]


def _english(text: str) -> Iterator[Listing]:
    for match in _ENGLISH_LIST.finditer(text):
        if match["items"] is None:
            items = [match.span("one"), match.span("two")]
        else:
            items, place = [], match.start("items")
            for part in match["items"].split(", "):
                items.append((place, place + len(part)))
                place += len(part) + 2
            items.append(match.span("last"))
        yield from _trimmed(text, items, _ENGLISH_OPENING, _ENGLISH_CLOSING)


def _trimmed(text: str, items: Listing, opening: re.Pattern[str], closing: re.Pattern[str]) -> Iterator[Listing]:
    """Take what leads to the list off its first item, and what goes on after it off its last one."""
    start, end = items[0]
    lead = opening.match(text[start:end])
    if lead is not None and lead.end() < end - start:
        items[0] = start + lead.end(), end
    start, end = items[-1]
    tail = closing.search(text[start:end])
    if tail is not None and tail.start() > 0:
        items[-1] = start, start + tail.start()
    if len(items) > 1 and all(text[start:end].strip() for start, end in items):
        yield items
