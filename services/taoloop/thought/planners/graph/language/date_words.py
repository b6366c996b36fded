"""Where dates stand in a text: a pattern for what `taoloop.values` may be able to read."""

from __future__ import annotations

import re
from typing import Final

from taoloop.values.written_dates import DAY_WORD, MONTH_WORD

_N = "[0-9〇零一二三四五六七八九十两]{1,4}"
_COUNT = "[0-9]{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a|an"
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_RELATION = "last|previous|this|the current|current|next"
_ZH_RELATION = "(?:上上|下下|上|本|这|当|下)个?"
_ZH_WEEK = "(?:周|星期|礼拜)"

_DATE = rf"""(?:
    (?<![0-9A-Za-z.-])[0-9]{{4}}[-/.][0-9]{{1,2}}[-/.][0-9]{{1,2}}(?![0-9A-Za-z-])
  | (?<![0-9A-Za-z./-])[0-9]{{1,2}}[-/.][0-9]{{1,2}}[-/.][0-9]{{4}}(?![0-9A-Za-z-])
  | \b(?:the\s)?day\s(?:after\stomorrow|before\syesterday)\b
  | \b(?:today|tomorrow|yesterday)\b
  | \b{_WEEKDAY}\s(?:of\s)?(?:last|this|next)\sweek\b
  | \b(?:the\s)?(?:{_RELATION})\s(?:week|month|quarter|year|{_WEEKDAY})\b
  | \b(?:the\s)?(?:last|past)\s(?:{_COUNT})\s(?:days|weeks)\b
  | \b(?:{_COUNT})\s(?:day|week|month|year)s?\s(?:ago|from\snow|from\stoday|later)\b
  | \bin\s(?:{_COUNT})\s(?:day|week|month|year)s?\b
  | \b(?:{MONTH_WORD})\s(?:the\s)?{DAY_WORD}(?:,?\s[0-9]{{4}})?(?![0-9A-Za-z:])
  | \b{DAY_WORD}\s(?:of\s)?(?:{MONTH_WORD})(?:,?\s[0-9]{{4}})?(?![0-9A-Za-z])
  | \b(?:{MONTH_WORD}),?\s[0-9]{{4}}\b
  | (?<=\bin\s)(?:{MONTH_WORD})\b(?:\s(?:last|this|next)\syear)?
  | \b(?:this|next)\sweekend\b|\btonight\b|\bthis\s(?:morning|afternoon|evening)\b
  | \bthe\s[0-9]{{1,2}}(?:st|nd|rd|th)
    (?=[\s]?(?:[.,;?!]|$|of\sthis\smonth|at\b|for\b|and\b|in\sthe\b))(?:\sof\sthis\smonth)?
  | \b{_WEEKDAY}\b
  | 大后天|大前天|今天|今日|明天|明日|后天|昨天|昨日|前天
  | {_N}年第?[一二三四1-4]季度
  | {_N}年{_N}月(?:份|{_N}[日号])?
  | (?:今|去|前|明|后|本)年(?:{_N}月(?:份|{_N}[日号])?|第?[一二三四1-4]季度)?
  | {_ZH_RELATION}{_ZH_WEEK}[一二三四五六日天]?
  | {_ZH_RELATION}(?:月(?:{_N}[日号])?|季度)
  | {_N}月(?:份|{_N}[日号]|(?=[的呢吗和与到至？?，,。；;、~～\s]|$))
  | {_ZH_WEEK}[一二三四五六日天](?![0-9一二三四五六七八九十])
  | (?:最近|过去|近){_N}个?(?:天|日|周|星期)
  | {_N}个?(?:天|周|星期|礼拜|月|年)(?:之前|以前|前|之后|以后|后)
  | [0-9〇零一二三四五六七八九]{{4}}年(?![前后级之])
)"""
_SHORT_END = rf"(?:{_DATE}|{_N}[日号]|{_N}月(?:份)?)"
_ENGLISH_TIE = r"(?:to|until|till|through)"

DATE_OR_RANGE: Final = re.compile(
    rf"""
      (?:\bfrom\s|从)?{_DATE}\s?(?:\s{_ENGLISH_TIE}\s|[~～—–]|至|到|(?<=\s)-(?=\s))\s?{_SHORT_END}
    | \bbetween\s{_DATE}\sand\s{_DATE}
    | {_DATE}
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A date, a period or a range of them; what it finds is read, or refused, by `taoloop.values.dates`."""
