"""Well-known places and family names, for texts whose letters do not tell a name from other words."""

from __future__ import annotations

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> frozenset[str]:
    """Return the phrases between bars; a line ends a phrase too."""
    parts = (part.strip() for part in text.replace("\n", "|").split("|"))
    return frozenset(part for part in parts if part)


CHINESE_PLACES: Final = _words(
    """
    北京 上海 天津 重庆 广州 深圳 杭州 南京 苏州 成都 武汉 西安 长沙 郑州 青岛 大连 宁波 厦门 福州 济南 合肥 昆明
    贵阳 南宁 海口 三亚 哈尔滨 长春 沈阳 石家庄 太原 呼和浩特 兰州 西宁 银川 乌鲁木齐 拉萨 南昌 无锡 佛山 东莞 珠海
    温州 常州 烟台 洛阳 桂林 丽江 扬州 绍兴 泉州 徐州 香港 澳门 台北 高雄 东京 大阪 京都 首尔 釜山 新加坡 曼谷
    吉隆坡 河内 雅加达 马尼拉 新德里 孟买 迪拜 伦敦 巴黎 柏林 慕尼黑 法兰克福 罗马 米兰 威尼斯 马德里 巴塞罗那
    里斯本 阿姆斯特丹 布鲁塞尔 维也纳 苏黎世 日内瓦 布拉格 华沙 莫斯科 圣彼得堡 斯德哥尔摩 奥斯陆 哥本哈根 赫尔辛基
    雅典 伊斯坦布尔 开罗 内罗毕 约翰内斯堡 纽约 洛杉矶 旧金山 芝加哥 波士顿 西雅图 华盛顿 休斯顿 迈阿密 拉斯维加斯
    多伦多 温哥华 蒙特利尔 墨西哥城 悉尼 墨尔本 奥克兰 中国 日本 韩国 美国 英国 法国 德国 意大利 西班牙 葡萄牙 荷兰
    瑞士 瑞典 挪威 芬兰 丹麦 俄罗斯 加拿大 澳大利亚 新西兰 印度 泰国 越南 马来西亚 印度尼西亚 菲律宾 巴西 阿根廷
    智利 秘鲁 墨西哥 埃及 南非 肯尼亚 土耳其 希腊 波兰 奥地利 比利时 爱尔兰 广东 广西 浙江 江苏 山东 四川 云南 海南
    福建 湖北 湖南 河南 河北 山西 陕西 安徽 江西 贵州 辽宁 吉林 黑龙江 内蒙古 新疆 西藏 青海 甘肃 宁夏 台湾 欧洲
    亚洲 非洲
    """
)
"""Cities, provinces and countries in Chinese."""

_LONE_PLACES: Final = _words(
    """
    london paris berlin munich frankfurt rome milan venice madrid barcelona lisbon amsterdam brussels vienna zurich
    geneva prague warsaw moscow stockholm oslo copenhagen helsinki athens istanbul cairo nairobi johannesburg tokyo
    osaka kyoto seoul singapore bangkok hanoi jakarta manila delhi mumbai dubai beijing shanghai guangzhou shenzhen
    hangzhou chengdu chicago boston seattle houston miami dallas denver atlanta phoenix philadelphia toronto
    vancouver montreal sydney melbourne brisbane perth auckland china japan korea france germany italy spain
    portugal netherlands switzerland sweden norway finland denmark russia canada australia india thailand vietnam
    malaysia indonesia philippines brazil argentina chile peru mexico egypt kenya turkey greece poland austria
    belgium ireland england scotland usa uk europe asia africa california texas florida hawaii
    """
)

