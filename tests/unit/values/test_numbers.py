"""Exact numbers in words and digits."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.values.chinese_numerals import parse_chinese_number
from taoloop.values.numbers import DecimalSeparator, bounded, decimal_separator_of, parse_integer, parse_number
from taoloop.values.refusals import RefusalCode, ValueRefused


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", "0"), ("-12", "-12"), ("+7", "7"), ("12345678901234567", "12345678901234567"), ("0.10", "0.10"),
        ("1e3", "1E+3"), ("1.000.000", "1000000"), ("1,234,567", "1234567"), ("12,34,567", "1234567"),
        ("20,00", "20.00"),
        ("1.234,56", "1234.56"), ("1,234.56", "1234.56"), ("1 234,5", "1234.5"), ("1'234.5", "1234.5"),
        ("１２．５", "12.5"),
        ("0.125", "0.125"), ("1_000", "1000"), ("\u221212", "-12"),
        ("一千二百", "1200"), ("一万二", "12000"), ("一百二", "120"), ("一百零二", "102"), ("二十五", "25"),
        ("十", "10"),
        ("两百", "200"), ("三点五", "3.5"), ("零", "0"), ("二〇二四", "2024"), ("负三", "-3"),
        ("一亿三千万", "130000000"),
        ("三千零五", "3005"), ("1.5万", "15000"), ("3千万", "30000000"), ("一万零三十", "10030"),
        ("一亿二", "120000000"),
        ("贰佰", "200"), ("十万", "100000"),
    ],
)  # fmt: skip
def test_number_with_one_reading_is_read_exactly(text: str, value: str) -> None:
    assert str(parse_number(text)) == value


@pytest.mark.parametrize("text", ["1,234", "1.234", "-418,350"])
def test_number_that_fits_two_locales_is_refused_with_both(text: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_number(text)
    assert caught.value.code is RefusalCode.AMBIGUOUS
    assert len(caught.value.candidates) == 2


@pytest.mark.parametrize(
    ("text", "separator", "value"),
    [("418,350", ".", "418350"), ("418,350", ",", "418.350"), ("1.234", ",", "1234"), ("1.234", ".", "1.234")],
)
def test_stated_separator_decides(text: str, separator: DecimalSeparator, value: str) -> None:
    assert str(parse_number(text, separator)) == value


@pytest.mark.parametrize(
    "text",
    ["", "-", "abc", "1,23,4", "1..2", ".5", "5.", "1,2,3", "5%", "5 kg", "٣",
     "1234 567", "1 234'567", "12 34", "0 123", "0x10", "01,234",
    "百十",
     "万", "十十", "点五", "三点", "一二百", "1.2.3"],
)  # fmt: skip
def test_text_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_number(text)
    assert caught.value.code is RefusalCode.UNREADABLE


@pytest.mark.parametrize("text", ["NaN", "-nan", "Infinity", "+inf", "∞", "ＮａＮ"])
def test_text_that_names_no_finite_number_is_told_apart(text: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_number(text)
    assert caught.value.code is RefusalCode.NOT_A_NUMBER


@pytest.mark.parametrize(
    "number", [10**5000, -(10**5000), Decimal("1E+999999999"), Decimal("1E-999999999")], ids=range(4)
)
def test_number_that_arithmetic_would_choke_on_is_refused(number: int | Decimal) -> None:
    with pytest.raises(ValueRefused) as caught:
        bounded(number)
    assert caught.value.code is RefusalCode.OUT_OF_RANGE


@given(st.integers(10**28, 10**60))
def test_long_number_in_chinese_digits_is_not_rounded(number: int) -> None:
    text = "".join("零一二三四五六七八九"[int(digit)] for digit in str(number))
    assert parse_number(f"负{text}") == -number
    assert str(parse_number(f"{text}点{text}")) == f"{number}.{number}"


@given(st.from_regex(r"-?[0-9]{1,20}(\.[0-9]{1,20})?", fullmatch=True), st.sampled_from([None, ".", ","]))
def test_short_cut_for_plain_numbers_reads_what_the_rules_read(text: str, separator: DecimalSeparator | None) -> None:
    def read(spelling: str) -> str:
        try:
            return repr(parse_number(spelling, separator))
        except ValueRefused as refused:
            return repr((refused.code, refused.candidates))

    assert read(text) == read(f" {text} ")  # the short cut takes no white space


def test_number_longer_than_the_limit_is_refused() -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_number("9" * 4301)
    assert caught.value.code is RefusalCode.OUT_OF_RANGE


@pytest.mark.parametrize("text", ["1.0", "1e3", "三点五"])
def test_integer_with_a_fraction_is_refused(text: str) -> None:
    with pytest.raises(ValueRefused):
        parse_integer(text)


@pytest.mark.parametrize(
    ("locale", "separator"),
    [
        ("zh-CN", "."),
        ("en", "."),
        ("de-DE", ","),
        ("de-CH", "."),
        ("fr-CH", ","),
        ("en_ZA", None),
        ("", None),
        ("es", None),
        ("es-MX", "."),
        ("es-ES", ","),
        ("pt-BR", ","),
        ("zh-Hans-CN", "."),
        ("xx", None),
        ("-", None),
    ],
)
def test_locale_decides_only_where_it_is_settled(locale: str, separator: str | None) -> None:
    assert decimal_separator_of(locale) == separator


@given(st.integers(-(10**30), 10**30))
def test_every_integer_reads_as_itself_plain_and_grouped(number: int) -> None:
    assert parse_integer(str(number)) == number
    assert parse_integer(f"{number:,}", ".") == number
    assert parse_integer(f"{number:_}") == number


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=3))
def test_every_decimal_keeps_its_digits(number: Decimal) -> None:
    assert str(parse_number(f"{number:f}", ".")) == f"{number:f}"


_UNITS = ("", "十", "百", "千")


def spelt(number: int) -> str:
    """Write a number below a hundred million in Chinese numerals, without shortening."""

    def group(part: int) -> str:
        digits = [int(character) for character in f"{part:04d}"]
        out = ""
        for place, digit in enumerate(digits):
            if digit:
                out += "零一二三四五六七八九"[digit] + _UNITS[3 - place]
            elif out and not out.endswith("零") and any(digits[place:]):
                out += "零"
        return out

    high, low = divmod(number, 10_000)
    if not high:
        return group(low) or "零"
    gap = "零" if 0 < low < 1000 else ""
    return f"{group(high)}万{gap}{group(low)}"


@given(st.integers(0, 10**8 - 1))
def test_every_number_in_chinese_numerals_reads_back(number: int) -> None:
    assert parse_chinese_number(spelt(number)) == number
