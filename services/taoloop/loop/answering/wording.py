"""The sentences of answers that code words, in Chinese and English, and what a tool is called in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from taoloop.core.exact_json import JsonValue, dumps
from taoloop.core.pointers import parse
from taoloop.plan.acting import ToolSummary
from taoloop.tools.signature import Effect

MAX_NAME_CHARACTERS: Final = 120
"""Longest name of a tool's work in an answer; more of its description is not said."""

_HAN: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_WORD: Final = re.compile(r"(?<!\w)[A-Za-z]{2,}(?!\w)")
_HAN_PER_WORD: Final = 4
"""So many Chinese characters may stand in an English text for each of its words: names and texts of results."""
_SENTENCE_ENDS: Final = ("\n", "。", ". ", "；", "; ")


@dataclass(frozen=True, slots=True)
class Words:
    """The sentences of one language; `{…}` stand for what is said of.

    Attributes:
        list_mark: Stands between the values of a list.
        fact_mark: Stands between facts.
        colon: Stands between a name and its value.
        nothing: A tool found nothing.
        done: A tool that changes something said nothing.
        not_found: No result could be had of a tool.
        in_part: Some items of a list have no result.
        left_out: A step was not taken, since its condition does not hold.
        doubtful: A result hardly can be relied on.
        reworded: A text in other words than its own rests on what other people wrote.
        disagreement: Two sources of one fact say different things, and the surer one is gone by.
        nothing_at_all: No step brought anything.
        value: A value that has no name.
    """

    list_mark: str
    fact_mark: str
    colon: str
    nothing: str
    done: str
    not_found: str
    in_part: str
    left_out: str
    doubtful: str
    reworded: str
    disagreement: str
    nothing_at_all: str
    value: str


_ENGLISH: Final = Words(
    list_mark=", ",
    fact_mark="; ",
    colon=": ",
    nothing="{what}: nothing was found.",
    done="{what}: done.",
    not_found="No result could be had: {what}.",
    in_part="No result could be had for some items of the list, counted from 1: {items} ({what}).",
    left_out="Not done, since its condition does not hold: {what}.",
    doubtful="This result is of low confidence, please check it: {what}.",
    reworded="This rests on text that other people wrote, and nobody has verified it: {what}.",
    disagreement="Two sources disagree on {field}: {taken} and {other}. {taken} is given, from the surer source.",
    nothing_at_all="Nothing was found.",
    value="the value",
)
_CHINESE: Final = Words(
    list_mark="、",
    fact_mark="；",
    colon="：",
    nothing="{what}：没有找到结果。",
    done="{what}：已完成。",
    not_found="没有得到结果：{what}。",
    in_part="列表中以下各项（从 1 起）没有得到结果：{items}（{what}）。",
    left_out="条件不满足，未执行：{what}。",
    doubtful="该结果可信度较低，请核实：{what}。",
    reworded="以上内容来自他人撰写的文字，未经核实：{what}。",
    disagreement="两个来源的{field}不一致：{taken} 与 {other}。以可信度较高的 {taken} 为准。",
    nothing_at_all="没有找到结果。",
    value="结果",
)


def words_for(locale: str) -> Words:
    """Return the sentences for a BCP 47 tag: Chinese for `zh` and what begins with it, else English."""
    return _CHINESE if language_of(locale) == "zh" else _ENGLISH


def language_of(locale: str) -> str:
    """Return the language of a BCP 47 tag in lower case, `zh` of `zh-CN`."""
    return locale.split("-", maxsplit=1)[0].lower()


def may_be_in(locale: str, text: str) -> bool:
    """Tell whether a text may be in the language of a BCP 47 tag; only Chinese and English are told apart.

    >>> may_be_in("zh-CN", "Your parcel is on its way."), may_be_in("en", "SF1002003004: 快件已到达")
    (False, False)
    >>> may_be_in("zh-CN", "SF1002003004: in_transit"), may_be_in("en", "It is with 顺丰速运."), may_be_in("fr", "是")
    (True, True, True)
    """
    han, words = len(_HAN.findall(text)), len(_WORD.findall(text))
    match language_of(locale):
        case "zh":
            return han > 0 or words < 3  # fewer may be names and values of results
        case "en":
            return han <= words * _HAN_PER_WORD
        case _:
            return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolWords:
    """What answers need to know of a tool.

    Attributes:
        what: What it does, as one short name without a full stop.
        templates: Its answer templates by language tag, such as `{"zh": "…", "en": "…"}`.
        is_writing: Whether it changes something.
    """

    what: str = ""
    templates: Mapping[str, str] = field(default_factory=dict)
    is_writing: bool = False

    @classmethod
    def of(cls, tool: ToolSummary) -> Self:
        """Return the words of a tool as the executor lists it."""
        return cls(
            what=_short(tool.description) or spoken(tool.name),
            templates={str(tag): str(text) for tag, text in tool.answer.items()}
            if isinstance(tool.answer, dict)
            else {},
            is_writing=tool.effect is not Effect.READ,
        )

    @classmethod
    def unlisted(cls, name: str) -> Self:
        """Return the words of a tool of which only the name is known."""
        return cls(what=spoken(name))

    def template_for(self, locale: str) -> str | None:
        """Return the template for a BCP 47 tag: its own, its language's, else English, else any."""
        for key in (locale, language_of(locale), "en"):
            if key in self.templates:
                return self.templates[key]
        return next(iter(self.templates.values()), None)


def words_of(names: Iterable[str], listed_tools: Mapping[str, ToolSummary]) -> dict[str, ToolWords]:
    """Return the words of those of these tools that are listed."""
    return {name: ToolWords.of(listed_tools[name]) for name in set(names) if name in listed_tools}


def spoken(name: str) -> str:
    """Return a name of code as words.

    >>> spoken("order_status")
    'order status'
    """
    return name.replace("_", " ").strip()


def label_of(pointer: str) -> str:
    """Return the place of a value in words; the items of a list count from 1.

    >>> label_of("/orders/0/order_status")
    'orders 1 order status'
    """
    return " ".join(str(int(token) + 1) if token.isdecimal() else spoken(token) for token in parse(pointer))


def said(value: JsonValue, words: Words) -> str:
    """Return a value in words: text as it is, lists with the marks of the language, numbers as they came."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return words.list_mark.join(said(item, words) for item in value)
    return dumps(value)


def listed(names: Sequence[str], words: Words) -> str:
    """Return names as a list, each once."""
    return words.list_mark.join(dict.fromkeys(names))


def _short(description: str) -> str:
    ends = [place for mark in _SENTENCE_ENDS if (place := description.find(mark)) > 0]
    first = description[: min(ends, default=len(description))].strip().rstrip(".。")
    return first if len(first) <= MAX_NAME_CHARACTERS else f"{first[: MAX_NAME_CHARACTERS - 1]}…"
