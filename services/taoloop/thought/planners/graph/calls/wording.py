"""Sentences of the graph planner for people, in the request's language."""

from __future__ import annotations

import re
from typing import Final

from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph.calls.model import Missing
from taoloop.thought.planners.graph.decide import Block
from taoloop.thought.planners.graph.index import ToolView

_QUESTIONS: Final = {
    (InputReason.MISSING, False): "Please give {what}.",
    (InputReason.INVALID, False): "What was given for {what} is not valid. Please give it again.",
    (InputReason.AMBIGUOUS, False): "Several values fit {what}. Which one is meant?",
    (InputReason.MISSING, True): "请提供{what}。",
    (InputReason.INVALID, True): "{what}的值不符合要求，请重新提供。",
    (InputReason.AMBIGUOUS, True): "{what}有多个可能的值，请指明是哪一个。",
}
_BLOCKS: Final = {
    (Block.EFFECT, False): "The request asks for {tool}, whose effect is more than this run is allowed.",
    (Block.NOT_LISTED, False): "The request asks for {tool}, which this run may not use.",
    (Block.UNAVAILABLE, False): "The request asks for {tool}, which cannot be called at present.",
    (Block.EFFECT, True): "该请求需要 {tool}，其操作超出了本次运行的权限。",
    (Block.NOT_LISTED, True): "该请求需要 {tool}，本次运行不允许使用它。",
    (Block.UNAVAILABLE, True): "该请求需要 {tool}，它目前无法调用。",
}
_NO_TOOL: Final = {False: "No offered tool serves this request.", True: "没有可用的工具能处理该请求。"}
_NO_WORDS: Final = {False: "The request holds no words of the user.", True: "请求中没有用户的话。"}
_TOO_MUCH: Final = {
    False: "The request needs more calls than one plan may have.",
    True: "该请求需要的调用超过了一个计划的上限。",
}
_FIRST_PART = re.compile(r"[^.;。；]{0,80}")


def question(missing: Missing, *, is_chinese: bool) -> str:
    """Return the question for a missing value; it names the parameter as its contract does."""
    told = str(missing.slot.schema.get("description") or "")
    part = _FIRST_PART.match(re.split(r",? e\.g\.|，?例如", told)[0])
    described = part[0].strip(" ,，") if part else ""
    what = f"{described} ({missing.slot.name})" if described else missing.slot.name
    return _QUESTIONS[missing.reason, is_chinese].format(what=what)


def forbidden(tool: ToolView, block: Block, *, is_chinese: bool) -> str:
    """Return why a tool that serves the request is not called."""
    return _BLOCKS[block, is_chinese].format(tool=tool.name)


def no_tool(*, is_chinese: bool) -> str:
    """Return the sentence for a request that nothing serves."""
    return _NO_TOOL[is_chinese]


def no_words(*, is_chinese: bool) -> str:
    """Return the sentence for a request without words."""
    return _NO_WORDS[is_chinese]


def too_much(*, is_chinese: bool) -> str:
    """Return the sentence for a request that needs too many calls."""
    return _TOO_MUCH[is_chinese]
