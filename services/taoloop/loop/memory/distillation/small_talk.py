"""Tells small talk from requests: a turn that only greets, thanks or says goodbye asks for nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

SMALL_TALK: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "zh": (
            "你好", "您好", "你们好", "大家好", "哈喽", "哈啰", "嗨", "早上好", "上午好", "中午好", "下午好",
            "晚上好", "早安", "晚安", "谢谢", "多谢", "感谢", "非常感谢", "太感谢了", "十分感谢", "辛苦了",
            "辛苦啦", "麻烦了", "麻烦你了", "麻烦您了", "再见", "拜拜", "回见", "下次见", "在吗", "在不在",
            "有人吗", "不客气", "没关系", "太好了", "真棒", "很好", "非常好", "厉害", "不错", "哈哈", "呵呵",
            "嘿嘿", "你是谁", "謝謝", "多謝", "感謝", "再見", "在嗎", "麻煩了",
        ),
        "en": (
            "hi", "hello", "hey", "hiya", "howdy", "greetings", "good morning", "good afternoon", "good evening",
            "good night", "thanks", "thank you", "many thanks", "thx", "cheers", "much appreciated", "bye",
            "goodbye", "see you", "take care", "you're welcome", "great", "nice", "cool", "perfect", "awesome",
            "excellent", "wonderful", "how are you", "how are you doing", "how's it going", "what's up",
            "nice to meet you", "are you there", "anyone there", "is anyone there", "who are you", "lol", "haha",
            "wow", "that was helpful", "very helpful", "have a nice day", "have a good day",
        ),
    }
)  # fmt: skip
"""What asks for nothing, by language; people mix them, so that all count at once."""

BESIDE: Final = (
    "你", "您", "你们", "了", "啦", "呀", "啊", "吗", "嗎", "哈", "嗯", "哦", "噢", "亲", "客服", "请问", "請問",
    "好", "好的", "好吧", "行", "可以", "知道了", "明白了", "明白", "收到", "了解", "早", "ok", "okay", "fine",
    "got it", "i see", "understood", "sure", "alright", "all right", "yes", "yeah", "yep", "no problem",
    "never mind", "there", "again", "everyone", "all", "a lot", "so much", "very much", "later", "for your help",
    "for the help", "for your time", "and", "that's", "that is", "my friend", "sir", "madam", "team", "oh", "ah",
    "hmm", "well", "you",
)  # fmt: skip
"""What changes nothing beside small talk. By itself it may be a decision, as in a `yes` to a question."""

MOST_CHARACTERS: Final = 80
"""A longer turn is never small talk alone."""

_NOT_A_WORD: Final = re.compile(r"[^\w']+|_+")


def _alternatives(words: Iterable[str]) -> str:
    by_length = sorted(set(words), key=lambda word: (-len(word), word))
    spaced = [rf"(?<![a-z']){re.escape(word)}(?![a-z'])" for word in by_length if word.isascii()]
    return "|".join((*spaced, *(re.escape(word) for word in by_length if not word.isascii())))


_WORDS: Final = tuple(word for words in SMALL_TALK.values() for word in words)
_TALK: Final = re.compile(_alternatives(_WORDS))
_ONLY_TALK: Final = re.compile(rf"(?: |{_alternatives((*_WORDS, *BESIDE))})*+")


def has_action_intent(text: str) -> bool:
    """Tell whether a user's turn may ask for something, or decide something: it is more than small talk.

    What is in doubt does, so that no request is lost.

    >>> [has_action_intent(text) for text in ("你好，谢谢！", "ok, thanks a lot!", "那3月呢？", "好的")]
    [False, False, True, True]
    """
    if len(text) > MOST_CHARACTERS:
        return True
    plain = _NOT_A_WORD.sub(" ", text.replace("’", "'")).strip().lower()
    return bool(plain) and (_ONLY_TALK.fullmatch(plain) is None or _TALK.search(plain) is None)
