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
    a about after again all also am an s t d ll re ve m don doesn didn isn most least more less much many without within
    between during per each every both via take takes took happen
    and any are as asks ask at be been before being but by can could did do does
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
    analyse analyze calculate check compare compute convert count describe determine display estimate evaluate
    explain fetch find get list look lookup predict query read retrieve search see show summarise summarize
    tell track translate view
    """
)
"""English verbs that ask to be told something."""

WRITING_WORDS: Final = _words(
    """
    add apply approve arrange assign book buy cancel change close create decline delete deliver disable draft
    edit email enable enrol file forward insert install invite issue mail make modify move notify open order
    pay place post publish purchase refund register reject remove rename renew reply reschedule reserve
    schedule send set sign start stop submit subscribe terminate transfer turn unsubscribe update upload
    withdraw write
    """
)
"""English verbs that ask for something to be changed when they begin a clause."""

CHINESE_READING_WORDS: Final = _phrases(
    "计算|估算|算一下|比较|对比|分析|翻译|查询|查找|查看|查|搜索|搜一下|看看|看一下|告诉我|列出|显示|了解"
)
"""Chinese verbs that ask to be told something."""

CHINESE_QUESTION_WORDS: Final = _phrases("多少|什么|哪|怎么样|如何|是否|有没有|吗|几点|几个|进度|状态|为何|谁")
"""Chinese words that make a question of a clause wherever they stand."""

CHINESE_WRITING_WORDS: Final = _phrases(
    """
    预订|预定|预约|订|订购|录入|下单|购买|提交|申请|新建|创建|发送|发邮件|通知|取消|删除|修改|更新|更改|支付|付款|转账
    退款|退货|登记|注册|上传|撤销|撤回|批准|开通|关闭|设置|安排
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

GENERIC_WORDS: Final = _words(
    """
    access add amount base based book calculate cancel check code compare compute convert cost count create
    current data date day delete description detail details determine different estimate fetch find first form
    format function general generate get give given help id identifier include information input item kind
    large level list lookup make message name new notify number number object obtain one option order output
    parameter particular perform person place please predict price process provide query quantity rate record
    register report request result retrieve return search see select send set several show single size specific
    specified start status submit system text thing time total track two type unit update use user using value
    various view way what word work year 信息 查询 查找 搜索 获取 数据 数量 名称 编号 类型 日期 时间 结果 根据
    指定 用户 进行 提供 一个 计算 预订 取消 登记 更新 创建 添加 删除 列表 详情 相关 参数 使用 具体 选择 设置
    发送 条件 需要 通知 包括 内容 按条 件搜 工作 我们
    """
)
"""Words that tools of every subject use, so that sharing them says little."""

POLITE_OPENINGS: Final = _phrases(
    """
    please|could you|can you|would you|will you|i want to|i want you to|i would like to|i would like you to|i'd like to
    i'd like you to|i need to|i need you to|help me to|help me|let's|i also need to|i also want to|now|finally
    go ahead and|also|first|and|then
    请帮我|麻烦你|麻烦|帮我|请你|请|我想要|我还想|我想|我要|我需要|给我|能不能|能否|可以|先|再|并|也
    """
)
"""What may stand before the verb of a request without changing it."""

CLAUSE_CONNECTIVES: Final = _phrases(
    """
    and then|after that|afterwards|then|finally|next|and also|also|additionally|lastly
    然后|接着|之后再|之后|随后|最后|另外|此外|还有|同时|并且|以及再|顺便|再|并|也
    """
)
"""Words that open a further clause after a comma or a blank."""

CHINESE_CLAUSE_VERBS: Final = _phrases(
    """
    查|看|搜|找|预订|预定|预约|提交|发送|通知|取消|告诉|列出|订|发|计算|估算|算|登记|录入|比较|对比|翻译|创建|新建|添加|设置|修改
    更新|删除|推荐|分析|生成|获取|了解|撤销|安排|购买|转换|转|播放|打开|关闭|提醒|记录|评估|预测|检查|确认|制定|提供|统计|规划
    """
)
"""Chinese verbs that open a further clause right after a comma."""

FROM_WORDS: Final = _phrases("from|从|自|由|starting|starting on|beginning|since|departing|leaving|源")
"""What stands before a source."""

TO_WORDS: Final = _phrases(
    "to|into|until|till|back on|return on|returning|returning on"
    "|ending|through|到|至|往|去|换成|兑换成|兑换|兑|换|给|for"
)
"""What stands before a target."""

PLACE_CUES: Final = _phrases("in|at|near|around|for|from|to|of|在|去|到|从")
"""What stands before the name of a place."""

CHINESE_PLACE_TAILS: Final = _phrases("的天气|天气|的气温|的空气|未来|今天|明天|后天|本周|这周|(?<!城)市")
"""What follows the name of a place."""

PERSON_CUES: Final = _phrases(
    """
    employee|colleague|customer|client|user|named|name is|called|by|for|to|with|of|contact
    患者|病人|学生|老师|医生|顾客|会员|乘客|嘉宾|作者|收件人|员工|同事|客户|用户|名叫|名为|叫|姓名是|姓名|名字是|联系人|给|向|为|找|约
    """
)
"""What stands before the name of a person."""

