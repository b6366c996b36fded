"""Samples: they parse, and what claims success keeps the contract."""

from pathlib import Path
from typing import Any

import pytest

from taoloop.core import exact_json
from taoloop.tools.loading import load_catalogue
from taoloop.tools.loading.samples import filled
from tests.unit.tools.contracts import document, write_catalogue


def _load(directory: Path, sample: str, **changes: Any) -> list[tuple[str, str]]:
    write_catalogue(directory, document(spec__samples=["samples/*.json"], **changes))
    (directory / "samples").mkdir()
    (directory / "samples" / "a.json").write_text(sample)
    return [(finding.code, finding.pointer) for finding in load_catalogue(directory).errors]


def _sample(body: Any, status: int = 200, arguments: Any = None) -> str:
    return exact_json.dumps(
        {
            "request": {"arguments": {"order_id": "1"} if arguments is None else arguments},
            "response": {"status": status, "body": body},
        }
    )


@pytest.mark.parametrize(
    ("sample", "findings"),
    [
        (_sample({"state": "S"}), []),
        (_sample({"state": "X"}), [("SAMPLE", "/response/body/state")]),
        (_sample({}), [("SAMPLE", "/response/body/state")]),
        (_sample({"error": "none"}, status=404), []),
        (_sample({"state": "S"}, arguments={}), [("SAMPLE", "/request/arguments/order_id")]),
        ("{", [("SAMPLE", "")]),
        ("{}", [("SAMPLE", "")]),
        (_sample({"state": "S"}, status=42), [("SAMPLE", "")]),
    ],
)
def test_a_sample_that_claims_success_keeps_the_contract(
    tmp_path: Path, sample: str, findings: list[tuple[str, str]]
) -> None:
    assert _load(tmp_path, sample) == findings


def test_a_reply_that_the_success_rule_denies_need_not_keep_the_schema(tmp_path: Path) -> None:
    rule = {"===": [{"var": "body.ok"}, True]}
    assert _load(tmp_path, _sample({"ok": False}), spec__success=rule) == []


def test_placeholders_take_the_type_of_their_argument() -> None:
    body: Any = {"id": "{{arguments.n}}", "text": "no {{arguments.n}}", "list": ["{{arguments.absent}}"]}
    assert filled(body, {"n": 5}) == {"id": 5, "text": "no 5", "list": [None]}
