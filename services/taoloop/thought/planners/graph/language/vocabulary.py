"""The general words of English and Chinese that the graph planner knows; no word of any catalogue stands here."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    """Return the phrases between bars, in order; a line ends a phrase too."""
    parts = (part.strip() for part in text.replace("\n", "|").split("|"))
    return tuple(part for part in parts if part)


STOP_WORDS: Final = _words(
    """
    a about after again all also am an and any are as asks ask at be been before being but by can could did do does
    doing done e eg etc for from g get give gives given go had has have he her here hers him his how i if in into is it
    its just know latest let like look looks may me might mine my need now of off on one only or other our out over own
    please represents shall she should show so some such tell than that the their them then there these they this those
    to too up us use user uses using value values very want wants was we were what when where whether which while who
    whom whose why will with would you your yours
    """
)
"""English words that say nothing about the subject of a request."""

FUNCTION_CHARACTERS: Final = frozenset(
    "的了吗呢吧啊是在把被给和与及或也都就还又再请我你您他她它们这那哪个些么什怎为于从到对将要想能会可以让帮下一有没不"
)
"""Chinese characters that mostly carry grammar: a pair with one of them says nothing about the subject."""

CONTENT_PAIRS: Final = _words("会议 会员 开会 到货 下单 从业 没收 能源 还款 可用 对账 给付 到账 下雨 有空 空闲")
"""Pairs that keep their meaning although one character is in `FUNCTION_CHARACTERS`."""

LONE_VERBS: Final = frozenset("查看找问说做写用去来叫个位号日月年天点分先后最")
"""Chinese characters that say nothing about the subject when they stand alone."""

QUESTION_WORDS: Final = _words("what which who whom whose how when where why is are was were does did do has have")
"""Words that make a question of the clause which they begin."""

READING_WORDS: Final = _words(
    """
    check count describe display fetch find get list look lookup query read retrieve search see show tell track view
    """
)
"""English verbs that ask to be told something."""

WRITING_WORDS: Final = _words(
    """
    add apply approve assign book buy cancel change close create decline delete deliver disable draft edit email enable
    enrol file forward insert install invite issue mail make modify move notify open order pay place post publish
    purchase refund register reject remove rename renew reply reschedule reserve schedule send set sign start stop
    submit subscribe terminate transfer turn unsubscribe update upload withdraw write
    """
)
"""English verbs that ask for something to be changed when they begin a clause."""

CHINESE_READING_WORDS: Final = _phrases("查询|查找|查看|查|搜索|搜一下|看看|看一下|告诉我|列出|显示|了解")
"""Chinese verbs that ask to be told something."""

CHINESE_QUESTION_WORDS: Final = _phrases("多少|什么|哪|怎么样|如何|是否|有没有|吗|几点|几个|进度|状态|为何|谁")
"""Chinese words that make a question of a clause wherever they stand."""

CHINESE_WRITING_WORDS: Final = _phrases(
    """
    预订|预定|预约|订购|下单|购买|提交|申请|新建|创建|发送|发邮件|通知|取消|删除|修改|更新|更改|支付|付款|转账
    退款|退货|登记|注册|上传|撤销|撤回|批准|开通|关闭|设置
    """
)
"""Chinese verbs that ask for something to be changed."""

CHANGING_WORDS: Final = _words(
    """
    approve buy cancel create decline delete disable purchase reject remove rename send submit subscribe terminate
    unsubscribe upload withdraw
    取消 删除 修改 更改 撤销 撤回 提交 发送 购买 转账 新建 创建 上传 批准 关闭
    """
)
"""The writing verbs that are no nouns as well: a request that begins with one is not served by looking something up."""

POLITE_OPENINGS: Final = _phrases(
    """
    please|could you|can you|would you|will you|i want to|i would like to|i'd like to|i need to|help me|let's
    go ahead and|also|first|and|then
    请帮我|麻烦你|麻烦|帮我|请你|请|我想要|我想|我要|给我|能不能|能否|可以|先|再|并
    """
)
"""What may stand before the verb of a request without changing it."""

CLAUSE_CONNECTIVES: Final = _phrases(
    """
    and then|after that|afterwards|then|finally|next
    然后|接着|之后再|随后|最后|另外|同时|并且|以及再|顺便|再
    """
)
"""Words that open a further clause after a comma or a blank."""

CHINESE_CLAUSE_VERBS: Final = _phrases("查|看|搜|找|预订|预定|提交|发送|通知|取消|告诉|列出|订|发")
"""Chinese verbs that open a further clause right after a comma."""

FROM_WORDS: Final = _phrases("from|从|自|由|starting|departing|leaving|源")
"""What stands before a source."""

TO_WORDS: Final = _phrases("to|into|到|至|往|去|换成|兑换成|兑换|兑|换|给|for")
"""What stands before a target."""

PLACE_CUES: Final = _phrases("in|at|near|around|for|from|to|of|在|去|到|从")
"""What stands before the name of a place."""

CHINESE_PLACE_TAILS: Final = _phrases("的天气|天气|的气温|市")
"""What follows the name of a place."""

PERSON_CUES: Final = _phrases(
    """
    employee|colleague|customer|client|user|named|name is|called|by|for|to|with|of|contact
    员工|同事|客户|用户|名叫|名为|叫|姓名是|姓名|名字是|联系人|给|找|约
    """
)
"""What stands before the name of a person."""

PLACE_WORDS: Final = _words(
    """
    city town location place destination origin country region state area venue airport station address
    城市 地点 位置 地区 国家 目的地 出发地 地址
    """
)
"""Words by which a parameter says that it takes a place."""

PERSON_WORDS: Final = _words(
    """
    name person employee customer recipient contact author artist attendee guest colleague patient
    姓名 名字 员工 客户 联系人 收件人 参会人
    """
)
"""Words by which a parameter says that it takes a person or a named thing."""

ID_WORDS: Final = _words(
    "id ids number no code key reference ticket serial phone 编号 单号 号码 工号 代码 订单号 手机号 电话"
)
"""Words by which a parameter says that it takes an identifier."""

DATE_WORDS: Final = _words("date day when deadline birthday 日期 日子 时间")
"""Words by which a parameter without a format says that it takes a date."""

TEXT_WORDS: Final = _words(
    """
    text message content body query keyword keywords title subject comment note description phrase term question topic
    内容 文本 消息 标题 关键词 搜索词 备注 主题 问题
    """
)
"""Words by which a parameter says that it takes text as the user wrote it."""

TOO_COMMON_NAMES: Final = _words(
    """
    i monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december today tomorrow yesterday
    """
)
"""Capitalised words that are names of nobody and of no place."""

UNIT_WORDS: Final = {
    "minute": ("minutes", "minute", "mins", "min", "分钟"),
    "hour": ("hours", "hour", "hrs", "小时"),
    "second": ("seconds", "second", "秒"),
    "day": ("days", "day", "天"),
    "week": ("weeks", "week", "周"),
    "month": ("months", "month", "个月"),
    "year": ("years", "year", "年"),
    "person": ("people", "persons", "person", "guests", "seats", "attendees", "个人", "人", "位"),
    "percent": ("percent", "%", "％"),
    "money": ("dollars", "dollar", "yuan", "euros", "usd", "cny", "eur", "元", "块", "美元", "欧元"),
    "length": ("meters", "metres", "meter", "km", "kilometers", "miles", "米", "公里"),
    "weight": ("kg", "kilograms", "grams", "pounds", "公斤", "克"),
    "item": ("units", "pieces", "items", "件", "个", "台", "份"),
}
"""Words after a number, by what they count."""
