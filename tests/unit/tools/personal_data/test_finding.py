"""Numbers and addresses of persons are found by their form and their check digit, in linear time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.tools.contract import PersonalData
from taoloop.tools.personal_data.finding import FINDERS, half_width

ID_CARD = "11010519491231002X"  # the example of GB 11643-1999
VISA = "4111111111111111"  # the public test number


def found(kind: PersonalData, text: str) -> list[str]:
    return list(dict.fromkeys(text[start:end] for start, end in FINDERS[kind](half_width(text))))


@pytest.mark.parametrize(
    "number",
    [
        "13800138000",
        "138-0013-8000",
        "138 0013 8000",
        "+86 13800138000",
        "+8613800138000",
        "0086 138 0013 8000",
        "010-62345678",
        "0755-26001234",
        "+49 (30) 901820",
        "+1 415 555 2671",
        "１３８００１３８０００",
        "138.0013.8000",
        "138–0013–8000",
        "138 - 0013 - 8000",
        "138\u00a00013\u00a08000",
        "١٣٨٠٠١٣٨٠٠٠",
        "(010) 6234 5678",
        "0755 8888 6666",
    ],
)
def test_phone_is_found_inside_a_sentence(number: str) -> None:
    assert found(PersonalData.PHONE, f"请拨打{number}，谢谢") == [number]


@pytest.mark.parametrize(
    "text",
    [
        "order 202405201380013800001",
        "12345678901",
        "+1",
        "2024-05-20",
        "10013800",
        "+5 items",
        "1380013800",
        "113.98765432",
        "150 2024-05-06",
    ],
)
def test_other_numbers_are_no_phones(text: str) -> None:
    assert found(PersonalData.PHONE, text) == []


@pytest.mark.parametrize("number", [ID_CARD, ID_CARD.lower(), "110105 1949 1231 002X", "440524188001010014"])
def test_identity_number_is_found_by_its_check_digit(number: str) -> None:
    assert found(PersonalData.ID_CARD, f"身份证{number}。") == [number]


@pytest.mark.parametrize("number", ["110105194912310021", "11010519491331002X", "1" + ID_CARD, ID_CARD + "A"])
def test_number_with_another_check_digit_or_no_such_day_is_no_identity_number(number: str) -> None:
    assert found(PersonalData.ID_CARD, number) == []


@pytest.mark.parametrize(
    "number", [VISA, "4111 1111 1111 1111", "4111-1111-1111-1111", "6222021234567890128", "378282246310005"]
)
def test_card_number_is_found_by_its_check_digit(number: str) -> None:
    assert found(PersonalData.BANK_CARD, f"card {number}, thanks") == [number]


def test_card_number_beside_other_numbers_is_found_alone() -> None:
    assert found(PersonalData.BANK_CARD, f"12 {VISA} 12 2026") == [VISA]
    assert found(PersonalData.BANK_CARD, "exp 4111 1111 1111 1111 12/27") == ["4111 1111 1111 1111"]


@pytest.mark.parametrize("number", ["4111111111111112", "0000000000000000", "411111111111", "20240520123456789012"])
def test_number_that_fails_the_check_is_no_card(number: str) -> None:
    assert found(PersonalData.BANK_CARD, number) == []


@pytest.mark.parametrize(
    "address", ["li.na@example.com", "a+b_c@mail.example.co.uk", "李娜@example.中国", "x@a-b.museum"]
)
def test_address_is_found_without_the_stop_behind_it(address: str) -> None:
    assert found(PersonalData.EMAIL, f"write to <{address}>, or {address}.") == [address]


@pytest.mark.parametrize("text", ["a@b", "@example.com", "user at example.com", "1@2", "see @handle"])
def test_other_uses_of_the_sign_are_no_address(text: str) -> None:
    assert found(PersonalData.EMAIL, text) == []


@pytest.mark.parametrize("kind", list(FINDERS))
@pytest.mark.parametrize(
    "piece",
    ["1", "1 ", "1-", "+1", "+1 ", "a.", "a@", "a@b.", "a@b.c", "138", "0", "-", "@", "4111 ", "+1 (", "110105"],
)
def test_every_search_is_linear(kind: PersonalData, piece: str) -> None:
    text = piece * (200_000 // len(piece))
    start = time.process_time()

    list(FINDERS[kind](text))

    assert time.process_time() - start < 2


@given(st.text(max_size=200))
def test_any_text_is_searched_and_places_lie_inside(text: str) -> None:
    assert len(half_width(text)) == len(text)
    for finder in FINDERS.values():
        assert all(0 <= start < end <= len(text) for start, end in finder(half_width(text)))
