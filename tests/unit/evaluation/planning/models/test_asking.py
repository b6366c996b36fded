"""Asking a model about one case: its reply becomes a prediction, and every other outcome is told apart."""

import pytest

from taoloop.core.errors import BackendUnavailable
from taoloop.evaluation.planning.models.asking import UNUSABLE
from taoloop.evaluation.planning.scoring import score
from taoloop.models.ports import ChatReply, ModelFailed, ModelFailureKind, TokenUsage
from tests.unit.evaluation.planning.models.made import PLANS, REFUSES, asker, case


async def test_a_skeleton_becomes_the_prediction_that_the_score_reads() -> None:
    planner, _ = asker(PLANS)
    asked = await planner.ask(case())
    assert score(case(), asked.prediction).is_right, asked.prediction
    assert (asked.failure, asked.usage) == ("", TokenUsage(900, 20, 640))


async def test_a_refusal_is_a_prediction_too() -> None:
    planner, _ = asker(REFUSES)
    assert (await planner.ask(case())).prediction == {"id": "c1", "kind": "none"}


async def test_the_model_sees_the_tools_and_the_request_and_is_kept_to_the_form_of_skeletons() -> None:
    planner, model = asker(PLANS)
    await planner.ask(case())
    (sent,) = model.requests
    assert "list_loans" in sent.messages[0].content
    assert sent.messages[-1].content.endswith("Which books has reader RD-10442 borrowed?")
    assert sent.form is not None
    assert sent.form.name == "skeleton"


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (ChatReply(text="I would rather not.", usage=TokenUsage(900, 7)), "PARSE_FAILED"),
        (ChatReply(text='{"plan":[[9,"RD-10442"]]}', usage=TokenUsage(900, 7)), "UNKNOWN_TOOL"),
        (ModelFailed(ModelFailureKind.CUT_OFF, "The reply was cut off."), "cut_off"),
        (ModelFailed(ModelFailureKind.TIMEOUT, "No reply in time."), "timeout"),
    ],
)
async def test_a_reply_of_no_use_is_never_right_and_says_why(reply: ChatReply | ModelFailed, failure: str) -> None:
    planner, _ = asker(reply)
    asked = await planner.ask(case())
    assert (asked.prediction["kind"], asked.failure) == (UNUSABLE, failure)
    assert not score(case(), asked.prediction).is_kind_right


@pytest.mark.parametrize("kind", [ModelFailureKind.UNREACHABLE, ModelFailureKind.NOT_READY])
async def test_a_server_that_is_away_says_nothing_about_the_model(kind: ModelFailureKind) -> None:
    planner, _ = asker(ModelFailed(kind, "away"))
    with pytest.raises(BackendUnavailable):
        await planner.ask(case())


def test_who_plans_and_how_is_one_line() -> None:
    planner, _ = asker(PLANS)
    for part in ("scripted", "prompts v1", "reasoning brief", "t 0.05"):
        assert part in planner.identity
