"""Names and sentences made from other people's."""

from __future__ import annotations

import pytest

from taoloop.tools.importing.naming import MAX_NAME, one_line, shortened, snake_case, unique, upper_snake


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("getPetById", "get_pet_by_id"),
        ("GET /pets/{petId}", "get_pets_pet_id"),
        ("HTTPServerID", "http_server_id"),
        ("OAuth2", "oauth2"),
        ("x-y.z", "x_y_z"),
        ("2fa", "x_2fa"),
        ("价格", "value"),
        ("a" * 200, "a" * MAX_NAME),
    ],
)
def test_names_become_snake_case(written: str, name: str) -> None:
    assert snake_case(written) == name


def test_a_taken_name_gets_the_first_free_number() -> None:
    assert unique("id", {"id", "id_2"}) == "id_3"
    assert len(unique("a" * MAX_NAME, {"a" * MAX_NAME})) == MAX_NAME


def test_secrets_are_upper_case() -> None:
    assert upper_snake("shop", "petstore_auth", "") == "SHOP_PETSTORE_AUTH"


def test_markup_and_lines_go() -> None:
    assert one_line("**Find**\n\n`one` [pet](http://x) <b>now</b>") == "Find one pet now"


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("Code, e.g. 'G017'", 100, "Code, e.g. 'G017'"),
        ("One. Two three four five.", 10, "One."),
        ("One two three", 9, "One two…"),
        ("Onetwothree", 5, "Onet…"),
    ],
)
def test_a_long_text_is_cut_at_a_sentence_or_a_word(text: str, limit: int, short: str) -> None:
    assert shortened(text, limit) == short
    assert len(short) <= limit
