"""The page on normalising says what the code does: its examples run, its snippets are right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, dumps, loads
from taoloop.observation.exposing.redactor import compile_redactor
from taoloop.observation.normalising import compile_normaliser
from taoloop.tools.contract import Observe, PersonalData
from taoloop.tools.loading.contract_document import read_contract
from taoloop.tools.loading.forms import contract_form
from taoloop.values.refusals import ValueRefused
from tests.packaging import checkout, pages
from tests.unit.tools.contracts import document

PAGE = checkout.ROOT / "docs" / "normalising.md"


def observe_of(written: Mapping[str, Any]) -> Observe:
    value = document(spec__response=True, spec__observe=dict(written))
    assert contract_form().violations(value) == ()
    return read_contract(value).observe


def unquoted(cell: str) -> Any:
    return loads(cell.strip("`"))


@pytest.mark.parametrize("row", pages.table_rows(PAGE, "Worked examples"), ids=lambda row: row[1])
def test_worked_example_runs(row: list[str]) -> None:
    written, body, expected = row
    normaliser = compile_normaliser(observe_of(unquoted(written)))
    assert normaliser is not None

    data, outcome = normaliser.apply(unquoted(body))

    if expected.startswith("refused:"):
        assert data is ABSENT
        places = [(each.failure.pointer, each.failure.rule_id) for each in outcome.flaws]
        assert places == [tuple(re.findall(r"`([^`]+)`", expected))]
    else:
        assert dumps(data) == dumps(unquoted(expected))


def test_every_kind_of_personal_data_has_its_line_and_placeholder() -> None:
    rows = {row[0].strip("`"): row[2].strip("`") for row in pages.table_rows(PAGE, "What prompts see")}
    samples = {
        "phone": "13800138000",
        "id_card": "11010519491231002X",
        "bank_card": "4111111111111111",
        "email": "li.na@example.com",
    }

    assert {kind.value for kind in PersonalData} <= rows.keys()
    for kind, sample in samples.items():
        redactor = compile_redactor(observe_of({"redact": [kind]}))
        assert redactor.mask_text(sample) == rows[kind]


def test_plug_in_of_the_page_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    scope: dict[str, Any] = {}
    exec(code, scope)  # the page's own text

    assert scope["read_grid"]("u4", {"zone": 32}) == "32U4"
    with pytest.raises(ValueRefused):
        scope["read_grid"](4, {"zone": 32})
