"""The currencies in use: how many decimals each has, and which symbols and words mean which."""

from __future__ import annotations

from typing import Final

_CODES_BY_DECIMALS: Final = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: """
        AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC
        CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD
        KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO
        NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL
        THB TJS TMT TOP TRY TTD TWD TZS UAH USD UZS VED VES WST XCD XCG YER ZAR ZMW ZWG""",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}

DECIMALS: Final = {code: places for places, codes in _CODES_BY_DECIMALS.items() for code in codes.split()}
"""Digits after the point, by currency. Source: ISO 4217, list one of 2025, column `CcyMnrUnts`; no metals, no funds."""

ONE_CURRENCY: Final = {
    "€": "EUR", "£": "GBP", "₹": "INR", "₩": "KRW", "₪": "ILS", "₫": "VND", "₱": "PHP", "₽": "RUB", "₺": "TRY",
    "₴": "UAH", "₦": "NGN", "₸": "KZT", "₾": "GEL", "₼": "AZN", "฿": "THB", "zł": "PLN", "kč": "CZK",
    "us$": "USD", "a$": "AUD", "au$": "AUD", "ca$": "CAD", "c$": "CAD", "hk$": "HKD", "nt$": "TWD", "nz$": "NZD",
    "s$": "SGD", "r$": "BRL", "mx$": "MXN", "cn¥": "CNY", "jp¥": "JPY", "rmb": "CNY",
    "人民币": "CNY", "人民币元": "CNY", "元人民币": "CNY", "美元": "USD", "美金": "USD", "欧元": "EUR", "英镑": "GBP",
    "日元": "JPY", "日圆": "JPY", "円": "JPY", "港元": "HKD", "港币": "HKD", "新台币": "TWD", "韩元": "KRW",
    "卢布": "RUB",
    "澳元": "AUD", "加元": "CAD", "加币": "CAD", "瑞士法郎": "CHF", "新加坡元": "SGD", "泰铢": "THB", "卢比": "INR",
    "euro": "EUR", "euros": "EUR", "us dollar": "USD", "us dollars": "USD", "yen": "JPY", "yuan": "CNY",
    "renminbi": "CNY",
}  # fmt: skip
"""Folded symbols and words of one currency. Source: CLDR 46, the currency symbols of the root locale, and usage."""

SHARED: Final = {
    "$": (
        "USD", "ARS", "AUD", "BBD", "BMD", "BND", "BSD", "BZD", "CAD", "CLP", "COP", "CUP", "DOP", "FJD", "GYD", "HKD",
        "JMD", "KYD", "LRD", "MXN", "NAD", "NZD", "SBD", "SGD", "SRD", "TTD", "TWD", "UYI", "XCD",
    ),
    "¥": ("CNY", "JPY"),
    "元": ("CNY", "TWD", "HKD", "SGD", "MOP"),
    "圆": ("CNY", "JPY"),
    "块": ("CNY", "TWD", "HKD"),
    "kr": ("SEK", "NOK", "DKK", "ISK"),
    "kr.": ("DKK", "ISK", "SEK", "NOK"),
    "rs": ("INR", "PKR", "LKR", "NPR", "MUR", "SCR"),
    "rs.": ("INR", "PKR", "LKR", "NPR", "MUR", "SCR"),
    "₨": ("INR", "PKR", "LKR", "NPR", "MUR", "SCR"),
    "fr.": ("CHF", "XAF", "XOF", "XPF"),
    "r": ("ZAR",),
    "£": ("GBP", "EGP", "FKP", "GIP", "LBP", "SHP", "SSP", "SYP"),
    "₩": ("KRW", "KPW"),
    **dict.fromkeys(("dollar", "dollars"), ("USD", "AUD", "CAD", "HKD", "NZD", "SGD", "TWD")),
}  # fmt: skip
"""Folded symbols that several currencies share. Source: CLDR 46, the narrow currency symbols, and usage."""
