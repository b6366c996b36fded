"""What the user is told of a failure, in the user's language."""

from __future__ import annotations

from typing import Final

from taoloop.core.faults import Fault
from taoloop.loop.answering.wording import ToolWords
from taoloop.loop.correction.classes import FaultClass
from taoloop.loop.correction.machine import Edge, Reaction
from taoloop.plan.acting import ToolSummary

_EN: Final = {
    FaultClass.TOOL_TIMEOUT: "{tool} did not answer in time{untouched}.",
    FaultClass.TOOL_UNAVAILABLE: "{tool} does not serve at present{untouched}.",
    FaultClass.TOOL_SCHEMA_VIOLATION: "{tool} cannot do anything with the value that was given.",
    FaultClass.TOOL_FAILED: "{tool} reports that it failed.",
    FaultClass.RESPONSE_MALFORMED: "{tool} gave an answer that cannot be relied on.",
    FaultClass.OBSERVATION_INCONSISTENT: "What {tool} says is not certain enough to be told.",
    FaultClass.LLM_OUTPUT_MALFORMED: "No way to do this was found.",
    FaultClass.PLAN_OUTDATED: "The tools for this are being changed.",
    FaultClass.EFFECT_UNKNOWN: "Whether {tool} has done its work is not known; it was not done a second time.",
    FaultClass.APPROVAL_UNUSED: "{tool} was not called, since the leave for it could not be used.",
    FaultClass.NOT_PERMITTED: "This is not allowed, and was not done.",
    FaultClass.PERSON_NEEDED: "This cannot be done without a person.",
    FaultClass.REQUEST_UNSERVED: "This request cannot be served as it stands.",
    FaultClass.LIMIT_REACHED: "This takes more than one request may take.",
}
_ZH: Final = {
    FaultClass.TOOL_TIMEOUT: "{tool} 未能及时响应{untouched}。",
    FaultClass.TOOL_UNAVAILABLE: "{tool} 目前无法提供服务{untouched}。",
    FaultClass.TOOL_SCHEMA_VIOLATION: "{tool} 无法处理所给的值。",
    FaultClass.TOOL_FAILED: "{tool} 返回了失败。",
    FaultClass.RESPONSE_MALFORMED: "{tool} 返回的结果不可靠，无法使用。",
    FaultClass.OBSERVATION_INCONSISTENT: "{tool} 的结果不够确定，不能直接答复。",
    FaultClass.LLM_OUTPUT_MALFORMED: "没有找到可行的办法。",
    FaultClass.PLAN_OUTDATED: "相关工具正在更新。",
    FaultClass.EFFECT_UNKNOWN: "{tool} 是否已经生效尚不确定，没有重复执行。",
    FaultClass.APPROVAL_UNUSED: "{tool} 的审批无法使用，未执行该操作。",
    FaultClass.NOT_PERMITTED: "该操作不被允许，未执行。",
    FaultClass.PERSON_NEEDED: "该请求需要人工处理才能完成。",
    FaultClass.REQUEST_UNSERVED: "该请求目前无法处理。",
    FaultClass.LIMIT_REACHED: "该请求超出了单次处理的上限。",
}
_UNTOUCHED: Final = {False: "; nothing was changed", True: "，没有做任何更改"}
_STAYS: Final = {False: " What was done before stays done.", True: "此前已完成的操作仍然有效。"}
_DISAGREE: Final = {
    False: "{tool} and another source disagree; what the more certain one says is told.",
    True: "{tool} 与另一来源的结果不一致，采用了较可信的一个。",
}
_LATER: Final = {False: "Please try again {when}.", True: "请{when}再试。"}
_ENDINGS: Final = {
    (Reaction.HAND_OVER, False): "A person takes it over.",
    (Reaction.HAND_OVER, True): "将转由人工处理。",
    (Reaction.ASK, False): "Please give another one.",
    (Reaction.ASK, True): "请提供其他值。",
    (Reaction.LEAVE_OUT, False): "The answer is given without it.",
    (Reaction.LEAVE_OUT, True): "答复中不包含这部分。",
}
_ONE_OF: Final = {False: "Please choose one of: {candidates}.", True: "可选：{candidates}。"}
_SEPARATORS: Final = {False: ", ", True: "、"}
MAX_CANDIDATES: Final = 5
"""Most values that a sentence names; the question lists all of them."""


def tool_name(summary: ToolSummary | None, name: str, *, is_chinese: bool) -> str:
    """Return what users know a tool by: what it does, as its contract says; its name where that says nothing."""
    if summary is None or not summary.description:
        return name
    what = ToolWords.of(summary).what
    return f"“{what}”" if is_chinese else f'"{what}"'


def user_message(edge: Edge, fault: Fault, tool: str, *, is_chinese: bool, is_untouched: bool = True) -> str:
    """Return what the user is told of a failure; empty where the edge tells nothing.

    Args:
        edge: What is done about it.
        fault: The failure.
        tool: What users know the tool by that failed, see `tool_name`; empty when it was none.
        is_chinese: Whether the user is spoken to in Chinese, else in English.
        is_untouched: Whether the run has surely changed nothing so far.
    """
    if not edge.is_told:
        return ""
    name = tool or ("该服务" if is_chinese else "The service")
    if edge.reaction is Reaction.PREFER:
        return _DISAGREE[is_chinese].format(tool=name)
    untouched = _UNTOUCHED[is_chinese] if is_untouched else ""
    cause = (_ZH if is_chinese else _EN)[edge.kind].format(tool=name, untouched=untouched)
    if edge.reaction is Reaction.FAIL and not is_untouched:  # whoever asks for all of it again has it done twice
        cause += _STAYS[is_chinese]
    ending = _ending(edge, fault, is_chinese=is_chinese)
    return f"{cause}{ending}" if is_chinese else f"{cause} {ending}".strip()


def _ending(edge: Edge, fault: Fault, *, is_chinese: bool) -> str:
    if edge.reaction is Reaction.ASK and fault.candidates:
        candidates = _SEPARATORS[is_chinese].join(fault.candidates[:MAX_CANDIDATES])
        return _ONE_OF[is_chinese].format(candidates=candidates)
    if edge.reaction is Reaction.FAIL:
        return _LATER[is_chinese].format(when=_when(fault, is_chinese=is_chinese)) if edge.is_transient else ""
    return _ENDINGS.get((edge.reaction, is_chinese), "")


def _when(fault: Fault, *, is_chinese: bool) -> str:
    seconds = fault.retry_after_seconds
    if seconds is None or seconds < 1.0:
        return "稍后" if is_chinese else "later"
    return f"在 {seconds:.0f} 秒后" if is_chinese else f"in {seconds:.0f} s"
