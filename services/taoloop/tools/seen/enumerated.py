"""Whether the texts at a place are values of a small closed set, or free text, names and ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

MIN_TEXTS: Final = 4
"""Fewer texts show no closed set."""

MAX_VALUES: Final = 12
"""More different texts are no small set."""

_TEXTS_PER_VALUE: Final = 2

# A code in ASCII with at most three digits, or a short Chinese word: no blanks, so no prose and no date.
_CODE: Final = re.compile(r"(?!(?:[^0-9]*[0-9]){4})[A-Za-z][A-Za-z0-9_.\-/]{0,31}|[\u4e00-\u9fff]{1,8}")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[\u4e00-\u9fff]+")

_FREE_WORDS: Final = frozenset(
    {
        *("account", "address", "article", "author", "body", "by", "city", "comment", "content", "customer", "date"),
        *("desc", "description", "detail", "details", "digest", "email", "event", "file", "hash", "id", "ids", "key"),
        *("label", "link", "mail", "message", "mobile", "msg", "name", "names", "no", "note", "notes", "num"),
        *("number", "owner", "person", "phone", "product", "query", "ref", "reference", "remark", "remarks"),
        *("sku", "snippet", "street", "subject", "summary", "text", "time", "title", "token", "uri", "url"),
        *("user", "username", "uuid"),
    }
)
_FREE_ENDINGS: Final = (
    *(
        "名",
        "名称",
        "标题",
        "备注",
        "描述",
        "说明",
        "内容",
        "编号",
        "单号",
        "号码",
        "地址",
        "电话",
        "邮箱",
        "时间",
        "日期",
    ),
)


def enumerated_values(name: str, texts: Mapping[str, int]) -> frozenset[str] | None:
    """Return the values of a place that samples show to be enumerated; None where its text is free.

    It is enumerated when there are at least `MIN_TEXTS` texts of two to `MAX_VALUES` values, each value twice on
    average, all of them short codes or words, and the field's name ends on no word for ids, names or prose.

    >>> sorted(enumerated_values("state", {"paid": 3, "open": 2}) or ())
    ['open', 'paid']
    >>> enumerated_values("customer_name", {"Ann": 3, "Bob": 2})

    Args:
        name: The last field name on the way to the place.
        texts: How often the samples have each text.
    """
    count = sum(texts.values())
    if count < MIN_TEXTS or not 2 <= len(texts) <= MAX_VALUES or len(texts) * _TEXTS_PER_VALUE > count:
        return None
    if is_free_name(name) or not are_codes(texts):
        return None
    return frozenset(texts)


def are_codes(texts: Iterable[str]) -> bool:
    """Tell whether all texts look like values of an enumeration: short, without blanks, with at most three digits."""
    return all(_CODE.fullmatch(text) for text in texts)


def is_free_name(name: str) -> bool:
    """Tell whether a field of this name holds ids, names or prose, whatever its samples look like."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words:
        return True
    return words[-1] in _FREE_WORDS or words[-1].endswith(_FREE_ENDINGS)
