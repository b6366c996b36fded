"""The units of measure that are known: per dimension the size of each in the dimension's base, and its spellings."""

from __future__ import annotations

from typing import Final

TEMPERATURE: Final = "temperature"

# One unit a line: its symbol, its size in the base unit (a decimal or a fraction), further symbols, which count letter
# case, and words, which do not. The first line of a dimension is its base.
# Sources: SI Brochure, 9th edition; the inch of 25.4 mm and the pound of 0.45359237 kg (1959); NIST SP 811, appendix B,
# for the gallons, the acre of the international foot, conventional mmHg and the thermochemical calorie; IEC 80000-13
# for bits and bytes.
_ROWS: Final = {
    "length": """
        m | 1 | | metre metres meter meters 米
        nm | 1/1000000000 | | nanometre nanometres nanometer nanometers 纳米
        μm | 1/1000000 | um | micrometre micrometres micrometer micrometers 微米
        mm | 1/1000 | | millimetre millimetres millimeter millimeters 毫米
        cm | 1/100 | | centimetre centimetres centimeter centimeters 厘米
        dm | 1/10 | | decimetre decimetres decimeter decimeters 分米
        km | 1000 | | kilometre kilometres kilometer kilometers 千米 公里
        in | 0.0254 | | inch inches 英寸
        ft | 0.3048 | | foot feet 英尺
        yd | 0.9144 | | yard yards
        mi | 1609.344 | | mile miles 英里
        nmi | 1852 | | 海里""",
    "mass": """
        kg | 1 | | kilogram kilograms kilogramme kilogrammes 千克 公斤
        μg | 1/1000000000 | ug mcg | microgram micrograms 微克
        mg | 1/1000000 | | milligram milligrams 毫克
        g | 1/1000 | | gram grams gramme grammes 克
        t | 1000 | | tonne tonnes 吨 公吨
        lb | 0.45359237 | lbs | pound pounds 磅
        oz | 0.028349523125 | | ounce ounces 盎司
        long_ton | 1016.0469088 | |
        short_ton | 907.18474 | |""",
    "volume": """
        m3 | 1 | | cubic_metre cubic_metres cubic_meter cubic_meters 立方米
        dm3 | 1/1000 | | 立方分米
        cm3 | 1/1000000 | cc | 立方厘米
        mm3 | 1/1000000000 | | 立方毫米
        L | 1/1000 | l | litre litres liter liters 升 公升
        hL | 1/10 | hl | hectolitre hectolitres hectoliter hectoliters
        dL | 1/10000 | dl | decilitre decilitres deciliter deciliters
        cL | 1/100000 | cl | centilitre centilitres centiliter centiliters
        mL | 1/1000000 | ml | millilitre millilitres milliliter milliliters 毫升
        μL | 1/1000000000 | μl uL ul | microlitre microlitres microliter microliters 微升
        ft3 | 0.028316846592 | | 立方英尺
        in3 | 0.000016387064 | | 立方英寸
        US_gal | 0.003785411784 | |
        imp_gal | 0.00454609 | |
        US_qt | 0.000946352946 | |
        imp_qt | 0.0011365225 | |
        US_pt | 0.000473176473 | |
        imp_pt | 0.00056826125 | |
        US_fl_oz | 0.0000295735295625 | |
        imp_fl_oz | 0.0000284130625 | |""",
    "area": """
        m2 | 1 | sqm | square_metre square_metres square_meter square_meters 平方米 平米
        mm2 | 1/1000000 | | 平方毫米
        cm2 | 1/10000 | | 平方厘米
        dm2 | 1/100 | | 平方分米
        km2 | 1000000 | | square_kilometre square_kilometres square_kilometer square_kilometers 平方公里 平方千米
        ha | 10000 | | hectare hectares 公顷
        in2 | 0.00064516 | sq_in | 平方英寸
        ft2 | 0.09290304 | sq_ft sqft | square_foot square_feet 平方英尺
        yd2 | 0.83612736 | sq_yd |
        mi2 | 2589988.110336 | sq_mi | 平方英里
        acre | 4046.8564224 | ac | acres 英亩
        亩 | 2000/3 | | 市亩""",
    "speed": """
        m/s | 1 | mps | metre/second metres/second meter/second meters/second 米/秒 米每秒
        km/h | 5/18 | kph kmh km/hr km/hour | kilometres/hour kilometers/hour 公里/小时 千米/小时 公里每小时 千米每小时
        mph | 0.44704 | mi/h | miles/hour 英里/小时 英里每小时
        kn | 463/900 | kt kts | knot knots 节
        km/s | 1000 | | 千米/秒 公里/秒
        cm/s | 1/100 | | 厘米/秒
        ft/s | 0.3048 | fps | 英尺/秒
        m/min | 1/60 | | 米/分钟""",
    "time": """
        s | 1 | sec secs | second seconds 秒 秒钟
        ns | 1/1000000000 | | nanosecond nanoseconds 纳秒
        μs | 1/1000000 | us | microsecond microseconds 微秒
        ms | 1/1000 | msec | millisecond milliseconds 毫秒
        min | 60 | mins | minute minutes 分钟
        h | 3600 | hr hrs | hour hours 小时 个小时 钟头 个钟头
        d | 86400 | | day days 天
        wk | 604800 | wks | week weeks 周 星期 个星期""",
    "data": """
        B | 1 | | byte bytes 字节
        kB | 1000 | | kilobyte kilobytes
        MB | 1000000 | | megabyte megabytes
        GB | 1000000000 | | gigabyte gigabytes
        TB | 1000000000000 | | terabyte terabytes
        PB | 1000000000000000 | | petabyte petabytes
        EB | 1000000000000000000 | | exabyte exabytes
        KiB | 1024 | | kibibyte kibibytes
        MiB | 1048576 | | mebibyte mebibytes
        GiB | 1073741824 | | gibibyte gibibytes
        TiB | 1099511627776 | | tebibyte tebibytes
        PiB | 1125899906842624 | | pebibyte pebibytes
        EiB | 1152921504606846976 | | exbibyte exbibytes
        bit | 1/8 | b | bits 比特
        kbit | 125 | kb | kilobit kilobits
        Mbit | 125000 | Mb | megabit megabits
        Gbit | 125000000 | Gb | gigabit gigabits
        Tbit | 125000000000 | Tb | terabit terabits
        Kibit | 128 | | kibibit kibibits
        Mibit | 131072 | | mebibit mebibits
        Gibit | 134217728 | | gibibit gibibits""",
    "pressure": """
        Pa | 1 | | pascal pascals 帕 帕斯卡
        hPa | 100 | | hectopascal hectopascals 百帕
        kPa | 1000 | | kilopascal kilopascals 千帕
        MPa | 1000000 | | megapascal megapascals 兆帕
        GPa | 1000000000 | | gigapascal gigapascals
        mbar | 100 | | millibar millibars 毫巴
        bar | 100000 | | bars
        atm | 101325 | | 标准大气压
        Torr | 20265/152 | | torr
        mmHg | 133.322387415 | | 毫米汞柱
        inHg | 3386.388640341 | |
        psi | 8896443230521/1290320000 | |""",
    "energy": """
        J | 1 | | joule joules 焦 焦耳
        kJ | 1000 | | kilojoule kilojoules 千焦
        MJ | 1000000 | | megajoule megajoules 兆焦
        GJ | 1000000000 | | gigajoule gigajoules
        Wh | 3600 | | 瓦时
        kWh | 3600000 | | 千瓦时 度
        MWh | 3600000000 | | 兆瓦时
        GWh | 3600000000000 | |
        cal | 4.184 | | 卡 卡路里
        kcal | 4184 | | kilocalorie kilocalories 千卡 大卡
        eV | 0.0000000000000000001602176634 | | electronvolt electronvolts""",
    "power": """
        W | 1 | | watt watts 瓦 瓦特
        mW | 1/1000 | | milliwatt milliwatts 毫瓦
        kW | 1000 | | kilowatt kilowatts 千瓦
        MW | 1000000 | | megawatt megawatts 兆瓦
        GW | 1000000000 | | gigawatt gigawatts 吉瓦
        PS | 735.49875 | metric_hp | 公制马力
        imp_hp | 37284993579113511/50000000000000 | |""",
    TEMPERATURE: """
        K | 1 | | kelvin kelvins 开 开尔文
        °C | 1 | C degC | celsius deg_celsius degree_celsius degrees_celsius 摄氏度
        °F | 5/9 | F degF | fahrenheit deg_fahrenheit degree_fahrenheit degrees_fahrenheit 华氏度""",
}

