"""Drift is listed page by page, in one order, from a moment on."""

from datetime import UTC, datetime

import pytest

from taoloop.core.errors import InvalidRequest
from taoloop.observation.drift.listing import page
from taoloop.plan.observing import Drift, DriftKind, DriftRecord, ListDriftRequest


def record(tool: str, pointer: str, day: int, value: str = "x") -> DriftRecord:
    moment = datetime(2026, 3, day, tzinfo=UTC)
    drift = Drift(kind=DriftKind.NEW_FIELD, pointer=pointer, value=value)
    return DriftRecord(tool=tool, drift=drift, first_seen=moment, last_seen=moment, count=1)


RECORDS = [record("b", "/z", 3), record("a", "/y", 2), record("a", "/x", 1), record("a", "/x", 1, "w")]


def test_pages_together_are_all_records_in_order() -> None:
    shown: list[DriftRecord] = []
    token = ""
    while True:
        got = page(RECORDS, ListDriftRequest(page_size=1, page_token=token), is_local=False)
        shown += got.records
        token = got.next_page_token
        if not token:
            break

    assert shown == [RECORDS[3], RECORDS[2], RECORDS[1], RECORDS[0]]


def test_only_what_was_seen_since_a_moment_is_listed() -> None:
    got = page(RECORDS, ListDriftRequest(since=datetime(2026, 3, 2, tzinfo=UTC)), is_local=True)

    assert [found.tool for found in got.records] == ["a", "b"]
    assert (got.next_page_token, got.is_local) == ("", True)


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (ListDriftRequest(page_size=-1), "page_size"),
        (ListDriftRequest(page_size=1001), "page_size"),
        (ListDriftRequest(page_token="{"), "page_token"),
        (ListDriftRequest(page_token="7"), "page_token"),
        (ListDriftRequest(page_token='["a"]'), "page_token"),
    ],
)
def test_a_page_that_cannot_be_is_refused_by_its_field(request_: ListDriftRequest, field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        page(RECORDS, request_, is_local=False)
    assert caught.value.violations[0].field == field
