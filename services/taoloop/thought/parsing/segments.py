"""A reply cut into what counts and what does not: values and calls, reasoning and prose; one pass over the text."""

from __future__ import annotations

import re
from typing import Final

from taoloop.thought.parsing.calls import ReadCalls, TextCall, read_listed, read_tagged, read_token_call
from taoloop.thought.parsing.markers import MARKS, UNFINISHED, Mark, reasoning_end
from taoloop.thought.parsing.refusals import Repair, ReplyFault, ReplyRefused, refused_at
from taoloop.thought.parsing.scanning import CLOSERS, OPENERS, ScanFailed, Scanned, scan_value, skip_blank

_BRACKET = re.compile(r"[{}\[\]｛｝［］]")
_QUOTE_OR_COLON = re.compile(r"[\"'“”‘’＂＇:：]")
_REASONING_END = re.compile(r"</(?:think|thinking|thought|reasoning)\s?>|\[/THINK\]", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d]")
_WORD = re.compile(r"\w")
_PROSE_FAULTS: Final = frozenset({ReplyFault.MALFORMED_JSON, ReplyFault.TRUNCATED})
_NO_PROSE: Final = frozenset("\"',:“”‘’＂＇：，")
_KEY_BEFORE = re.compile(r"[\"'”’＂＇]\s*[:：]\s*\Z")
_MAX_LOOK_BACK: Final = 200
_EMPTY_STRING = re.compile(r'""(?!")')


