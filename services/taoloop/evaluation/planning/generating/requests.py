"""Words one call as a request: the verb's phrase and one phrase for each value, in either language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from taoloop.evaluation.planning.generating.sampling import Sample, address, identifier, person, sample
from taoloop.evaluation.planning.generating.tools import GeneratedTool, Parameter

_OPENINGS_EN: Final = ("", "", "Please ", "Can you ", "Could you ", "I'd like you to ", "Help me ")
_OPENINGS_ZH: Final = ("", "请", "请帮我", "帮我", "麻烦你", "我想")
_LEAD_INS_EN: Final = ("", "", "", "We are planning the next season. ", "I just talked to my manager. ")
_LEAD_INS_ZH: Final = ("", "", "", "我们正在安排下个季度的工作。", "刚和同事讨论过。")


_ASIDES_EN: Final = (
    " because the old one no longer works", " so that everybody can plan ahead", ", as agreed with the board",
    " that my colleague mentioned yesterday evening over dinner", " before our neighbours make up their minds",
)  # fmt: skip
_ASIDES_ZH: Final = ("，因为旧的已经不能用了", "，方便大家提前准备", "，这是董事会同意过的", "，邻居们也很关心这件事")
ASIDE_SHARE: Final = 0.25
"""How often a request says something besides."""
OTHER_WORD_SHARE: Final = 0.3
"""How often a request uses another word for its subject than the tools do."""


@dataclass(frozen=True, slots=True)
class Said:
    """One value of one call, as it is said.

    Attributes:
        parameter: The parameter.
        phrase: The words for it.
        accepted: The arguments that are right.
    """

    parameter: Parameter
    phrase: str
    accepted: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class CallText:
    """One call in words.

    Attributes:
        tool: The tool.
        said: Its values.
        text: The words, without an opening and an end.
    """

    tool: GeneratedTool
    said: tuple[Said, ...]
    text: str


def drawn(tool: GeneratedTool, rng: Random, *, is_chinese: bool) -> tuple[Said, ...]:
    """Draw values for every required parameter of a tool and some optional ones."""
    kept = [item for item in tool.parameters if item.is_required or rng.random() < 0.35]
    return tuple(_said(item, tool, rng, is_chinese=is_chinese) for item in kept)


def call_text(tool: GeneratedTool, said: Sequence[Said], rng: Random, *, is_chinese: bool) -> CallText:
    """Word a call with these values, in an order that is drawn."""
    subject = tool.subject
    asks = tool.verb.asks_zh if is_chinese else tool.verb.asks_en
    is_other = rng.random() < OTHER_WORD_SHARE
    en, zh = (subject.other_en, subject.other_zh) if is_other else (subject.en, subject.zh)
    ask = rng.choice(asks).format(e=en, z=zh)
    phrases = [item.phrase for item in said]
    rng.shuffle(phrases)
    if not is_chinese:
        return CallText(tool, tuple(said), " ".join([ask, *phrases]))
    if phrases and phrases[0].endswith(("的", "出发")) and tool.verb.name == "search" and rng.random() < 0.7:
        ask, phrases = ask.replace(zh, f"{phrases[0].removesuffix('的')}的{zh}"), phrases[1:]
    return CallText(tool, tuple(said), "，".join([ask, *(phrase.removesuffix("的") for phrase in phrases)]))


def opened(text: str, rng: Random, *, is_chinese: bool) -> str:
    """Return the whole request: a lead-in and an aside now and then, an opening, the words and an end."""
    if rng.random() < ASIDE_SHARE:
        text += rng.choice(_ASIDES_ZH if is_chinese else _ASIDES_EN)
    if is_chinese:
        return rng.choice(_LEAD_INS_ZH) + rng.choice(_OPENINGS_ZH) + text + rng.choice(("。", "", "，谢谢。"))
    whole = rng.choice(_OPENINGS_EN) + text
    return rng.choice(_LEAD_INS_EN) + whole[0].upper() + whole[1:] + rng.choice((".", "?", "", "."))


def _said(parameter: Parameter, tool: GeneratedTool, rng: Random, *, is_chinese: bool) -> Said:
    if parameter.attribute is not None:
        value = sample(parameter.attribute, rng, is_chinese=is_chinese)
        says = parameter.attribute.says_zh if is_chinese else parameter.attribute.says_en
        return Said(parameter, rng.choice(says).format(v=value.said), value.accepted)
    code = tool.subject.code
    if parameter.special == "ids":
        found = list(dict.fromkeys(identifier(code, rng) for _ in range(rng.choice((2, 3)))))
        return Said(parameter, _listed(found, is_chinese=is_chinese), (found,))
    english, chinese, value = _special(parameter.special, code, rng, is_chinese=is_chinese)
    says = chinese if is_chinese else english
    return Said(parameter, rng.choice(says).format(v=value.said), value.accepted)


def _special(
    special: str, code: str, rng: Random, *, is_chinese: bool
) -> tuple[tuple[str, ...], tuple[str, ...], Sample]:
    if special == "id":
        text = identifier(code, rng)
        return ("{v}", "number {v}"), ("{v}", "编号{v}", "编号为{v}"), Sample(text, (text,))
    if special == "email":
        text = address(rng)
        return ("to {v}", "with the e-mail {v}"), ("邮箱{v}", "邮箱是{v}"), Sample(text, (text,))
    text = person(rng, is_chinese=is_chinese)
    return ("for {v}", "in the name of {v}"), ("姓名是{v}", "联系人是{v}", "姓名为{v}"), Sample(text, (text,))


def _listed(items: Sequence[str], *, is_chinese: bool) -> str:
    if is_chinese:
        return "、".join(items[:-1]) + "和" + items[-1]
    return ", ".join(items[:-1]) + " and " + items[-1]
