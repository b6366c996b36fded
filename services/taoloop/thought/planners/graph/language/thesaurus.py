"""Words of general English and Chinese that mean nearly the same: a request and a tool seldom choose the same one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from taoloop.thought.planners.graph.language.text import stem

_GROUPS: Final = """
movie film cinema
car vehicle automobile auto drive
cost price fee charge pay expensive cheap
buy purchase shop
picture image photo photograph
book reserve reservation
phone telephone mobile
flight fly plane airplane
weather forecast temperature rain snow sunny humidity
translate translation say
song track music tune album
team club
match game fixture
recipe cook dish meal
doctor physician
remind reminder
send mail
email mail
convert change exchange
currency money dollar euro yen pound yuan
loan mortgage credit borrow
tip gratuity
job position vacancy career
house home property apartment flat
hotel stay accommodation room
restaurant eat dine food
calorie burn
distance far
duration long
height tall
length long
weight weigh heavy
age old
schedule arrange appointment meeting event
create make generate add
remove delete erase
location place where
direction route way navigate
stock share ticker
company firm corporation business
employee worker staff
legal law court lawsuit
speed velocity fast
time clock hour
attraction sight landmark
investment invest
worth value
divide split
account user
news article headline
average mean
playlist song
alarm wake
light lamp brightness
statistics stat score
author writer write
biggest largest maximum highest
smallest lowest minimum
picture draw
grow growth increase
convert conversion
send deliver forward notify
cancel delete remove
create open start register
update edit modify change
store shop
shirt clothes clothing
parcel package shipment
track trace
zodiac horoscope
quote quotation
probability chance likelihood odds
sentence text
holiday vacation trip
ticket fare
result outcome
salary wage
medicine drug medication
disease illness
symptom sick
exercise workout
class course lesson
film genre
website url web
population people inhabitant
election vote
电影 影片
价格 费用 房价 价钱 少钱
快递 包裹 寄件 运单
挂号 门诊 看病 就诊
天气 气温 下雨
酒店 宾馆 旅馆 住宿
机票 航班
火车 高铁 动车 列车
外卖 点餐 餐厅 餐馆
还款 月供
兑换 换成 汇率 货币
打开 开启
歌曲 音乐 播放
提醒 闹钟
邮件 邮箱
身高 体重
招聘 职位
课程 学习
新闻 资讯
"""


def _read() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in _GROUPS.strip().splitlines():
        keys = [stem(word) if word.isascii() else word for word in line.split()]
        for key in keys:
            found.setdefault(key, {}).update(dict.fromkeys(other for other in keys if other != key))
    return {key: tuple(others) for key, others in found.items()}


_NEAR: Final = _read()


def near_words(key: str) -> tuple[str, ...]:
    """Return the keys of words that mean nearly the same as the word of a key, and of its other forms.

    >>> near_words("calculation")
    ('calculate', 'calculat')
    """
    return (*_NEAR.get(key, ()), *_forms(key))


_SHORTEST: Final = 6


def _forms(key: str) -> Iterator[str]:
    """Yield the verb of a noun in -ion or -ment, and such a noun of a verb."""
    if len(key) < _SHORTEST or not key.isascii():
        return
    if key.endswith("ion"):
        yield from (f"{key[:-3]}e", key[:-3])
    elif key.endswith("ment"):
        yield key[:-4]
    elif key.endswith("e"):
        yield from (f"{key[:-1]}ion", key[:-1])
    elif key.endswith("at"):  # what the ending -ed leaves, as in calculated
        yield from (f"{key}e", f"{key}ion")
