"""Only the fields in which tools write what went wrong are listened to, a bounded number of them."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.observation.soft.texts import MAX_CHARACTERS, MAX_TEXTS, failure_texts


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({"error": "x"}, ["/error"]),
        ({"errMsg": "x", "snippet": "y"}, ["/errMsg"]),
        ({"error": {"message": "x", "code": "E1", "description": "y"}}, ["/error/message", "/error/description"]),
        ({"errors": ["x", {"message": "y"}, 3]}, ["/errors/0", "/errors/1/message"]),
        ({"错误信息": "x"}, ["/错误信息"]),
        ({"data": {"error": "x"}}, []),
        ({"error": "", "message": None, "msg": 3}, []),
        ([{"error": "x"}], []),
        ("error", []),
        (None, []),
    ],
)
def test_texts_are_found_at_their_places(body: Any, pointers: list[str]) -> None:
    assert [found.pointer for found in failure_texts(body)] == pointers


def test_number_and_length_are_bounded() -> None:
    found = failure_texts({"errors": ["x" * 10_000] * 100, "message": "y"})

    assert len(found) == MAX_TEXTS
    assert {len(each.text) for each in found} == {MAX_CHARACTERS}
