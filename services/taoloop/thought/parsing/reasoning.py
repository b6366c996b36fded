"""Blocks of reasoning as the five fields of a thought: known, gap, tool, why, expected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from taoloop.plan.model import Reasoning

MAX_FIELD_CHARACTERS: Final = 500
"""Longest text of a field; what is beyond is cut: reasoning is kept for people, whole texts in the recording."""

MAX_ITEMS: Final = 20
"""Most items of `known` and `gap`."""

_LABELS: Final = {
    "known": ("known", "当前已知", "已知"),
    "gap": ("gap", "missing", "信息缺口"),
    "tool": ("tool", "选择工具"),
    "why": ("why", "reason", "选择理由"),
    "expected": ("expected", "预期获得"),
}
_FIELD_OF: Final = {label: field for field, labels in _LABELS.items() for label in labels}
_LINE = re.compile(rf"[ \t]*[-*]?[ \t]*(?P<label>{'|'.join(_FIELD_OF)})[ \t]*[:：](?P<text>[^\n]*)", re.IGNORECASE)
_ITEM_END = re.compile(r"[;；\n]")
_NOTHING: Final = frozenset({"", "无", "none", "-", "n/a"})


def reasoning_of(blocks: Sequence[str]) -> Reasoning:
    r"""Return the fields of the blocks; lines without a label belong to the field before, or to `why`.

    >>> reasoning_of(["known: order A-17; paid\ngap: none\ntool: get_order\nwhy: it knows\nthe status"])
    Reasoning(known=('order A-17', 'paid'), gap=(), tool='get_order', why='it knows the status', expected='')
    """
    texts: dict[str, list[str]] = {field: [] for field in _LABELS}
    for block in blocks:
        field = "why"
        for line in block.splitlines():
            labelled = _LINE.match(line)
            if labelled is not None:
                field = _FIELD_OF[labelled["label"].lower()]
            texts[field].append((labelled["text"] if labelled is not None else line).strip())
    return Reasoning(
        known=_items(texts["known"]),
        gap=_items(texts["gap"]),
        tool=_joined(texts["tool"]),
        why=_joined(texts["why"]),
        expected=_joined(texts["expected"]),
    )


def _joined(lines: list[str]) -> str:
    return " ".join(line for line in lines if line)[:MAX_FIELD_CHARACTERS]


def _items(lines: list[str]) -> tuple[str, ...]:
    items = (item.strip(" []【】\t")[:MAX_FIELD_CHARACTERS] for line in lines for item in _ITEM_END.split(line))
    return tuple(item for item in items if item.lower() not in _NOTHING)[:MAX_ITEMS]
