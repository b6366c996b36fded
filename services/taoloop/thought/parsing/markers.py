"""The marks by which models set reasoning, code fences and calls apart from what they say."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class Mark(StrEnum):
    """What a mark in the prose of a reply is; the values name the groups of `MARKS`."""

    REASONING = "reasoning"
    REASONING_END = "reasoning_end"
    CALL = "call"
    CALLS = "calls"
    CALL_LIST = "call_list"
    CALLS_END = "calls_end"
    FOREIGN = "foreign"
    END_OF_TEXT = "end_of_text"
    FENCE = "fence"
    OPENER = "opener"


REASONING_TAGS: Final = ("think", "thinking", "thought", "reasoning")
"""Names of the tags around reasoning, in any letter case."""

_NAMES = "|".join(REASONING_TAGS)
_BAR, _GAP = "[|｜]", "[_▁ ]"
_PATTERNS: Final[dict[Mark, str]] = {
    Mark.REASONING: rf"<(?:{_NAMES})(?:\s[^<>]{{0,200}})?>|\[THINK\]",
    Mark.REASONING_END: rf"</(?:{_NAMES})\s?>|\[/THINK\]",
    Mark.CALL: rf"<tool_call>|<{_BAR}tool{_GAP}call{_GAP}begin{_BAR}>",
    Mark.CALLS: rf"<{_BAR}tool{_GAP}calls{_GAP}begin{_BAR}>",
    Mark.CALL_LIST: r"\[TOOL_CALLS\]",
    Mark.CALLS_END: rf"<{_BAR}tool{_GAP}calls{_GAP}end{_BAR}>",
    Mark.END_OF_TEXT: rf"<{_BAR}(?:im_end|eot_id|end_of_text|endoftext|end{_GAP}of{_GAP}sentence){_BAR}>|</s>",
    # Calls and channels of formats that are not read here: their presence alone refuses the reply.
    Mark.FOREIGN: rf"<{_BAR}[^<>{{}}\n]{{1,60}}{_BAR}>|</?(?:tool_calls?|tool_code|function_calls?|function|invoke"
    r"|parameter|minimax:tool_call|seed:tool_call|arg_key|arg_value)(?=[\s=>/:])",
    Mark.FENCE: r"```[^\n`{\[｛［]{0,40}",
    Mark.OPENER: r"[{\[｛［]",
}
MARKS: Final = re.compile("|".join(f"(?P<{mark}>{pattern})" for mark, pattern in _PATTERNS.items()), re.IGNORECASE)
"""Matches the next mark; earlier members of `Mark` win at one place."""

UNFINISHED: Final = re.compile(r"</?[|｜A-Za-z_][^<>\s]{0,60}\Z|<\Z")
"""Matches a mark that the end of the text cuts."""

CALL_SEPARATOR: Final = re.compile(rf"<{_BAR}tool{_GAP}sep{_BAR}>", re.IGNORECASE)
CALL_END: Final = re.compile(rf"<{_BAR}tool{_GAP}call{_GAP}end{_BAR}>", re.IGNORECASE)
TAG_END: Final = re.compile(r"</tool_call>", re.IGNORECASE)


def reasoning_end(opening: str) -> re.Pattern[str]:
    """Return what ends a block of reasoning that this mark opened.

    >>> reasoning_end("<THOUGHT>").search("</thought>") is not None
    True
    """
    return re.compile(re.escape(_closing(opening)).replace(r"\ ", r"\s?"), re.IGNORECASE)


def _closing(opening: str) -> str:
    if opening.startswith("["):
        return f"[/{opening[1:]}"
    name = re.split(r"[<>\s]", opening)[1]
    return f"</{name}>"
