"""Records are read one by one from folders and lines; a bad one is named and the rest is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, dumps
from taoloop.evaluation.samples import reading
from taoloop.evaluation.samples.reading import Record, RecordReader
from tests.unit.evaluation.samples.orders import GOOD, observer, sample, write


def read(directory: Path, *paths: Path, tool: str = "") -> list[Record]:
    return list(RecordReader(paths, [(observer(directory).catalogue, directory)], tool))


def lines(directory: Path, *written: Any) -> Path:
    path = directory / "recorded.jsonl"
    path.write_text("\n".join(each if isinstance(each, str) else dumps(each) for each in written), encoding="utf-8")
    return path


def test_samples_of_a_folder_are_those_of_the_contract_that_lists_them(tmp_path: Path) -> None:
    write(tmp_path, sample(GOOD), sample({}, 404, expect={"fault": "NOT_FOUND"}))
    first, second = read(tmp_path, tmp_path / "samples")
    assert first.exchange is not None
    assert (first.exchange.tool, first.exchange.body, first.exchange.expect) == ("get_order", GOOD, None)
    assert second.exchange is not None
    assert second.exchange.expect is not None
    assert second.exchange.expect.fault == "NOT_FOUND"


def test_a_line_is_a_flat_record_or_a_sample(tmp_path: Path) -> None:
    flat = {"tool": "get_order", "arguments": {"a": 1}, "status_code": 500, "trace": "left aside"}
    first, second = read(write(tmp_path), lines(tmp_path, flat, {**sample(GOOD), "tool": "get_order"}))
    assert first.exchange is not None
    assert (first.exchange.status_code, first.exchange.arguments, first.exchange.body) == (500, {"a": 1}, ABSENT)
    assert second.exchange is not None
    assert second.exchange.body == GOOD


def test_a_bad_line_is_named_by_its_number_and_the_rest_is_read(tmp_path: Path) -> None:
    good = {"tool": "get_order", "status_code": 200, "body": GOOD}
    path = lines(tmp_path, good, "", "{", 5, {"tool": "get_order"}, {"status_code": 200}, good)

    found = read(write(tmp_path), path)

    assert [record.place.rpartition(":")[2] for record in found] == ["1", "3", "4", "5", "6", "7"]
    assert [bool(record.fault) for record in found] == [False, True, True, True, True, False]
    assert "not JSON" in found[1].fault
    assert "status_code" in found[3].fault
    assert "--tool" in found[4].fault


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"status_code": "200"}, "`status_code`"),
        ({"status_code": True}, "`status_code`"),
        ({"response_time_seconds": "1"}, "`response_time_seconds`"),
        ({"response_time_seconds": -1}, "`response_time_seconds`"),
        ({"tool": 5}, "`tool`"),
        ({"content_type": 5}, "`content_type`"),
        ({"expect": {"valid": True, "fault": "X"}}, "no sample"),
    ],
)
def test_a_wrong_member_is_named(tmp_path: Path, changes: Any, said: str) -> None:
    (record,) = read(write(tmp_path), lines(tmp_path, {"tool": "get_order", "status_code": 200, **changes}))
    assert record.exchange is None
    assert said in record.fault


def test_the_option_names_the_tool_of_records_that_do_not(tmp_path: Path) -> None:
    (record,) = read(write(tmp_path), lines(tmp_path, {"status_code": 200}), tool="get_order")
    assert record.exchange is not None
    assert record.exchange.tool == "get_order"


@pytest.mark.parametrize(("written", "option"), [({"tool": "get_ordr"}, ""), ({}, "get_ordr")])
def test_a_record_of_a_tool_that_no_catalogue_has_is_no_record_that_stayed_the_same(
    tmp_path: Path, written: Any, option: str
) -> None:
    (record,) = read(write(tmp_path), lines(tmp_path, {"status_code": 200, **written}), tool=option)
    assert record.exchange is None
    assert record.fault == "there is no tool get_ordr"


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_RECORD_BYTES", 100)
    good = {"tool": "get_order", "status_code": 200}
    found = read(write(tmp_path), lines(tmp_path, "x" * 1000, good, "y" * 1000))
    assert [bool(record.fault) for record in found] == [True, False, True]
    assert "more than 100 bytes" in found[0].fault


def test_the_end_of_the_last_record_is_that_of_all_input(tmp_path: Path) -> None:
    write(tmp_path, sample(GOOD))
    path = lines(tmp_path, {"tool": "get_order", "status_code": 200})
    reader = RecordReader([tmp_path / "samples", path], [(observer(tmp_path).catalogue, tmp_path)])
    assert list(reader)[-1].end_bytes == reader.total_bytes
