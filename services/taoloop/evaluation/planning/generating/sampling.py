"""Draws values of attributes: how they are said in either language, which arguments are right, and their schema."""

from __future__ import annotations

from calendar import month_name
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Any, Final

from taoloop.evaluation.planning.generating.attributes import Attribute


@dataclass(frozen=True, slots=True)
class Sample:
    """One value.

    Attributes:
        said: As the request says it.
        accepted: The arguments that are right for it.
    """

    said: str
    accepted: tuple[Any, ...]


_CITIES: Final = [
    "Lisbon/里斯本",
    "Oslo/奥斯陆",
    "Nairobi/内罗毕",
    "Lima/利马",
    "Hanoi/河内",
    "Quito/基多",
    "Cork/科克",
    "Perth/珀斯",
    "Suzhou/苏州",
    "Xiamen/厦门",
    "Lanzhou/兰州",
    "Qingdao/青岛",
    "Bergen/卑尔根",
    "Tallinn/塔林",
    "Accra/阿克拉",
    "Malmo/马尔默",
    "Hefei/合肥",
    "Wuxi/无锡",
    "Ghent/根特",
    "Porto/波尔图",
]
_COUNTRIES: Final = [
    "Norway/挪威",
    "Peru/秘鲁",
    "Kenya/肯尼亚",
    "Chile/智利",
    "Estonia/爱沙尼亚",
    "Vietnam/越南",
    "Portugal/葡萄牙",
    "Ghana/加纳",
]
_FIRST: Final = [
    "Amina",
    "Jonas",
    "Priya",
    "Tomas",
    "Leila",
    "Oscar",
    "Hanna",
    "Mateo",
    "Ingrid",
    "Samuel",
    "Yara",
    "Felix",
]
_LAST: Final = [
    "Okafor",
    "Lindqvist",
    "Patel",
    "Novak",
    "Haddad",
    "Brandt",
    "Moreno",
    "Sato",
    "Kowalski",
    "Mensah",
    "Duarte",
    "Fischer",
]
_FAMILY: Final = "赵钱孙李周吴郑王冯陈沈韩杨朱"
_GIVEN: Final = ["晓明", "思远", "雨桐", "文博", "佳怡", "子涵", "建国", "丽华", "若曦", "浩然", "静", "伟", "敏", "涛"]
_TEXTS: Final = (
    "spring tides/春季潮汐", "old harbour walls/老港口城墙", "quiet machines/安静的机器", "winter bees/冬天的蜜蜂",
    "salt and light/盐与光", "rivers of the north/北方的河流", "paper boats/纸船", "roof repair/屋顶维修",
)  # fmt: skip
_CURRENCIES: Final = ["EUR", "JPY", "GBP", "CHF", "NOK", "CNY", "USD", "SEK"]


def sample(attribute: Attribute, rng: Random, *, is_chinese: bool) -> Sample:
    """Draw a value of an attribute."""
    kind, _, rest = attribute.kind.partition(":")
    return _SAMPLERS[kind](rest, rng, is_chinese)


def schema(attribute: Attribute, *, is_chinese: bool) -> dict[str, Any]:
    """Return the JSON Schema of an attribute."""
    kind, _, rest = attribute.kind.partition(":")
    made = dict(_SCHEMAS.get(kind, {"type": "string"}))
    if kind == "enum":
        made["enum"] = [_side(pair, is_chinese=is_chinese) for pair in rest.split(",")]
    if attribute.name == "age":
        made |= {"minimum": 0, "maximum": 130}
    return {**made, "description": attribute.zh if is_chinese else attribute.en}


def person(rng: Random, *, is_chinese: bool) -> str:
    """Draw a name."""
    return rng.choice(_FAMILY) + rng.choice(_GIVEN) if is_chinese else f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"


def identifier(code: str, rng: Random) -> str:
    """Draw an identifier such as `GE-20417`."""
    return f"{code}-{rng.randrange(10_000, 99_999)}"


def address(rng: Random) -> str:
    """Draw an e-mail address."""
    return f"{rng.choice(_FIRST).lower()}.{rng.choice(_LAST).lower()}@{rng.choice(('mail', 'post', 'office'))}.example"


def _side(pair: str, *, is_chinese: bool) -> str:
    english, _, chinese = pair.partition("/")
    return chinese if is_chinese and chinese else english


def _from(pairs: tuple[str, ...] | list[str]) -> Callable[[str, Random, bool], Sample]:
    def draw(_: str, rng: Random, is_chinese: bool) -> Sample:
        said = _side(rng.choice(pairs), is_chinese=is_chinese)
        return Sample(said, (said,))

    return draw