ROWS: Final = {
    dimension: tuple(tuple(cell.strip() for cell in row.split("|")) for row in rows.strip().splitlines())
    for dimension, rows in _ROWS.items()
}
"""By dimension: symbol, size in the base unit, further symbols, words; `_` stands for a space."""

ZERO_POINTS: Final = {"K": ("0", "0"), "°C": ("273.15", "-273.15"), "°F": ("229835/900", "-459.67")}
"""By unit of temperature: where its scale begins in kelvin, and absolute zero in the unit itself. Source: SI Brochure
2.3.1; 0 °F = 459.67 × 5/9 K."""

SHARED_SPELLINGS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "data": {"KB": ("kB", "KiB"), "Kb": ("kbit", "Kibit")},
    "mass": {"ton": ("t", "long ton", "short ton"), "tons": ("t", "long ton", "short ton")},
    "volume": {
        **dict.fromkeys(("gal", "gallon", "gallons", "加仑"), ("US gal", "imp gal")),
        **dict.fromkeys(("qt", "quart", "quarts"), ("US qt", "imp qt")),
        **dict.fromkeys(("pt", "pint", "pints", "品脱"), ("US pt", "imp pt")),
        **dict.fromkeys(("fl oz", "fl. oz.", "液量盎司"), ("US fl oz", "imp fl oz")),
    },
    "power": dict.fromkeys(("hp", "horsepower", "马力"), ("PS", "imp hp")),
    TEMPERATURE: dict.fromkeys(("°", "deg", "degree", "degrees", "度"), ("°C", "°F")),
}
"""Spellings that several units of a dimension share: they are read only where the contract names one of them."""
