"""What XAUTOCLAIM answers, in the shapes of every server."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.thought.queue.claim_replies import Claimed, read_claimed

JOB = {b"job": b"b"}


@pytest.mark.parametrize(
    ("reply", "claimed"),
    [
        ([b"0-0", [], []], Claimed(b"0-0", ())),
        ([b"0-0", [(b"2-0", JOB)], [b"1-0"]], Claimed(b"0-0", ((b"2-0", JOB),), (b"1-0",))),
        ([b"5-0", [(b"2-0", JOB)]], Claimed(b"5-0", ((b"2-0", JOB),))),
        ([b"0-0", [None, (b"2-0", JOB)]], Claimed(b"0-0", ((b"2-0", JOB),), (), 1)),
        ([b"0-0", [(None, None), (b"2-0", JOB), None]], Claimed(b"0-0", ((b"2-0", JOB),), (), 2)),
        ([b"0-0", [(b"1-0", None), (b"3-0", {})], []], Claimed(b"0-0", (), (b"1-0", b"3-0"))),
    ],
)
def test_living_deleted_and_nameless_entries_are_told_apart(reply: list[Any], claimed: Claimed) -> None:
    assert read_claimed(reply) == claimed


def test_a_look_goes_on_where_the_reply_says() -> None:
    assert read_claimed([b"0-0", []]).is_last
    assert not read_claimed([b"5-0", []]).is_last
