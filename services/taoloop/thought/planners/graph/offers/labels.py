"""Chinese text for a slot: after its label, before the noun that its description names, after 关于, before 的."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.places import SURNAMES
from taoloop.thought.planners.graph.language.roles import Role
from taoloop.thought.planners.graph.language.text import keys
from taoloop.thought.planners.graph.language.vocabulary import GENERIC_WORDS
from taoloop.thought.planners.graph.offers.phrases import PhraseOffer
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import Place, RequestView

ANCHORED: Final = 0.7
"""How well a value suits a slot whose label and a mark or 是 stand before it."""
ADJOINING: Final = 0.5
"""The same where only the label stands before it."""
COMPOUND: Final = 0.5
"""The same for what is joined to the noun that the slot's description names, as 汽车行业 for an industry."""
ABOUT: Final = 0.6
"""The same for what stands after 关于."""
OBJECT: Final = 0.42
"""The same for what stands right after the verb of the request."""
OWNED: Final = 0.4
"""The same for what stands before 的 and a word of the tool."""

_CUT = re.compile(r"[，。,.;；:：（(\s、/]")
_TAIL = re.compile(r"(?:的?(?:名称|姓名|名字|信息|号码|内容|列表|全名|名))$")
_HEAD = re.compile(
    r"^(?:要|所|需要?|需|待|目标|具体|指定|用户的?|该|想要?|查询的?|搜索的?|预订的?|选择的?)(?=[\u4e00-\u9fff]{2})"
)
_ANCHOR: Final = r"(?:是|为|叫做?|选择?|填写?|写|在|有|包括|包含|设为|设置为|改为|定为|用|[:：])"
_VALUE: Final = (
    r"(?P<value>[^，。；、,;（）()！？!?\n：:\ufffc的和]{1,24}?)(?=[，。；、,;（）()！？!?\n\s]|和|以及|与|的|$)"
)
_VERBS: Final = (
    r"(?:帮我|帮忙|请|我想要?|我要|我需要|麻烦|给我|查询|查找|查看|查一下|查|搜索|搜一下|搜|寻找|找|看看|了解|知道|预订|预定|预约|订|购买|买"
    r"|推荐|分析|计算|估算|评估|获取|提供|介绍|发布|添加|创建|新建|安排|比较|对比|检索|统计|一下|一些|一个|一份|一张|一家|一套|一名|一位|一间"
    r"|关于|有关|在|从|到|去|对|给|为|把|将|的|了|和|与|及|挂|用|选|种|做|参加|报名|学习|打开|关闭|开启|播放|点|吃|想|要)"
)
_LEADING = re.compile(rf"^(?:.*(?:一个|一份|一些|一名|一位|一下|关于|帮我))?{_VERBS}*(?=[^，。]{{2}})")
_ABOUT = re.compile(r"(?:关于|有关|围绕)(?P<value>[^，。；、,;的\n]{1,16}?)(?=的|，|。|；|,|$|方面|相关)")
_OWNER = re.compile(r"(?P<value>[A-Za-z0-9\u4e00-\u9fff·]{2,14}?)的(?P<noun>[\u4e00-\u9fff]{2,8})")
_GENERIC: Final = frozenset(word for word in GENERIC_WORDS if not word.isascii())
_OBJECT_ROLES: Final = frozenset({Role.TITLE, Role.THING, Role.GROUP, Role.TOPIC, Role.OTHER})
_WORDED: Final = frozenset({SlotClass.TEXT, SlotClass.OTHER, SlotClass.PERSON})
_OBJECT = re.compile(
    r"(?:查询|查找|查看|查一?下|查|获取|看一?下|看看|分析一?下?|搜索一?下?|了解一?下?|推荐一?些?|检索|预约|预订|办理|申请|播放|有关)(?!一)"
    r"(?P<value>[A-Za-z\u4e00-\u9fff][A-Za-z0-9\u4e00-\u9fff·]{1,11}?)(?=从|在|的|和|与|[0-9]|，|。|最近|今天|有|$|\n)"
)
_SUBJECT = re.compile(
    r"(?:^|(?<=[，。；？！\n和与及、]))(?P<value>[A-Za-z\u4e00-\u9fff][A-Za-z0-9\u4e00-\u9fff·]{1,11}?)"
    r"(?=有什么|有哪些|的|是什么|怎么|多少|最近|今天|[0-9]{4}年)"
)
_MADE = re.compile(r"(?P<value>[\u4e00-\u9fff·]{2,12}?)(?:所?(?:写|著|创作|主演|执导|演唱|唱|导演))的")
_RUN: Final = r"[A-Za-z0-9\u4e00-\u9fff·]{1,12}"
_OWNER_ROLES: Final = frozenset({Role.TOPIC, Role.KIND, Role.THING, Role.GROUP, Role.TITLE, Role.OTHER})


