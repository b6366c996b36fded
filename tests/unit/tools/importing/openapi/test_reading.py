"""Rules of reading documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taoloop.tools.importing.findings import ImportRefused
from taoloop.tools.importing.openapi import read_openapi
from taoloop.tools.importing.yaml_text import yaml_text
from tests.unit.tools.importing.openapi.documents import OLD_STYLE


def test_json_and_yaml_are_the_same_document(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(OLD_STYLE))
    (tmp_path / "a.yaml").write_text(yaml_text(OLD_STYLE))
    as_json, as_yaml = read_openapi(tmp_path / "a.json"), read_openapi(tmp_path / "a.yaml")
    assert as_json.value == as_yaml.value
    assert [each.title for each in as_json.operations()] == [
        "GET /books/{bookId}",
        "PUT /books/{bookId}",
        "POST /orders",
    ]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('{"swagger": "2.0"}', "it says swagger 2.0"),
        ('{"openapi": "4.0.0"}', "openapi is '4.0.0'"),
        ("[]", "is no OpenAPI document"),
        ('{"openapi": ', "is not JSON"),
        ("a: *b", "alias"),
        ('{"a": 1, "a": 2}', "repeated"),
        ("{" * 500, "deeper than"),
    ],
)
def test_what_is_no_document_is_refused_with_its_cause_and_a_remedy(tmp_path: Path, text: str, part: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(ImportRefused, match=part) as refused:
        read_openapi(path)
    assert all(each.remedy for each in refused.value.findings)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ImportRefused, match="cannot be read"):
        read_openapi(path)
