"""What part a free text plays for a tool, by the words of its parameter: which phrase of a request may be it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from taoloop.thought.planners.graph.language.text import stem


class Role(StrEnum):
    """What part a text plays."""

    AGENT = "agent"
    """Who made something: an artist, an author."""
    TOPIC = "topic"
    """What something is about or is searched for."""
    KIND = "kind"
    """A kind, a style, a brand: it stands before the noun that it narrows."""
    THING = "thing"
    """The thing itself: a dish, a product, a species."""
    TITLE = "title"
    """What a thing is called."""
    MESSAGE = "message"
    """What is to be said or noted."""
    GROUP = "group"
    """A company, a school, a team."""
    FORMULA = "formula"
    """An expression or a formula."""
    PLACE = "place"
    """Where."""
    PERSON = "person"
    """Who."""
    OTHER = "other"
    """What its words do not tell."""


_WORDS: Final = {
    Role.FORMULA: "function expression equation formula polynomial integrand 函数 表达式 方程 公式",
    Role.AGENT: "artist author singer band director actor actress composer performer writer painter musician creator"
    " inventor host 作者 歌手 导演 演员 艺术家",
    Role.TOPIC: "query keyword topic subject term question search theme interest phrase field study industry sector"
    " keywords 关键词 主题 话题 行业 领域 专业 搜索词 课题",
    Role.KIND: "genre category type kind cuisine style color colour brand breed material flavor sort model mood"
    " 类型 风格 颜色 品牌 菜系 类别 种类 品种",
    Role.MESSAGE: "message task body content text note comment issue description reason remark caption statement"
    " sentence paragraph review feedback 内容 备注 消息 问题 描述 文本 原因 任务 留言",
    Role.GROUP: "company organization organisation firm corporation university school college team league bank"
    " airline court hospital agency institution club party manufacturer"
    " 公司 学校 球队 医院 机构 银行 大学 企业 餐厅 酒店 法院",
    Role.THING: "dish food product item ingredient species animal plant activity event crop substance element compound"
    " disease symptom medicine drug device object recipe exercise sport skill job position profession instrument"
    " drink fruit vegetable planet particle gene protein cell mineral metal chemical condition vehicle department"
    " service room 菜名 商品 物品 产品 作物 职位 设备 药品 疾病 症状 食物 食材 动物 植物 项目 科室 活动 礼品",
    Role.TITLE: "title song track movie film book game show album label artwork playlist project painting novel"
    " series episode sculpture 标题 名称 片名 歌名 书名 电影 歌曲 游戏",
    Role.PLACE: "city town location place destination origin country region state area venue airport station address"
    " county province neighborhood neighbourhood 城市 地点 位置 地区 国家 目的地 出发地 地址 省份",
    Role.PERSON: "person employee customer recipient contact attendee guest colleague patient owner holder passenger"
    " student driver doctor teacher player user member client 姓名 名字 员工 客户 联系人 收件人 参会人 患者",
}
_ROLE_OF: Final = {
    (stem(word) if word.isascii() else word): role for role, words in _WORDS.items() for word in words.split()
}
_DESCRIBED: Final = 8
"""How many words of a description tell what the text is."""


def role_of(own: tuple[str, ...], told: tuple[str, ...]) -> Role:
    """Return what part a text plays: by the last word of its name that tells it, else by its description."""
    others = [word for word in own if word not in {"name", "title"}]
    for word in (*reversed(others), *(word for word in own if word not in others)):
        if word in _ROLE_OF and not (word == "name" and others):
            return _ROLE_OF[word]
    for word in told[:_DESCRIBED]:
        if word in _ROLE_OF and word != "name":
            return _ROLE_OF[word]
    if "name" in own or "name" in told[:_DESCRIBED]:
        return Role.TITLE if others else Role.PERSON
    return Role.OTHER