_FORMS: Final = (
    (frozenset({Role.AGENT}), _MADE, ABOUT),
    (_OBJECT_ROLES, _OBJECT, OBJECT),
    (_OBJECT_ROLES, _SUBJECT, OBJECT),
    (frozenset({Role.TOPIC, Role.OTHER, Role.THING}), _ABOUT, ABOUT),
    (_OWNER_ROLES, _OWNER, OWNED),
)
"""Which texts play a part: by what stands before and after them, and how well they suit."""


@lru_cache(maxsize=4096)
def labels_of(description: str) -> tuple[str, ...]:
    """Return what a Chinese description calls its value: its first words, and those without their last noun.

    >>> labels_of("寄件人姓名，必填")
    ('寄件人姓名', '寄件人')
    """
    first = _CUT.split(description.strip(), maxsplit=1)[0]
    first = _HEAD.sub("", first)
    if not 2 <= len(first) <= 10 or first.isascii():
        return ()
    short = _TAIL.sub("", first)
    tail = first[-2:] if len(first) > 3 else ""
    return tuple(dict.fromkeys(label for label in (first, short, tail) if len(label) > 1 and label not in _GENERIC))


def labelled(slot: Slot, view: RequestView, place: Place) -> Iterator[PhraseOffer]:
    """Yield the Chinese text of a place that may be the value of a slot."""
    labels = labels_of(str(slot.schema.get("description") or ""))
    for label in labels:
        yield from _after(label, slot, view, place)
        yield from _joined(label, slot, view, place)
    for roles, pattern, suits in _FORMS:
        if slot.role in roles and (slot.slot_class in _WORDED or slot.role is Role.AGENT):
            for match in pattern.finditer(view.text, *place):
                if pattern is not _OWNER or set(keys(match["noun"])) & slot.tool_words:
                    yield from _offer(slot, view, *_bare(match), suits)


def _after(label: str, slot: Slot, view: RequestView, place: Place) -> Iterator[PhraseOffer]:
    pattern = _pattern(label)
    for match in pattern.finditer(view.text, *place):
        start, end = match.span("value")
        is_name = slot.role is Role.PERSON
        if is_name and not (2 <= end - start <= 4 and view.text[start] in SURNAMES):
            continue
        yield from _offer(slot, view, start, end, ANCHORED if match["anchor"] else ADJOINING)


@lru_cache(maxsize=4096)
def _pattern(label: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(label)}(?P<anchor>{_ANCHOR})?\s?{_VALUE}")


@lru_cache(maxsize=4096)
def _compound(label: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<value>{_RUN}?){re.escape(label)}")


def _joined(label: str, slot: Slot, view: RequestView, place: Place) -> Iterator[PhraseOffer]:
    if slot.role is Role.PERSON or label in _LOOSE:
        return
    for match in _compound(label).finditer(view.text, *place):
        start, end = _bare(match)
        start = _after_values(start, end, view)
        if end - start > 1 or view.text[start:end].isascii():
            yield from _offer(slot, view, start, match.end(), COMPOUND)


_LOOSE: Final = frozenset(
    {"名称", "内容", "地址", "电话", "日期", "时间", "备注", "列表", "原因", "描述", "编号", "关键词", "主题"}
)


def _bare(match: re.Match[str]) -> Place:
    """Take verbs and grammar off the head of a value."""
    start, end = match.span("value")
    lead = _LEADING.match(match["value"])
    return (start + lead.end() if lead else start), end


def _after_values(start: int, end: int, view: RequestView) -> int:
    """Return where a text begins once the typed values at its head are left out."""
    while start < end and view.text[start] in "的了":
        start += 1
    inside = [mention.end for mention in view.mentions_in((max(0, start - 30), end)) if mention.kind in _TYPED]
    start = max([start, *(place for place in inside if start < place < end)])
    return start + 1 if view.text[start : start + 1] == "的" else start


def _offer(slot: Slot, view: RequestView, start: int, end: int, suits: float) -> Iterator[PhraseOffer]:
    text = view.text[start:end]
    said = keys(text)
    if not text.strip() or (said and all(key in slot.tool_words or key in _GENERIC for key in said)):
        return
    near = view.mentions_in((max(0, start - 30), end + 30))
    if any(mention.kind in _TYPED and mention.start < end and start < mention.end for mention in near):
        return
    yield PhraseOffer(Mention(MentionKind.PHRASE, start, end, text), suits)


_TYPED: Final = frozenset(
    {MentionKind.DATE, MentionKind.TIME, MentionKind.NUMBER, MentionKind.QUOTED, MentionKind.EMAIL,
     MentionKind.ID}
)  # fmt: skip
