"""Every public case that the product has learnt stays right; each row is a line of `data/` with its id."""

from __future__ import annotations

from pathlib import Path

import pytest

from taoloop.core.clock import SystemClock
from taoloop.evaluation.cases.adapters import ADAPTERS
from taoloop.evaluation.cases.case_file import COMPONENTS, read_cases
from taoloop.evaluation.cases.model import Case, Verdict
from taoloop.evaluation.cases.running import run_case

FILES = sorted((Path(__file__).parent / "data").glob("*.jsonl"))
CASES = [case for path in FILES for case in read_cases(path, ADAPTERS)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.case_id)
async def test_the_product_says_what_the_case_expects(case: Case) -> None:
    result = await run_case(case, ADAPTERS, SystemClock())

    assert (result.verdict, result.reason) == (Verdict.PASS, "")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_cases_holds_one_component(path: Path) -> None:
    assert path.stem in COMPONENTS
    assert {case.component for case in read_cases(path, ADAPTERS)} == {path.stem}


def test_no_id_stands_in_two_files() -> None:
    ids = [case.case_id for case in CASES]

    assert len(set(ids)) == len(ids)