def _quoted(_: str, rng: Random, is_chinese: bool) -> Sample:
    text = _side(rng.choice(_TEXTS), is_chinese=is_chinese)
    marks = rng.choice(("“{}”", "《{}》")) if is_chinese else rng.choice(('"{}"', "'{}'", "“{}”"))
    return Sample(marks.format(text), (text,))


def _person(_: str, rng: Random, is_chinese: bool) -> Sample:
    name = person(rng, is_chinese=is_chinese)
    return Sample(name, (name,))


def _date(_: str, rng: Random, is_chinese: bool) -> Sample:
    day = date(rng.choice((2025, 2026)), rng.randrange(1, 13), rng.randrange(1, 29))
    said = day.isoformat()
    if rng.random() < 0.6:
        english = (f"{month_name[day.month]} {day.day}, {day.year}", f"{day.day} {month_name[day.month]} {day.year}")
        said = f"{day.year}年{day.month}月{day.day}日" if is_chinese else rng.choice(english)
    return Sample(said, (day.isoformat(),))


def _time(_: str, rng: Random, is_chinese: bool) -> Sample:
    hour, minute = rng.randrange(8, 20), rng.choice((0, 15, 30))
    exact = f"{hour:02}:{minute:02}"
    if minute or hour == 12 or rng.random() < 0.5:
        return Sample(exact, (exact,))
    twelve = f"{hour % 12}{'pm' if hour > 12 else 'am'}"
    chinese = f"{'下午' if hour > 12 else '上午'}{hour % 12 or 12}点"
    return Sample(chinese if is_chinese else twelve, (exact,))


_ENGLISH_NUMBERS: Final = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_CHINESE_NUMBERS: Final = "零一两三四五六七八九十"


def _number(units: str, rng: Random, is_chinese: bool) -> Sample:
    english, _, chinese = units.partition(":")
    value = rng.choice((rng.randrange(2, 400), round(rng.uniform(1, 90), 1)))
    unit = chinese if is_chinese else english
    return Sample(f"{value}{unit}" if is_chinese else f"{value} {unit}".strip(), (value,))


def _integer(units: str, rng: Random, is_chinese: bool) -> Sample:
    english, _, chinese = units.partition(":")
    value = rng.randrange(2, 11) if rng.random() < 0.5 else rng.randrange(11, 90)
    written = str(value)
    if value <= 10 and english and rng.random() < 0.4:
        written = _CHINESE_NUMBERS[value] if is_chinese else _ENGLISH_NUMBERS[value]
    return Sample(f"{written}{chinese}" if is_chinese else f"{written} {english}".strip(), (value,))


def _year(_: str, rng: Random, __: bool) -> Sample:
    value = rng.randrange(1900, 2026)
    return Sample(str(value), (value,))


def _money(_: str, rng: Random, is_chinese: bool) -> Sample:
    value = rng.randrange(2, 400) * 50
    english = rng.choice((f"${value:,}", f"{value} euros", f"{value} dollars"))
    return Sample(rng.choice((f"{value}元", f"{value}欧元")) if is_chinese else english, (value,))


def _percent(_: str, rng: Random, is_chinese: bool) -> Sample:
    value = rng.choice((rng.randrange(1, 60), round(rng.uniform(0.5, 9), 1)))
    english = rng.choice((f"{value}%", f"{value} percent"))
    return Sample(f"{value}%" if is_chinese else english, (value,))


def _fraction(_: str, rng: Random, __: bool) -> Sample:
    value = rng.randrange(5, 60)
    return Sample(f"{value}%", (value / 100,)) if rng.random() < 0.6 else Sample(str(value / 100), (value / 100,))


def _enum(members: str, rng: Random, is_chinese: bool) -> Sample:
    said = _side(rng.choice(members.split(",")), is_chinese=is_chinese)
    return Sample(said, (said,))


def _flag(words: str, rng: Random, is_chinese: bool) -> Sample:
    english, _, chinese = words.partition(":")
    yes, no = (chinese if is_chinese else english).split("/")
    is_on = rng.random() < 0.6
    return Sample(yes if is_on else no, (is_on,))


_SAMPLERS: Final[Mapping[str, Callable[[str, Random, bool], Sample]]] = {
    "city": _from(_CITIES),
    "country": _from(_COUNTRIES),
    "currency": _from(_CURRENCIES),
    "quoted": _quoted,
    "person": _person,
    "date": _date,
    "time": _time,
    "number": _number,
    "integer": _integer,
    "integer_year": _year,
    "money": _money,
    "percent": _percent,
    "fraction": _fraction,
    "enum": _enum,
    "flag": _flag,
}
_SCHEMAS: Final[Mapping[str, dict[str, Any]]] = {
    "number": {"type": "number"},
    "money": {"type": "number"},
    "percent": {"type": "number"},
    "fraction": {"type": "number"},
    "integer": {"type": "integer"},
    "integer_year": {"type": "integer"},
    "flag": {"type": "boolean"},
}
