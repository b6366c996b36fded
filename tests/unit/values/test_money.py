"""Amounts of money and their currencies."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.values.quantities.currencies import DECIMALS, ONE_CURRENCY, SHARED
from taoloop.values.quantities.money import parse_money
from taoloop.values.refusals import ValueRefused


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("€5", "5.00", "EUR"), ("5 €", "5.00", "EUR"), ("€1,234.5", "1234.50", "EUR"),
        ("1.234,56 €", "1234.56", "EUR"),
        ("CNY 5", "5.00", "CNY"), ("5.10 cny", "5.10", "CNY"), ("人民币5元", "5.00", "CNY"),
        ("5元人民币", "5.00", "CNY"),
        ("US$5", "5.00", "USD"), ("-US$5", "-5.00", "USD"), ("US$ -5", "-5.00", "USD"), ("$5 CAD", "5.00", "CAD"),
        ("USD $5", "5.00", "USD"), ("￥5 人民币", "5.00", "CNY"), ("¥500 JPY", "500", "JPY"), ("500円", "500", "JPY"),
        ("£12.50", "12.50", "GBP"), ("£5 EGP", "5.00", "EGP"), ("1.5万美元", "15000.00", "USD"),
        ("五欧元", "5.00", "EUR"),
        ("1.2345 CLF", "1.2345", "CLF"), ("₹ 1,23,456.00", "123456.00", "INR"), ("5ＵＳＤ", "5.00", "USD"),
        ("0 EUR", "0.00", "EUR"), ("-0 EUR", "0.00", "EUR"), ("1e3 USD", "1000.00", "USD"),
    ],
)  # fmt: skip
def test_amount_that_names_its_currency_is_read_exactly(text: str, amount: str, currency: str) -> None:
    read = parse_money(text)
    assert (str(read.amount), read.currency) == (amount, currency)
    assert parse_money(text, currency) == read


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("¥5", "AMBIGUOUS"), ("￥5", "AMBIGUOUS"), ("$5", "AMBIGUOUS"), ("5元", "AMBIGUOUS"), ("5 kr", "AMBIGUOUS"),
        ("5", "MISSING_UNIT"), (5, "MISSING_UNIT"), ("5 XYZ", "UNKNOWN_UNIT"), ("5 BTC", "UNKNOWN_UNIT"),
        ("JPY 5.5", "TOO_PRECISE"), ("BHD 1.2345", "TOO_PRECISE"), ("1.0005 EUR", "TOO_PRECISE"),
        ("5.0000 EUR", "TOO_PRECISE"),
        ("€1,234", "AMBIGUOUS"), ("€5 USD", "UNREADABLE"), ("(5.00)", "UNREADABLE"), ("€5.00-6.00", "UNREADABLE"),
        ("-€-5", "UNREADABLE"), ("€", "UNREADABLE"), ("€5 per month", "UNKNOWN_UNIT"), ("NaN", "NOT_A_NUMBER"),
        ("", "UNREADABLE"), (None, "UNREADABLE"), (True, "UNREADABLE"), ("1e99 EUR", "OUT_OF_RANGE"),
    ],
)  # fmt: skip
def test_amount_without_one_reading_is_refused(value: Any, code: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_money(value)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("value", "currency", "amount"),
    [
        ("¥5", "CNY", "5.00"), ("¥5", "JPY", "5"), ("5元", "TWD", "5.00"), ("$5", "CAD", "5.00"),
        ("£5", "EGP", "5.00"),
        (5, "CNY", "5.00"), (Decimal("5.1"), "CNY", "5.10"), ("5", "KWD", "5.000"), (Decimal("500.0"), "JPY", "500"),
        (Decimal("5.1000"), "CNY", "5.10"), (Decimal("-0.0"), "CNY", "0.00"), (Decimal("1E+3"), "JPY", "1000"),
    ],
)  # fmt: skip
def test_stated_currency_is_that_of_a_bare_number_and_decides_shared_symbols(
    value: Any, currency: str, amount: str
) -> None:
    assert str(parse_money(value, currency).amount) == amount


@pytest.mark.parametrize(
    ("value", "currency", "code"),
    [
        ("€5", "CNY", "WRONG_UNIT"), ("5 USD", "CNY", "WRONG_UNIT"), ("$5", "EUR", "WRONG_UNIT"),
        (5, "XXX", "UNKNOWN_UNIT"),
        (Decimal("5.123"), "CNY", "TOO_PRECISE"), (Decimal("0.5"), "JPY", "TOO_PRECISE"),
        (10**80, "CNY", "OUT_OF_RANGE"),
        (Decimal("1E-99"), "CNY", "OUT_OF_RANGE"), ("12.500", "CNY", "AMBIGUOUS"),
    ],
)  # fmt: skip
def test_amount_that_does_not_fit_the_stated_currency_is_refused(value: Any, currency: str, code: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_money(value, currency)
    assert caught.value.code == code


@given(st.sampled_from(sorted(DECIMALS)), st.integers(-(10**30), 10**30))
def test_every_amount_in_minor_units_is_read_back(currency: str, minor: int) -> None:
    amount = Decimal(f"{minor}E-{DECIMALS[currency]}")
    assert parse_money(amount, currency).amount == amount
    for text in (f"{amount:f} {currency}", f"{currency}{amount:f}", f"{currency} {amount:,f}"):
        assert str(parse_money(text, decimal_separator=".").amount) == f"{amount:f}"


def test_symbols_name_currencies_of_the_table() -> None:
    assert set(ONE_CURRENCY.values()) | {code for codes in SHARED.values() for code in codes} <= DECIMALS.keys()
