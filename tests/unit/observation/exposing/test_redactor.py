"""What a contract redacts is masked in data and in failures; secrets in texts are masked always."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import dumps
from taoloop.core.faults import FaultCode
from taoloop.observation.exposing import compile_exposer
from taoloop.observation.exposing.redactor import Redactor, compile_redactor
from taoloop.observation.stages.model import Stage, flaw
from taoloop.tools.contract import NormaliseRule, Observe, PersonalData, RedactField, RedactPattern
from taoloop.tools.personal_data.finding import FINDERS


def redactor(*redact: Any, **observe: Any) -> Redactor:
    return compile_redactor(Observe(redact=redact, **observe))


ALL = (PersonalData.PHONE, PersonalData.ID_CARD, PersonalData.EMAIL, PersonalData.BANK_CARD)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("call 13800138000 or li.na@example.com", "call <PHONE> or <EMAIL>"),
        ("id 11010519491231002X", "id <ID_CARD>"),
        ("card 4111 1111 1111 1111", "card <BANK_CARD>"),
        ("Authorization: Bearer abc", "Authorization: ***"),
        ("nothing here", "nothing here"),
    ],
)
def test_each_kind_has_its_placeholder(text: str, masked: str) -> None:
    assert redactor(*ALL).mask_text(text) == masked


def test_without_redact_only_secrets_are_masked() -> None:
    value: Any = {"phone": "13800138000", "url": "https://u:p@example.com/?token=abc"}

    assert redactor().redact(value).value == {"phone": "13800138000", "url": "https://u:***@example.com/?token=***"}


def test_numbers_of_persons_that_are_json_numbers_are_masked() -> None:
    value: Any = {"phone": 13800138000, "card": 4111111111111111, "count": 7, "is_new": True, "price": 1.5}

    assert redactor(*ALL).redact(value).value == {
        "phone": "<PHONE>",
        "card": "<BANK_CARD>",
        "count": 7,
        "is_new": True,
        "price": 1.5,
    }


def test_members_with_telling_names_are_masked_where_the_contract_says_secrets() -> None:
    value: Any = {"password": "x", "access_token": 5, "session": {"id": 1}, "max_tokens": 5, "pin_code": None}

    assert redactor(PersonalData.SECRETS).redact(value).value == {**value, "password": "***", "access_token": "***"}
    assert redactor().redact(value).value is value


def test_field_is_masked_whole_in_every_item_and_null_stays() -> None:
    value: Any = {"items": [{"id": 1, "who": {"name": "Li"}}, {"id": 2, "who": None}, {"id": 3}]}

    redacted = redactor(RedactField(field="/items/*/who")).redact(value)

    assert redacted.value == {"items": [{"id": 1, "who": "<REDACTED>"}, {"id": 2, "who": None}, {"id": 3}]}
    assert redacted.places == (("items", 0, "who"),)


def test_own_pattern_has_its_own_placeholder() -> None:
    own = RedactPattern(name="staff_number", pattern="E-[0-9]{4,}")

    assert redactor(own).mask_text("E-12345, E-1") == "<STAFF_NUMBER>, E-1"


def test_value_without_anything_to_mask_is_the_same_object() -> None:
    value: Any = {"a": [1, "x", {"b": None}]}

    assert redactor(*ALL).redact(value).value is value


def test_bound_on_the_bytes_is_never_too_low() -> None:
    value: Any = {"\u0001" * 9: ["\u0002" * 50, 10**50, -1, True, None, 1.5, "文", {}], "": []}

    assert redactor(*ALL).redact(value).bytes_bound >= len(dumps(value).encode())


def test_failure_quotes_no_personal_data() -> None:
    found = flaw(Stage.SCHEMA, FaultCode.SCHEMA_VIOLATION, "…", pointer="/contact", actual="call 13800138000")

    (hidden,) = compile_exposer(Observe(redact=(PersonalData.PHONE,))).hide([found])

    assert hidden.failure.actual == "call <PHONE>"
    assert compile_exposer(Observe()).hide([found]) == (found,)


def test_value_that_was_cut_in_the_middle_of_a_number_does_not_show_its_half() -> None:
    found = flaw(Stage.SCHEMA, FaultCode.SCHEMA_VIOLATION, "…", actual="x" * 190 + " 13800138000 and more")

    (hidden,) = compile_exposer(Observe(redact=(PersonalData.PHONE,))).hide([found])

    assert hidden.failure.actual == "x" * 190 + " …"


@pytest.mark.parametrize(
    ("pointer", "actual", "hidden"),
    [
        ("/owner", "Li Na", "<REDACTED>"),  # as the data names it
        ("/raw/who", "Li Na", "<REDACTED>"),  # as the body names it
        ("/owner/first", "Li", "<REDACTED>"),
        ("/raw", {"who": "Li Na", "n": 1}, {"who": "<REDACTED>", "n": 1}),
        ("", {"raw": {"who": "Li Na"}, "n": 1}, {"raw": {"who": "<REDACTED>"}, "n": 1}),
        ("/raw", "{" + "x" * 198 + "…", "<REDACTED>"),
        ("/raw/n", 5, 5),
    ],
)
def test_failure_at_a_redacted_field_shows_nothing_of_it(pointer: str, actual: Any, hidden: Any) -> None:
    masks = redactor(RedactField(field="/owner"), normalise=(NormaliseRule(field="/raw/who", to="/owner"),))

    assert masks.excerpt(actual, pointer) == hidden


@given(st.text(alphabet="0123456789 +-.()@abX", max_size=40))
def test_what_is_told_at_once_is_what_the_search_would_find(text: str) -> None:
    is_found = any(list(finder(text)) for finder in FINDERS.values())

    assert (redactor(*ALL).mask_text(text) != text) == is_found
    assert redactor(*ALL).is_clean(text, 1000) <= (not is_found)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_data_that_is_clean_within_a_bound_is_no_longer_than_the_bound(value: Any) -> None:
    size = len(dumps(value).encode())

    assert not redactor().is_clean(value, size - 1)
