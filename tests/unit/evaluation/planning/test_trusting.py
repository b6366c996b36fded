"""From which of its numbers on the graph planner is right."""

from __future__ import annotations

from taoloop.evaluation.planning.provenance import generated_cases
from taoloop.evaluation.planning.trusting import STEPS, TrustRow, trust

ROWS = trust(generated_cases(3, 40, is_held_out=True))


def _of(kind: str) -> list[TrustRow]:
    return [row for row in ROWS if row.kind == kind]


def test_every_kind_of_reply_is_judged_at_every_threshold() -> None:
    assert [row.threshold for row in _of("plan")] == list(STEPS)
    assert {row.kind for row in ROWS} == {"plan", "ask", "none"}


def test_a_higher_threshold_takes_fewer_plans_and_questions_and_more_refusals() -> None:
    for kind in ("plan", "ask"):
        taken = [row.taken for row in _of(kind)]
        assert taken == sorted(taken, reverse=True)
        assert taken[0] == _of(kind)[0].replies
    refused = [row.taken for row in _of("none")]
    assert refused == sorted(refused)


def test_share_of_right_replies_is_among_those_taken() -> None:
    assert TrustRow("plan", "arguments", 0.5, replies=9, taken=4, right=3).precision == 0.75
    assert TrustRow("plan", "arguments", 0.5, replies=9, taken=0, right=0).precision == 0.0
    assert all(row.right <= row.taken <= row.replies for row in ROWS)
