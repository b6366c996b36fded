"""Lists of models."""

import pytest

from taoloop.models.readiness.listing import Listing, read_listing


@pytest.mark.parametrize(
    ("entry", "context"),
    [
        ('{"id": "m", "max_model_len": 2048}', 2048),
        ('{"id": "m", "context_length": 32768}', 32768),
        ('{"id": "m", "meta": {"n_ctx": 4096}}', 4096),
        ('{"id": "m"}', None),
        ('{"id": "m", "max_model_len": null}', None),
        ('{"id": "m", "max_model_len": true}', None),
        ('{"id": "m", "max_model_len": -1, "meta": 3}', None),
    ],
)
def test_the_context_is_found_under_the_names_that_servers_use(entry: str, context: int | None) -> None:
    assert read_listing(f'{{"data": [{{"id": "n"}}, {entry}]}}'.encode(), "m") == Listing(("n", "m"), context)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"data": {}}', b'{"data": null}'])
def test_a_list_of_another_form_says_nothing(body: bytes) -> None:
    assert read_listing(body, "m") is None


def test_entries_of_another_form_are_left_out() -> None:
    assert read_listing(b'{"data": [3, {"id": 4}, {"id": "m"}]}', "m") == Listing(("m",))


@pytest.mark.parametrize(
    ("names", "told"), [((), "none"), (("a",), "'a'"), (tuple("abcdef"), "'a', 'b', 'c', 'd', 'e', …")]
)
def test_an_operator_is_told_the_first_names(names: tuple[str, ...], told: str) -> None:
    assert Listing(names).some_names == told
