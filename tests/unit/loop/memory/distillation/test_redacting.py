"""Nothing personal is remembered, and no placeholder can become an argument."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import JsonValue, dumps
from taoloop.loop.memory.distillation.redacting import MOST_READ, MemoryRedactor
from taoloop.tools.contract import PersonalData

KINDS = (PersonalData.PHONE, PersonalData.ID_CARD, PersonalData.BANK_CARD)
REDACTOR = MemoryRedactor(KINDS, {"badge": "B-[0-9]{6}"})
SECRETS = ("13812345678", "11010519491231002X", "4111111111111111", "B-123456", "sk-abcdefghijklmnopqrst")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("打给 13812345678", "打给 <PHONE>"),
        ("身份证１１０１０５１９４９１２３１００２Ｘ", "身份证<ID_CARD>"),
        ("card 4111 1111 1111 1111.", "card <BANK_CARD>."),
        ("badge B-123456", "badge <BADGE>"),
        ("password: hunter2", "password: ***"),
        ("order 12345 of 2024-04-01", "order 12345 of 2024-04-01"),
    ],
)
def test_texts_are_masked(text: str, shown: str) -> None:
    assert REDACTOR.text(text) == shown


@pytest.mark.parametrize("between", ["\n", "\t", "\r\n", "  ", "\0", "\u00a0", "–", " - ", "\u200b"])
def test_a_number_in_groups_is_found_whatever_is_between_them(between: str) -> None:
    number, card = between.join(("138", "1234", "5678")), between.join(("110105", "1949", "1231", "002X"))
    assert REDACTOR.text(f"call {number} or {card}") == "call <PHONE> or <ID_CARD>"
    assert REDACTOR.state({"free": number, "list": [card], number: 1, "lines": "a\nb"}) == {"list": [], "lines": "a\nb"}
    assert number[:7] not in REDACTOR.beginning("字" * (MOST_READ - len(number) + 2) + number)


def test_a_list_under_the_name_of_a_secret_goes_like_its_members() -> None:
    assert REDACTOR.state({"password": ["hunter2"], "session": {"step": 1}}) == {"session": {"step": 1}}


def test_what_is_not_chosen_stays() -> None:
    assert MemoryRedactor((PersonalData.PHONE,)).text("11010519491231002X") == "11010519491231002X"


def test_members_of_a_state_with_personal_data_are_left_out_whole() -> None:
    state: dict[str, JsonValue] = {
        "date_range": "2024-04-01~2024-04-30",
        "phone": "13812345678",
        "mobile": 13812345678,
        "exact": Decimal(13812345678),
        "13812345678": "as a name",
        "api_key": "whatever",
        "user": {"name": "Anna", "id_card": "11010519491231002X"},
        "contacts": ["anna", "+49 30 1234567"],
        "flag": True,
        "nothing": None,
    }
    assert REDACTOR.state(state) == {
        "date_range": "2024-04-01~2024-04-30",
        "user": {"name": "Anna"},
        "contacts": ["anna"],
        "flag": True,
        "nothing": None,
    }


@given(
    secret=st.sampled_from(SECRETS),
    before=st.text(st.characters(categories=("Lu", "Ll", "Lo"), exclude_characters="k"), max_size=5),
    depth=st.integers(0, 3),
)
def test_no_secret_survives_wherever_it_stands_in_a_state(secret: str, before: str, depth: int) -> None:
    value: object = f"{before} {secret} end"
    for level in range(depth):
        value = [value, 1] if level % 2 else {"member": value, "other": 2}
    kept = dumps(REDACTOR.state({"top": value, "kept": "yes"}))  # type: ignore[dict-item]
    assert secret not in kept
    assert "<" not in kept
    assert '"kept"' in kept


@given(secret=st.sampled_from(SECRETS), offset=st.integers(-40, 5), filler=st.sampled_from(["字", "a ", "9 ", "x"]))
def test_the_cut_of_a_long_text_leaves_no_half_of_a_secret(secret: str, offset: int, filler: str) -> None:
    place = MOST_READ + offset
    text = (filler * MOST_READ)[: place - 1] + " " + secret + " " + filler * 100
    read = REDACTOR.beginning(text)
    assert len(read) <= MOST_READ + 40
    assert not any(read.rstrip().endswith(secret[:length]) for length in range(6, len(secret) + 1))


def test_a_key_that_is_longer_than_what_is_read_is_dropped_whole() -> None:
    assert REDACTOR.beginning("key eyJ" + "a" * 20_000 + ".b") == "key"
