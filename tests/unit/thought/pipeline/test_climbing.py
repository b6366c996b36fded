"""The rungs that are models: who is asked, in which order, and who is left alone for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from taoloop.core.faults import FaultCode
from taoloop.models.ports import ModelFailed, ModelFailureKind
from taoloop.models.profiles.model import ModelProfile
from taoloop.plan.fingerprint import thought_fingerprint
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.task import Permissions
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.pipeline.climbing import Climb, LadderParts, LadderRules, ModelLadder, draw_seed, is_in_chinese
from taoloop.thought.pipeline.ports import PlanningModel
from taoloop.thought.pipeline.routing import ModelStanding
from taoloop.thought.pipeline.rungs import Rung
from taoloop.thought.pipeline.selecting import Selection
from taoloop.thought.planners.model.expansion import context_of
from taoloop.thought.planners.model.offer import Offer
from taoloop.thought.planners.model.questions import QuestionRules, Questions
from tests.unit.thought.pipeline.rig import AWAY, BAD, CATALOGUE, GOOD, Rig, Said
from tests.unit.thought.planners.model.tools import TOOLS, request_of


def ladder_of(rig: Rig, *replies: Sequence[Said]) -> ModelLadder:
    return ModelLadder(rig.parts(*replies), rig.stages, rig.clock, rig.ladder)


async def climb(rig: Rig, ladder: ModelLadder, seconds: float = 60.0, **more: Any) -> Climb:
    request = request_of(**more)
    return await ladder.climb(request, context_of(Offer.of(TOOLS, request), request), rig.deadline(seconds))


async def test_the_ladder_ends_at_the_first_model_that_plans() -> None:
    rig = Rig()

    result = await climb(rig, ladder_of(rig, [GOOD], [GOOD]))

    assert result.thought is not None
    assert [len(chat.requests) for chat in rig.chats] == [1, 0]


async def test_the_stronger_model_gets_the_question_as_it_was() -> None:
    rig = Rig()

    await climb(rig, ladder_of(rig, [BAD], [GOOD]))

    first, stronger = rig.chats[0].requests[0], rig.chats[1].requests[0]
    assert stronger.messages == first.messages
    assert stronger.seed == first.seed == 77


async def test_a_model_that_is_not_ready_is_passed_over() -> None:
    rig = Rig()
    parts = rig.parts([GOOD], [GOOD])
    away = replace(parts.models[0], is_ready=lambda: False)
    ladder = ModelLadder(replace(parts, models=(away, parts.models[1])), rig.stages, rig.clock)

    await climb(rig, ladder)

    assert [len(chat.requests) for chat in rig.chats] == [0, 1]
    assert ladder.standing().model is ModelStanding.READY


class Chosen:
    """Chooses what it was told to choose."""

    def __init__(self, rung: Rung | None) -> None:
        self.rung = rung
        self.prompt_tokens = 0

    def choose(
        self, models: Sequence[PlanningModel], selection: Selection, request: ThinkRequest, prompt_tokens: int
    ) -> Rung | None:
        self.prompt_tokens = prompt_tokens
        return self.rung


async def test_a_choice_may_begin_higher_up() -> None:
    choice = Chosen(Rung.STRONGER_MODEL)
    rig = Rig(choice=choice)

    await climb(rig, ladder_of(rig, [GOOD], [GOOD]))

    assert [len(chat.requests) for chat in rig.chats] == [0, 1]
    assert choice.prompt_tokens > 100


async def test_a_choice_may_find_that_no_model_fits() -> None:
    rig = Rig(choice=Chosen(None))

    result = await climb(rig, ladder_of(rig, [GOOD]))

    assert (result.thought, result.usage.model_calls) == (None, 0)
    assert 'taoloop_thought_fallbacks_total{reason="no_model_fits",rung="model"} 1.0' in rig.shown()


async def test_models_leave_time_for_the_reply_to_arrive() -> None:
    rig = Rig(ladder=LadderRules(reserve_seconds=0.25))

    late = await climb(rig, ladder_of(rig, [GOOD]), seconds=0.25)
    assert rig.chats[0].requests == []
    in_time = await climb(rig, ladder_of(rig, [GOOD]), seconds=0.26)

    assert (late.thought, in_time.thought is not None) == (None, True)
    assert 'taoloop_thought_fallbacks_total{reason="insufficient_deadline",rung="model"} 1.0' in rig.shown()


async def test_without_a_tool_to_offer_no_model_is_asked() -> None:
    rig = Rig()

    result = await climb(rig, ladder_of(rig, [GOOD]), permissions=Permissions(allowed_tools=("(none)",)))

    assert result.thought is None
    assert rig.chats[0].requests == []
    assert 'taoloop_thought_fallbacks_total{reason="no_tools",rung="model"} 1.0' in rig.shown()
    assert 'taoloop_thought_tools_left_out_total{reason="not_permitted"} 2.0' in rig.shown()


@pytest.mark.parametrize(("too_few", "offered"), [(0, 3), (1, 1), (10_000, 1)])
async def test_a_model_with_a_small_context_is_offered_fewer_tools(too_few: int, offered: int) -> None:
    whole = Questions(CATALOGUE, QuestionRules()).about(
        request_of(), CATALOGUE.signatures(), context_of(Offer.of(TOOLS, request_of()), request_of()), 7
    )
    rig = Rig(profile=ModelProfile(context_tokens=max(512, whole.estimated_tokens - too_few)))

    await climb(rig, ladder_of(rig, [GOOD]))

    system = rig.chats[0].requests[0].messages[0].content
    lines = system.rpartition("Now the real tools.")[2].splitlines()[1:]
    assert len(lines) == offered
    assert ("taoloop_thought_tools_left_out_total{" in rig.shown()) is (offered < 3)


async def test_where_no_word_finds_a_tool_all_are_offered_whatever_the_context() -> None:
    rig = Rig(profile=ModelProfile(context_tokens=512))

    await climb(rig, ladder_of(rig, [GOOD]), text="zzz")

    assert "find_guest(phone)" in rig.chats[0].requests[0].messages[0].content


async def test_a_thought_that_was_thought_before_is_a_failure_of_its_planner() -> None:
    rig = Rig()
    ladder = ladder_of(rig, [GOOD])
    first = await climb(rig, ladder)
    assert first.thought is not None
    assert isinstance(first.thought.outcome, ThoughtPlan)

    again = await climb(rig, ladder, previous_thought_sha256=thought_fingerprint(first.thought.outcome))

    assert again.thought is None
    assert [fault.code for fault in again.faults] == [FaultCode.THOUGHT_STALLED]
    assert ladder.standing().failures == 1
    assert 'taoloop_thought_fallbacks_total{reason="stalled",rung="model"} 1.0' in rig.shown()
    assert 'taoloop_thought_stalls_total{stall="repeated_plan"} 1.0' in rig.shown()


async def test_failures_in_a_row_are_counted_until_a_success() -> None:
    rig = Rig()
    ladder = ladder_of(rig, [AWAY, AWAY, GOOD])

    await climb(rig, ladder)
    await climb(rig, ladder)
    assert ladder.standing().failures == 2
    await climb(rig, ladder)

    assert ladder.standing().failures == 0


async def test_a_model_that_the_caller_gave_too_little_time_has_not_failed() -> None:
    rig = Rig(reply_seconds=3.0)
    ladder = ladder_of(rig, [ModelFailed(ModelFailureKind.TIMEOUT, "Late.")])

    await climb(rig, ladder, seconds=2.0)
    assert ladder.standing().failures == 0
    await climb(rig, ladder, seconds=60.0)

    assert ladder.standing().failures == 1


async def test_a_request_with_a_seed_is_asked_with_it_and_others_with_a_drawn_one() -> None:
    rig = Rig()
    ladder = ladder_of(rig, [GOOD])

    given, drawn = await climb(rig, ladder, seed=5), await climb(rig, ladder)

    assert (given.seed, drawn.seed) == (5, 77)
    assert [request.seed for request in rig.chats[0].requests] == [5, 77]


def test_a_drawn_seed_fits_into_31_bits_and_is_never_unset() -> None:
    seeds = {draw_seed() for _ in range(200)}

    assert len(seeds) > 190
    assert all(0 < seed < 2**31 for seed in seeds)


def test_a_ladder_without_models_is_absent_and_one_that_is_away_says_so() -> None:
    rig = Rig(is_ready=False)
    parts: LadderParts = rig.parts([GOOD])

    assert ModelLadder(replace(parts, models=()), rig.stages, rig.clock).standing().model is ModelStanding.ABSENT
    assert ModelLadder(parts, rig.stages, rig.clock).standing().model is ModelStanding.AWAY
    assert repr(ModelLadder(parts, rig.stages, rig.clock)) == "<ModelLadder model <FailureStreak 0>>"


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [
        ("zh-CN", "hello", True),
        ("en", "你好", False),
        ("", "你好，查一下", True),
        ("", "hello", False),
        ("", "", False),
    ],
)
def test_a_person_is_spoken_to_in_the_requests_language(locale: str, text: str, expected: bool) -> None:
    assert is_in_chinese(request_of(text, locale=locale)) is expected