class Segments:
    """What a reply is made of.

    Attributes:
        values: Objects and lists that stand outside of reasoning.
        calls: Calls in a model's own format.
        reasoning: The blocks of reasoning, in order.
        repairs: What was left out or mended.
        has_call: Whether a call was met, even in an empty list.
    """

    def __init__(self, text: str) -> None:
        self.values: list[Scanned] = []
        self.calls: list[TextCall] = []
        self.reasoning: list[str] = []
        self.repairs: set[Repair] = set()
        self.has_call = False
        self._text = text
        self._since = 0  # where what is not reasoning began
        self._prose_from = 0
        self._fences = 0
        self._wrappers = 0
        self._was_bare = False

    def run(self) -> Segments:
        """Read the whole text.

        Raises:
            ReplyRefused: It is cut off, holds what is broken, or a call that is not understood.
        """
        at = 0
        while (found := MARKS.search(self._text, at)) is not None:
            at = self._marked(Mark(str(found.lastgroup)), found)
        self._prose(len(self._text))
        if (cut := UNFINISHED.search(self._text, max(at, len(self._text) - 64))) is not None:
            raise refused_at(ReplyFault.TRUNCATED, "a mark does not end", self._text, cut.start())
        if self._fences % 2:
            raise refused_at(ReplyFault.TRUNCATED, "a code fence does not end", self._text, len(self._text))
        if self._wrappers or self._was_bare:
            raise refused_at(ReplyFault.TRUNCATED, "a list of calls does not end", self._text, len(self._text))
        return self

    def _marked(self, mark: Mark, found: re.Match[str]) -> int:
        """Take what the mark opens, and return where to go on."""
        match mark:
            case Mark.OPENER:
                return self._value(found.start())
            case Mark.REASONING:
                return self._block(found)
            case Mark.REASONING_END:
                return self._all_was_reasoning(found.start(), found.end())
            case Mark.FENCE:
                self._prose(found.start())
                self._fences += 1
                self.repairs.add(Repair.FENCE)
                self._prose_from = found.end()
                return found.end()
            case Mark.FOREIGN:
                message = "a token of the model's own format is not understood"
                raise refused_at(ReplyFault.UNPARSED_TOOL_CALL, message, self._text, found.start())
            case Mark.END_OF_TEXT:
                self._prose(found.start())
                self.repairs.add(Repair.PROSE)
                self._prose_from = found.end()
                return found.end()
            case _:
                return self._called(mark, found)

    def _called(self, mark: Mark, found: re.Match[str]) -> int:
        self._prose(found.start())
        self.has_call = True
        end = found.end()
        if mark is Mark.CALLS:
            self._wrappers += 1
        elif mark is Mark.CALLS_END:
            if not self._wrappers:
                self.repairs.add(Repair.CALL_WRAPPER)
            self._wrappers, self._was_bare = max(0, self._wrappers - 1), False
        else:
            read = self._read_call(mark, found)
            self.calls += read.calls
            self.repairs |= read.repairs
            end = read.end
        self._prose_from = end
        return end

    def _read_call(self, mark: Mark, found: re.Match[str]) -> ReadCalls:
        if mark is Mark.CALL_LIST:
            return read_listed(self._text, found.end())
        if found[0].lower() == "<tool_call>":
            return read_tagged(self._text, found.end())
        if not self._wrappers:
            self._was_bare = True
        return read_token_call(self._text, found.end())

    def _block(self, found: re.Match[str]) -> int:
        """Take a block of reasoning out."""
        end = reasoning_end(found[0]).search(self._text, found.end())
        if end is None:
            raise refused_at(ReplyFault.TRUNCATED, "a block of reasoning does not end", self._text, found.start())
        self._prose(found.start())
        self._keep(found.end(), end.start())
        self._prose_from = end.end()
        return end.end()

    def _all_was_reasoning(self, start: int, end: int) -> int:
        """Take everything so far for reasoning whose opening tag is missing."""
        self._keep(self._since, start)
        self.values.clear()
        self.calls.clear()
        self.repairs = {Repair.REASONING}
        self.has_call, self._was_bare = False, False
        self._fences = self._wrappers = 0
        self._since = self._prose_from = end
        return end

    def _keep(self, start: int, end: int) -> None:
        self.repairs.add(Repair.REASONING)
        if block := self._text[start:end].strip():
            self.reasoning.append(block)

    def _value(self, start: int) -> int:
        try:
            scanned = scan_value(self._text, start)
        except ScanFailed as failed:
            return self._no_value(start, failed)
        self._lead_in(start)
        self._prose(start)
        self.values.append(scanned)
        self.repairs |= scanned.repairs
        self._prose_from = self._tail(scanned.end)
        return self._prose_from

    def _no_value(self, start: int, failed: ScanFailed) -> int:
        """Go on behind a bracket of prose or a draft in the reasoning; anything else that is broken is refused."""
        if failed.is_first and failed.fault in _PROSE_FAULTS and (end := self._prose_bracket(start)) is not None:
            return end
        tag = _REASONING_END.search(self._text, start)
        if tag is not None and self._is_outside_strings(start, tag.start()):
            return tag.start()
        raise refused_at(failed.fault, failed.message, self._text, failed.position)

    def _prose_bracket(self, start: int) -> int | None:
        """Return the end of words in brackets; None where they may be meant as JSON."""
        following = _BRACKET.search(self._text, start + 1)
        if following is None or following[0] not in CLOSERS:
            return None
        pair = OPENERS[self._text[start]] + CLOSERS[following[0]]
        words = self._text[start + 1 : following.start()]
        is_worded = (_WORD if pair == "{}" else _LETTER).search(words) is not None
        if pair not in {"{}", "[]"} or _QUOTE_OR_COLON.search(words) or not is_worded:
            return None
        return following.end()

    def _is_outside_strings(self, start: int, end: int) -> bool:
        """Tell whether a place after an opening bracket is outside of its strings, by the number of quotes before."""
        draft = self._text[start:end]
        return (draft.count('"') - draft.count('\\"')) % 2 == 0

    def _lead_in(self, start: int) -> None:
        """Refuse a value before which the rest of a larger one seems to stand."""
        before = self._text[max(self._prose_from, start - _MAX_LOOK_BACK) : start].rstrip()
        if not before:
            return
        is_open = before.lstrip()[0] in CLOSERS or before[-1] in _NO_PROSE - {":", "："}
        if is_open or _KEY_BEFORE.search(before):
            raise refused_at(ReplyFault.MALFORMED_JSON, "a part of a value stands before it", self._text, start)

    def _tail(self, end: int) -> int:
        """Take off what may follow a value: one bracket too many, an empty string."""
        at, repairs = skip_blank(self._text, end)
        has_closer = self._text[at : at + 1] in CLOSERS and at < len(self._text)
        if has_closer:
            self.repairs |= {Repair.SURPLUS_CLOSER, *repairs}
            at, repairs = skip_blank(self._text, at + 1)
        if _EMPTY_STRING.match(self._text, at):
            self.repairs |= {Repair.EMPTY_STRING_AFTER, *repairs}
            at, repairs = skip_blank(self._text, at + 2)
        self.repairs |= repairs
        following = self._text[at : at + 1]
        if following and (following in _NO_PROSE or following in CLOSERS):
            raise refused_at(ReplyFault.MALFORMED_JSON, "more of a value stands behind it", self._text, at)
        return at

    def _prose(self, end: int) -> None:
        """Note the words that are left out."""
        words = self._text[self._prose_from : end].strip()
        if words.lower() == "json":
            self.repairs.add(Repair.LEADING_WORD)
        elif words:
            is_blank = skip_blank(words, 0)[0] == len(words)
            self.repairs.add(Repair.ESCAPED_LINE_FEED if is_blank else Repair.PROSE)
        self._prose_from = end


def segments_of(text: str) -> Segments:
    """Return what a reply is made of; see `Segments.run`."""
    return Segments(text).run()


__all__ = ["ReplyRefused", "Segments", "segments_of"]
