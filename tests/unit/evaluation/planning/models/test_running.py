"""Asking about a file of cases: several at a time, in the file's order, and never twice about the same case."""

from pathlib import Path

import pytest

from taoloop.core.errors import BackendUnavailable, InvalidRequest
from taoloop.evaluation.planning.models.asking import CaseAsker
from taoloop.evaluation.planning.models.keeping import PredictionFile
from taoloop.evaluation.planning.models.running import AskedRow, RunOptions, ask_cases
from taoloop.models.ports import ModelFailed, ModelFailureKind
from tests.unit.evaluation.planning.models.made import PLANS, REFUSES, asker, file_of, record

AWAY = ModelFailed(ModelFailureKind.UNREACHABLE, "away")


async def run(
    cases: Path, planner: CaseAsker, out: Path | None, options: RunOptions | None = None, told: list[int] | None = None
) -> list[AskedRow]:
    steps = [] if told is None else told
    with PredictionFile(out, planner.identity) as file:
        return await ask_cases(cases, planner, file, options or RunOptions(concurrency=3), steps.append)


async def test_rows_come_in_the_order_of_the_file_with_their_scores(tmp_path: Path) -> None:
    cases = file_of(tmp_path / "cases.jsonl", [record(number) for number in range(7)])
    planner, model = asker(PLANS)
    told: list[int] = []
    rows = await run(cases, planner, None, told=told)
    assert [row.scored.case.id for row in rows] == [f"c{number}" for number in range(7)]
    assert all(row.scored.score.is_right for row in rows)
    assert len(model.requests) == 7
    assert told == sorted(told)
    assert told[-1] == cases.stat().st_size


async def test_every_third_case_keeps_its_place_in_the_file(tmp_path: Path) -> None:
    cases = file_of(tmp_path / "cases.jsonl", [record(number) for number in range(7)])
    planner, model = asker(PLANS)
    rows = await run(cases, planner, None, RunOptions(concurrency=2, every=3))
    assert [row.scored.position for row in rows] == [0, 3, 6]
    assert len(model.requests) == 3


async def test_a_run_that_was_interrupted_goes_on_where_it_was(tmp_path: Path) -> None:
    cases = file_of(tmp_path / "cases.jsonl", [record(number) for number in range(5)])
    out = tmp_path / "predictions.jsonl"
    planner, _ = asker(PLANS, PLANS, AWAY)
    with pytest.raises(BackendUnavailable):
        await run(cases, planner, out, RunOptions(concurrency=1))
    with out.open("a", encoding="utf-8") as file:
        file.write('{"id":"c2","kind":"pl')  # the power went while it was written
    planner, model = asker(REFUSES)
    rows = await run(cases, planner, out)
    assert len(model.requests) == 3
    assert [row.asked.prediction["kind"] for row in rows] == ["plan", "plan", "none", "none", "none"]
    assert rows[0].asked.usage == PLANS.usage
    planner, model = asker(AWAY)
    assert len(await run(cases, planner, out)) == 5
    assert model.requests == []


@pytest.mark.parametrize(
    "text",
    [
        '{"id":"c1","kind":"none","by":"somebody else","seconds":1,"tokens":{"input":1,"cached":0,"output":1}}\n',
        '{"id":"c1","kind":"none"}\n',
        "not JSON\n",
    ],
)
async def test_a_file_of_other_predictions_is_refused_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    out = tmp_path / "predictions.jsonl"
    out.write_text(text)
    planner, _ = asker(PLANS)
    with pytest.raises(InvalidRequest, match=r"predictions\.jsonl"):
        PredictionFile(out, planner.identity)
    assert out.read_text() == text
