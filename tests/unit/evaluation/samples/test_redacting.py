"""What a contract redacts leaves bodies and arguments; what only looks personal is told, and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taoloop.evaluation.samples.redacting import contract_redactor, looks_personal
from taoloop.tools.contract import PersonalData
from tests.unit.evaluation.samples.orders import OBSERVE, observer, write


@pytest.mark.parametrize(
    ("redact", "body", "expected"),
    [
        (["phone"], {"a": ["call 13911112222"]}, {"a": ["call <PHONE>"]}),
        ([{"field": "/note"}], {"note": "secret", "eta": "x"}, {"note": "<REDACTED>", "eta": "x"}),
        ([{"field": "/status"}], {"state": "S"}, {"state": "<REDACTED>"}),
        ([{"pattern": "K-[0-9]+", "name": "key"}], {"note": "use K-77"}, {"note": "use <KEY>"}),
        ([], {"note": "13911112222", "n": 5, "none": None}, {"note": "13911112222", "n": 5, "none": None}),
    ],
)
def test_what_the_contract_names_is_masked_wherever_the_body_has_it(
    tmp_path: Path, redact: Any, body: Any, expected: Any
) -> None:
    judge = observer(write(tmp_path, spec__observe={**OBSERVE, "redact": redact}))
    assert contract_redactor(judge.catalogue.compiled("get_order").contract)(body) == expected


def test_what_looks_personal_is_told_with_its_place_and_kind() -> None:
    value: Any = {"a": ["ask 13911112222"], "mail": "li.na@example.com", "n": 13911112222, "plain": "x"}
    assert sorted(looks_personal(value)) == [("/a/0", PersonalData.PHONE), ("/mail", PersonalData.EMAIL)]