PLACE_WORDS: Final = _words(
    """
    city town district location place destination origin country region state area venue airport station address
    城市 地点 位置 地区 国家 目的地 出发地 地址 区县
    """
)
"""Words by which a parameter says that it takes a place."""

PERSON_WORDS: Final = _words(
    """
    name person employee customer recipient contact author artist attendee guest colleague patient owner holder
    passenger student driver doctor teacher director actor singer player 姓名 名字 员工 客户 联系人 收件人
    参会人
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
    "hour": ("hours", "hour", "hrs", "个小时", "个钟头", "小时"),
    "second": ("seconds", "second", "secs", "秒"),
    "day": ("days", "day", "nights", "night", "天", "晚"),
    "week": ("weeks", "week", "周"),
    "month": ("months", "month", "个月"),
    "year": ("years", "year", "年"),
    "age": ("years old", "year old", "age", "岁"),
    "person": ("people", "persons", "person", "servings", "guests", "attendees", "passengers", "adults",
               "人数", "个人", "人", "位", "名"),
    "seat": ("seats", "seat", "个座位", "座"),
    "percent": ("percent", "%", "％"),
    "money": ("dollars", "dollar", "yuan", "euros", "euro", "usd", "cny", "eur", "pounds sterling", "元", "块", "美元",
              "欧元", "人民币"),
    "length": ("meters", "metres", "meter", "metre", "m", "km", "kilometers", "kilometres", "miles", "mile", "cm", "mm",
               "centimeters", "feet", "foot", "ft", "inches", "inch", "yards", "米", "公里", "千米", "厘米", "毫米",
               "英里"),
    "area": ("square meters", "square metres", "square feet", "square kilometers", "sqm", "hectares", "acres", "平方米",
             "平方公里", "公顷"),
    "volume": ("liters", "litres", "liter", "ml", "gallons", "cubic meters", "升", "毫升", "立方米"),
    "weight": ("kg", "kgs", "kilograms", "kilogram", "grams", "gram", "g", "pounds", "lbs", "tons", "公斤", "千克",
               "克", "吨", "斤"),
    "speed": ("m/s", "km/h", "mph", "kmh", "meters per second", "kilometers per hour", "miles per hour", "米每秒",
              "公里每小时"),
    "power": ("kw", "kilowatts", "watts", "watt", "w", "千瓦", "瓦"),
    "degree": ("degrees celsius", "degrees fahrenheit", "degrees", "degree", "celsius", "fahrenheit", "°c", "°f", "°",
               "摄氏度", "华氏度", "度"),
    "data": ("gb", "mb", "kb", "tb", "gigabytes", "megabytes"),
    "word": ("words", "word", "字"),
    "item": ("units", "pieces", "items", "copies", "件", "个", "台", "份", "本", "张", "间", "瓶", "盒", "袋", "杯",
             "只", "条", "双", "套", "部", "支", "箱", "包", "罐", "块钱"),
}  # fmt: skip
"""Words after a number, by what they count."""

TIME_WORDS: Final = _words("time hour clock 时间 时刻 钟点")
"""Words by which a parameter without a format says that it takes a time of day."""

ORDERS: Final = _words(
    """
    analyse analyze answer ask calculate choose classify compare compute confirm consider convert determine
    discover estimate evaluate examine explain explore extract filter forecast generate help identify imagine
    inquire insert investigate keep let list locate measure need obtain optimize pick plan play predict prepare
    process provide recommend record remind report request research return save scan select share sort split
    suggest summarise summarize suppose switch take teach test translate try update use validate verify visit
    watch what's where's who's write hello hi hey thanks thank i'd i'm i've given assuming using based if when
    our my also additionally finally next then first
    """
)
"""English words that begin a sentence and are no part of a name."""

CLAUSE_VERBS: Final = _words(
    """
    adjust attach connect decrease deploy detect differentiate dim discover divide download examine export extract hire
    import increase install integrate multiply obtain pause raise rent resolve restart resume retrieve simplify solve
    subtract analyse analyze arrange call calculate compare compute confirm convert determine estimate evaluate explain
    forecast generate give identify inform measure notify play plan predict provide recommend record remind
    report suggest summarize summarise translate use verify work
    """
)
"""English verbs that open a clause besides those that read and write."""

NEGATIONS: Final = _words("no not without don't dont never exclude excluding non skip disable disabled")
"""English words that switch off what follows."""

CHINESE_NEGATIONS: Final = _phrases("不需要|不要|不用|不含|不|无需|无|没有|别|非|免|关闭|禁用|取消")
"""Chinese words that switch off what follows."""

FLAG_FILLERS: Final = _words(
    """
    is has have with include included including enable enabled allow allowed should use want need needed
    require required flag show be add apply only whether if true false return do
    """
)
"""Words in the name of a truth value that say nothing about what it is for."""
