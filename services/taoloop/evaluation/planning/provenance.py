"""Where a fitted calibration comes from, and the hash by which a change by hand shows."""

from __future__ import annotations

from typing import Any

from taoloop.core.exact_json import digest, dumps, loads
from taoloop.evaluation.planning.cases import PlanningCase, case_of
from taoloop.evaluation.planning.generating.cases import FORM, generate
from taoloop.evaluation.planning.written.cases import FORM as WRITTEN
from taoloop.evaluation.planning.written.cases import written

WRITTEN_DRAWS = 4
"""How often the written cases count in a fit, each time among other tools."""


def generated_cases(seed: int, count: int, *, is_held_out: bool = False) -> list[PlanningCase]:
    """Return generated cases as they would be read from a file."""
    records = generate(seed, count, is_held_out=is_held_out)
    return [case_of(loads(dumps(record))) for record in records]  # type: ignore[arg-type]  # a record is an object


def written_cases(seed: int, *, is_held_out: bool = False) -> list[PlanningCase]:
    """Return the cases of the written families as they would be read from a file."""
    records = written(seed, is_held_out=is_held_out)
    return [case_of(loads(dumps(record))) for record in records]  # type: ignore[arg-type]  # a record is an object


def fitting_cases(seed: int, count: int) -> list[PlanningCase]:
    """Return what a calibration is fitted on: generated cases, and the written ones among several draws of tools."""
    drawn = [case for draw in range(WRITTEN_DRAWS) for case in written_cases(seed + draw)]
    return [*generated_cases(seed, count), *drawn]


def with_provenance(document: dict[str, Any], seed: int, count: int) -> dict[str, Any]:
    """Return the data file: what it was made from, its hash, then the numbers."""
    made_from = {
        "generator": f"{FORM}, {WRITTEN}",
        "weights": f"taoloop evaluate fit --seed {seed} --count {count}",
        "subjects": "all but the catalogues and families held out",
    }
    return {"made_from": made_from, "sha256": content_hash(document), **document}


def content_hash(document: dict[str, Any]) -> str:
    """Return the hash of a calibration's numbers, whatever says where they come from."""
    numbers = {name: value for name, value in document.items() if name not in {"made_from", "sha256"}}
    return digest(loads(dumps(numbers)))
