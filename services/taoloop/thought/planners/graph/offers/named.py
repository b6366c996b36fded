"""Currencies, languages and units that the words of a request name, as a slot spells them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from taoloop.plan.model import Convert
from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.reading import Reading
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import Place, RequestView
from taoloop.values.quantities.currencies import DECIMALS, ONE_CURRENCY

_CURRENCY_WORDS: Final[Mapping[str, str]] = {
    **{word: code for word, code in ONE_CURRENCY.items() if len(word) > 2 or not word.isascii()},
    **dict.fromkeys(("dollars", "dollar", "american dollars", "usd"), "USD"),
    **dict.fromkeys(("pounds", "british pounds", "british pound", "pounds sterling", "sterling", "pound"), "GBP"),
    **dict.fromkeys(("japanese yen", "chinese yuan", "swiss francs", "swiss franc"), ""),
    "japanese yen": "JPY", "chinese yuan": "CNY", "swiss francs": "CHF", "swiss franc": "CHF",
    "canadian dollars": "CAD", "canadian dollar": "CAD", "australian dollars": "AUD", "australian dollar": "AUD",
    "new zealand dollars": "NZD", "hong kong dollars": "HKD", "singapore dollars": "SGD", "indian rupees": "INR",
    "rupees": "INR", "korean won": "KRW", "south korean won": "KRW", "mexican pesos": "MXN", "brazilian reais": "BRL",
    "swedish kronor": "SEK", "swedish krona": "SEK", "norwegian kroner": "NOK", "danish kroner": "DKK",
    "russian rubles": "RUB", "turkish lira": "TRY", "thai baht": "THB", "polish zloty": "PLN",
    "us dollars": "USD", "us dollar": "USD",
}  # fmt: skip
"""Words of one currency in everyday use, beside the codes."""
_BEFORE_SIGN: Final = {"$": "USD", "€": "EUR", "£": "GBP"}
_CODES = re.compile(r"(?<![A-Za-z])(?P<code>[A-Z]{3})(?![A-Za-z])")

_LANGUAGES: Final = """
en English 英语 英文|zh Chinese 中文 汉语 Mandarin|fr French 法语 法文|de German 德语 德文|es Spanish 西班牙语
it Italian 意大利语|pt Portuguese 葡萄牙语|ru Russian 俄语 俄文|ja Japanese 日语 日文|ko Korean 韩语 韩文
ar Arabic 阿拉伯语|hi Hindi 印地语|nl Dutch 荷兰语|sv Swedish 瑞典语|no Norwegian 挪威语|da Danish 丹麦语
fi Finnish 芬兰语|pl Polish 波兰语|cs Czech 捷克语|el Greek 希腊语|tr Turkish 土耳其语|he Hebrew 希伯来语
th Thai 泰语|vi Vietnamese 越南语|id Indonesian 印尼语|uk Ukrainian 乌克兰语|hu Hungarian 匈牙利语
ro Romanian 罗马尼亚语|la Latin 拉丁语|sw Swahili 斯瓦希里语|bn Bengali 孟加拉语|fa Persian 波斯语
ur Urdu 乌尔都语
"""


def _read() -> dict[str, str]:
    rows = (row.split() for row in _LANGUAGES.strip().replace("\n", "|").split("|"))
    return {word.lower(): code for code, *words in rows for word in words}


_CODE_OF: Final = _read()
_LANGUAGE = re.compile(
    "|".join(
        rf"(?<![a-z]){word}(?![a-z])" if word.isascii() else word for word in sorted(_CODE_OF, key=len, reverse=True)
    )
)
_CURRENCY = re.compile(
    "|".join(
        rf"(?<![a-z]){re.escape(word)}(?![a-z])" if word.isascii() else word
        for word in sorted(_CURRENCY_WORDS, key=len, reverse=True)
    )
)
_TWO_LETTERS = re.compile(r"['\"‘(（ ](?:en|fr|zh|es|de|ja)['\"’)），, ]|ISO ?-?639|two-letter|language code|语言代码")


def named(slot: Slot, view: RequestView, place: Place) -> Iterator[tuple[Mention, Reading]]:
    """Yield what names a currency, a language or a unit in a place, with the value as the slot spells it."""
    if slot.slot_class is SlotClass.LANGUAGE:
        yield from _languages(slot, view, place)
    elif slot.slot_class is SlotClass.UNIT and (slot.direction or slot.is_required):
        yield from _units(slot, view, place)
    elif slot.slot_class is SlotClass.CURRENCY:
        yield from _currencies(slot, view, place)


def _languages(slot: Slot, view: RequestView, place: Place) -> Iterator[tuple[Mention, Reading]]:
    takes_codes = _TWO_LETTERS.search(str(slot.schema.get("description") or "")) is not None
    for match in _LANGUAGE.finditer(view.lowered, *place):
        text = view.text[match.start() : match.end()]
        yield from _spelled(slot, match, text, _CODE_OF[match[0]] if takes_codes else text)


def _currencies(slot: Slot, view: RequestView, place: Place) -> Iterator[tuple[Mention, Reading]]:
    taken: list[Place] = []
    for match in _CODES.finditer(view.text, *place):
        if match["code"] in DECIMALS:
            taken.append(match.span())
            yield from _spelled(slot, match, match[0], match[0])
    for match in _CURRENCY.finditer(view.lowered, *place):
        if not any(match.start() < end and start < match.end() for start, end in taken):
            taken.append(match.span())
            text = view.text[match.start() : match.end()]
            yield from _spelled(slot, match, text, _CURRENCY_WORDS[match[0]])


_MORE_UNITS: Final = """
ounces ounce oz inches inch yards yard stones stone tonnes tonne milligrams milligram grams gram pounds pound kilograms
kilogram kilometers kilometer kilometres centimeters centimeter millimeters millimeter meters meter metres miles mile
feet foot celsius fahrenheit kelvin liters liter litres gallons gallon pints pint cups cup quarts quart milliliters
milliliter teaspoons teaspoon tablespoons tablespoon joules joule calories kilojoules watts kilowatts horsepower newtons
pascals bar psi bytes kilobytes megabytes gigabytes terabytes bits seconds minutes hours days weeks months years acres
hectares knots radians degrees km cm mm kg lbs lb mg ml mph kph
公里 千米 米 厘米 毫米 英里 英尺 英寸 公斤 千克 克 磅 盎司 摄氏度 华氏度 升 毫升 加仑
"""
_UNIT = re.compile(
    "|".join(
        rf"(?<![a-z]){unit}(?![a-z])" if unit.isascii() else unit
        for unit in sorted(_MORE_UNITS.split(), key=len, reverse=True)
    )
)


def _units(slot: Slot, view: RequestView, place: Place) -> Iterator[tuple[Mention, Reading]]:
    for match in _UNIT.finditer(view.lowered, *place):
        text = view.text[match.start() : match.end()]
        yield from _spelled(slot, match, text, text)


def _spelled(slot: Slot, match: re.Match[str], text: str, value: str) -> Iterator[tuple[Mention, Reading]]:
    if slot.accepts(value):
        convert = None if value == text else Convert(to="enum", options={"values": {text: value}})
        yield Mention(MentionKind.CODE, match.start(), match.end(), text), Reading(value, convert)