ENGLISH_REGIONS: Final = _phrases(
    """
    afghanistan|albania|algeria|argentina|armenia|australia|austria|bangladesh|belgium|bolivia|brazil|bulgaria
    cambodia|cameroon|canada|chile|china|colombia|costa rica|croatia|cuba|cyprus|czech republic|denmark|ecuador
    egypt|england|estonia|ethiopia|finland|france|georgia|germany|ghana|greece|hungary|iceland|india|indonesia
    iran|iraq|ireland|israel|italy|jamaica|japan|jordan|kazakhstan|kenya|latvia|lebanon|lithuania|luxembourg
    malaysia|mexico|mongolia|morocco|nepal|netherlands|new zealand|nigeria|north korea|norway|pakistan|panama|peru
    philippines|poland|portugal|qatar|romania|russia|saudi arabia|scotland|senegal|serbia|singapore|slovakia
    slovenia|south africa|south korea|spain|sri lanka|sweden|switzerland|syria|taiwan|tanzania|thailand|tunisia
    turkey|uganda|ukraine|united arab emirates|united kingdom|united states|uruguay|usa|uk|uae|venezuela|vietnam
    wales|zambia|zimbabwe|alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii
    idaho|illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota
    mississippi|missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|north carolina|north dakota
    ohio|oklahoma|oregon|pennsylvania|rhode island|south carolina|south dakota|tennessee|texas|utah|vermont
    virginia|washington|west virginia|wisconsin|wyoming|ontario|quebec|british columbia|alberta|queensland
    victoria|new south wales|bavaria|catalonia|tuscany
    """
)
"""Countries, and states and provinces of some, in lower case: what follows a city after a comma."""
ENGLISH_CITIES: Final = _phrases(
    """
    new york|new york city|los angeles|san francisco|san diego|san jose|las vegas|new orleans|salt lake city
    washington|st. louis|san antonio|austin|portland|denver|detroit|minneapolis|nashville|charlotte|columbus
    cleveland|tampa|orlando|sacramento|baltimore|pittsburgh|hong kong|kuala lumpur|buenos aires|rio de janeiro
    sao paulo|mexico city|cape town|tel aviv|abu dhabi|addis ababa|new delhi|ho chi minh city|edinburgh|manchester
    liverpool|birmingham|glasgow|bristol|leeds|dublin|cork|belfast|cardiff|hamburg|cologne|dresden|leipzig
    stuttgart|lyon|marseille|nice|bordeaux|toulouse|lille|nantes|naples|florence|turin|bologna|seville|valencia
    bilbao|granada|porto|antwerp|ghent|rotterdam|gothenburg|malmo|bergen|trondheim|aarhus|tallinn|riga|vilnius
    krakow|gdansk|budapest|bucharest|sofia|belgrade|zagreb|ljubljana|bratislava|salzburg|innsbruck|basel|bern
    lausanne|kyiv|minsk|reykjavik|lima|bogota|quito|santiago|montevideo|caracas|havana|lagos|accra|dakar
    casablanca|tunis|algiers|kampala|riyadh|doha|tehran|baghdad|beirut|amman|jerusalem|karachi|lahore|dhaka
    kathmandu|colombo|bangalore|chennai|kolkata|hyderabad|pune|taipei|busan|nagoya|sapporo|fukuoka|yokohama
    hiroshima|nara|adelaide|canberra|hobart|wellington|christchurch|ottawa|calgary|edmonton|winnipeg|halifax
    anchorage|honolulu|brooklyn|manhattan|boulder
    """
)
ENGLISH_PLACES: Final = _LONE_PLACES | ENGLISH_REGIONS | ENGLISH_CITIES
"""Cities and countries in English, lower case."""

_STATES: Final = """
AL birmingham montgomery mobile|AK anchorage juneau|AZ phoenix tucson scottsdale mesa|AR little_rock
CA san_francisco los_angeles san_diego san_jose sacramento oakland berkeley fresno long_beach palo_alto santa_monica
CO denver boulder aurora|CT hartford|DC washington|FL miami orlando tampa jacksonville|GA atlanta savannah
HI honolulu|ID boise|IL chicago|IN indianapolis|IA des_moines|KS wichita|KY louisville lexington|LA new_orleans
ME bangor|MD baltimore annapolis|MA boston cambridge|MI detroit ann_arbor|MN minneapolis
MO st._louis kansas_city|NE omaha lincoln|NV las_vegas reno|NH concord|NJ newark jersey_city
NM albuquerque santa_fe|NY new_york new_york_city brooklyn manhattan buffalo|NC charlotte raleigh
OH columbus cleveland cincinnati|OK tulsa oklahoma_city|OR portland eugene|PA philadelphia pittsburgh
RI providence|TN nashville memphis|TX houston dallas austin san_antonio fort_worth el_paso|UT salt_lake_city
VA richmond|WA seattle spokane|WI milwaukee madison
"""
STATE_OF: Final = {
    city.replace("_", " "): state
    for state, *cities in (row.split() for row in _STATES.replace("\n", "|").split("|") if row.strip())
    for city in cities
}
"""The state of large cities of the United States, lower case, for parameters that take a city with its state."""

SURNAMES: Final = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾萧田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金"
    "石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤小老阿欧诸司"
)
"""First characters of Chinese names, nicknames among them."""

CHINESE_PLACE: Final = re.compile(
    "|".join(sorted(CHINESE_PLACES, key=lambda name: (-len(name), name))).join(("(?:", ")")) + "(?:省|市|区|县|自治区)?"
)
"""A well-known place, with what kind of place it is where that is said."""
