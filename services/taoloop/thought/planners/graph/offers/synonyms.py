"""Other words for common members of enums, in English and Chinese; general words alone, no catalogue's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_GROUPS: Final = """
male | man | boy | 男 | 男性 | 男士
female | woman | girl | 女 | 女性 | 女士
high | 高 | 高级
medium | moderate | 中 | 中等
low | 低
urgent | 紧急 | 加急
normal | 普通 | 正常 | 标准 | standard
daily | every day | each day | per day | 每天 | 每日 | 日
weekly | every week | per week | 每周 | 周
monthly | every month | per month | 每月 | 月
yearly | annually | annual | every year | 每年 | 年
hourly | every hour | per hour | 每小时
celsius | centigrade | °c | 摄氏 | 摄氏度
fahrenheit | °f | 华氏 | 华氏度
economy | 经济舱
business | 商务舱 | 公务舱
first | first class | 头等舱
asc | ascending | 升序 | 从低到高
desc | descending | 降序 | 从高到低
km | kilometers | kilometres | kilometer | 公里 | 千米
miles | mile | mi | 英里
meters | metres | meter | m | 米
kg | kilograms | kilogram | 公斤 | 千克
lb | lbs | pounds | 磅
usd | us dollars | dollars | 美元
eur | euros | euro | 欧元
gbp | pounds sterling | british pounds | 英镑
jpy | yen | 日元
cny | rmb | yuan | 人民币 | 元
en | english | 英语 | 英文
zh | chinese | mandarin | 中文 | 汉语
fr | french | 法语
de | german | 德语
es | spanish | 西班牙语
ja | japanese | 日语
ko | korean | 韩语
one-way | one way | oneway | 单程
round-trip | round trip | return | 往返
driving | by car | drive | 驾车 | 开车
walking | on foot | walk | 步行
bicycling | cycling | by bike | bike | 骑行
transit | public transport | 公共交通
beginner | 初级 | 入门
intermediate | 中级
advanced | 高级
small | 小 | 小号
large | big | 大 | 大号
active | 有效 | 启用
inactive | 无效 | 停用
pending | 待处理 | 待定
morning | 上午 | 早上
afternoon | 下午
evening | 晚上
"""


def _read() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for line in _GROUPS.strip().splitlines():
        words = [word.strip() for word in line.split("|")]
        for word in words:
            found.setdefault(word, []).extend(other for other in words if other != word)
    return {word: tuple(dict.fromkeys(others)) for word, others in found.items()}


_OTHERS: Final = _read()


def other_words(member: str) -> Iterator[str]:
    """Yield other words for an enum's member, whatever its case and `_` or `-`."""
    folded = member.lower().strip()
    for form in dict.fromkeys((folded, folded.replace("_", " "), folded.replace("_", "-"))):
        yield from _OTHERS.get(form, ())
