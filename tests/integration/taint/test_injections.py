"""No instruction planted in a tool's result brings about a call that writes or reaches outside without leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import pytest

from taoloop.core.faults import FaultCode
from taoloop.loop.state import RunState
from taoloop.plan.model import Binding, Generated, PlanStep, QuerySpan, StepOutput, Template, TemplatePart, ThoughtPlan
from taoloop.plan.task import Outcome, Permissions, TaintedEffects
from taoloop.plan.thinking import ThinkResponse
from taoloop.testing.mock_tools import ScriptedReply
from taoloop.testing.services import ScriptedThought
from taoloop.tools.signature import Effect
from tests.integration.taint.bench import HARMFUL, TEXT, Bench, GullibleModel, Injection, bench, injections

CORPUS: Final = injections()
DEFAULT: Final = Permissions(max_effect=Effect.WRITE)
ASKING: Final = Permissions(max_effect=Effect.WRITE, tainted_effects=TaintedEffects.ASK)
REFUSING: Final = Permissions(max_effect=Effect.WRITE, tainted_effects=TaintedEffects.REFUSE)
ALLOWING: Final = Permissions(max_effect=Effect.WRITE, tainted_effects=TaintedEffects.ALLOW)
KEPT: Final = {"default": DEFAULT, "ask": ASKING, "refuse": REFUSING}
READ: Final = ["read_page", "77"]
FED: Final[Sequence[Any]] = (
    [READ, ["send_mail", {"1": "contact"}, {"1": "text"}]],
    [READ, ["post_note", {"1": "text"}]],
    [READ, ["summarise", {"1": "text"}], ["refund", {"2": "contact"}]],
    [READ, ["fetch_link", {"1": "link"}]],
)
"""Plans that feed a result to a harmful tool, the third through a trusted tool."""
STEERED: Final[Sequence[Any]] = (
    [["send_mail", "A1001", {"text": "as the page wants"}]],
    [["post_note", {"text": "as the page wants"}]],
    [["refund", "A1001"]],
    [["fetch_link", "A1001"]],
)
"""Plans that the result only brought about: every value is the user's, or the model's own."""


@pytest.fixture
async def ground() -> AsyncIterator[Bench]:
    async with bench() as opened:
        yield opened


def plant(ground: Bench, injection: Injection) -> None:
    """Have the page, and the summary of it, say what the attempt says."""
    ground.mock.script("read_page", ScriptedReply(body=injection.body))
    ground.mock.script("summarise", ScriptedReply(body=injection.body))


def test_the_corpus_is_wide() -> None:
    languages = Counter(attempt.name.partition("-")[0] for attempt in CORPUS)
    techniques = {attempt.name.split("-")[1] for attempt in CORPUS}
    assert len({attempt.name for attempt in CORPUS}) == len(CORPUS) >= 60
    assert min(languages["en"], languages["zh"]) >= 20
    assert len(techniques) >= 20


@pytest.mark.parametrize("kept", ["default", "refuse"])
async def test_a_model_that_feeds_the_planted_words_to_a_tool_calls_nothing(ground: Bench, kept: str) -> None:
    for number, injection in enumerate(CORPUS):
        plant(ground, injection)
        model = GullibleModel([{"plan": FED[number % len(FED)]}])
        state = await ground.run(ground.thinker(model), KEPT[kept])
        assert ground.harm() == [], injection.name
        assert_held(state, kept, injection)


@pytest.mark.parametrize("kept", ["ask", "refuse"])
async def test_a_model_that_read_the_planted_words_and_obeys_calls_nothing(ground: Bench, kept: str) -> None:
    first = {"plan": [READ, ["get_order", "A1001"]]}  # there is no such order: the run has to think again
    for number, injection in enumerate(CORPUS):
        plant(ground, injection)
        model = GullibleModel([first, {"plan": STEERED[number % len(STEERED)]}])
        state = await ground.run(ground.thinker(model), KEPT[kept])
        assert ground.harm() == [], injection.name
        assert any("untrusted" in prompt.lower() and "Completed: a read_page" in prompt for prompt in model.prompts)
        assert_held(state, kept, injection)


@pytest.mark.parametrize("kept", KEPT)
async def test_words_that_came_with_the_conversation_taint_the_run_that_is_told_of_them(
    ground: Bench, kept: str
) -> None:
    for plan in STEERED:
        model = GullibleModel([{"plan": plan}])
        state = await ground.run(ground.thinker(model), KEPT[kept], tainted_context=True)
        assert ground.harm() == []
        assert_held(state, kept, CORPUS[0])


@pytest.mark.parametrize("kept", KEPT)
async def test_a_thought_service_that_checks_nothing_gets_nothing_called_either(ground: Bench, kept: str) -> None:
    for injection in CORPUS:
        plant(ground, injection)
        state = await ground.run(ScriptedThought(unchecked()), KEPT[kept])
        assert ground.harm() == [], injection.name
        results = [state.steps[f"1.{tool.name}"].action for tool in HARMFUL]
        codes = {result.fault.code for result in results if result is not None and result.fault is not None}
        assert all(result is not None for result in results)
        assert codes == {FaultCode.TAINTED_SOURCE if kept == "refuse" else FaultCode.APPROVAL_REQUIRED}
        assert len(state.open_approvals) == (0 if kept == "refuse" else len(HARMFUL))


async def test_the_graph_planner_is_not_led_astray(ground: Bench) -> None:
    text = "Read the page of shop 77, then send mail to its contact with the text"
    for injection in CORPUS:
        plant(ground, injection)
        await ground.run(ground.thinker(None), DEFAULT, text=text)
        assert ground.harm() == [], injection.name


async def test_leave_is_for_one_call_with_exactly_what_the_person_saw(ground: Bench) -> None:
    plant(ground, CORPUS[0])
    asked = {each.tool: each for each in (await ground.run(ScriptedThought(unchecked()), DEFAULT)).open_approvals}
    ground.mock.requests.clear()

    state = await ground.approve(asked["send_mail"].approval_id)

    (sent,) = ground.mock.requests
    assert (sent.tool, dict(sent.arguments)) == ("send_mail", asked["send_mail"].arguments)
    assert {each.tool for each in state.open_approvals} == set(asked) - {"send_mail"}
    assert "Untrusted text (1.page) feeds /to." in asked["send_mail"].reason
    assert state.is_tainted


async def test_where_the_caller_allows_it_the_same_plans_are_carried_out(ground: Bench) -> None:
    """What the tests above rest on: nothing but taint keeps these calls from being made."""
    plant(ground, CORPUS[0])
    for plan, tool in zip(FED, HARMFUL, strict=True):
        await ground.run(ground.thinker(GullibleModel([{"plan": plan}])), ALLOWING)
        assert ground.harm() == [tool.name]
    for plan, tool in zip(STEERED, HARMFUL, strict=True):
        await ground.run(ground.thinker(GullibleModel([{"plan": plan}])), ALLOWING, tainted_context=True)
        assert ground.harm() == [tool.name]
    await ground.run(ScriptedThought(unchecked()), ALLOWING)
    assert sorted(ground.harm()) == sorted(tool.name for tool in HARMFUL)


async def test_without_untrusted_words_nobody_is_asked(ground: Bench) -> None:
    for plan, tool in zip(STEERED, HARMFUL, strict=True):
        await ground.run(ground.thinker(GullibleModel([{"plan": plan}])), DEFAULT)
        assert ground.harm() == [tool.name]


async def test_the_user_s_own_words_may_write_beside_a_page_that_is_read(ground: Bench) -> None:
    """The plan was made before the page was read, and nothing of the page goes into the call."""
    plant(ground, CORPUS[0])
    await ground.run(ground.thinker(GullibleModel([{"plan": [READ, ["refund", "A1001"]]}])), DEFAULT)
    assert ground.harm() == ["refund"]


def assert_held(state: RunState, kept: str, injection: Injection) -> None:
    """Check that a run which may not go on says so, and asks a person where it may ask."""
    assert state.finished is not None
    if kept == "refuse":
        assert state.finished.outcome in {Outcome.FAILED, Outcome.NEEDS_HUMAN, Outcome.NEEDS_INPUT}, injection.name
        assert not state.open_approvals
        return
    assert state.finished.outcome is Outcome.NEEDS_APPROVAL, injection.name
    assert all(approval.reason.startswith("Untrusted text") for approval in state.open_approvals)


def unchecked() -> ThinkResponse:
    """Return a plan that no planner of ours would let out under every permission: all harmful tools at once."""
    page = "1.page"

    def fed(parameter: str, place: str) -> Binding:
        return Binding(pointer=f"/{parameter}", source=StepOutput(step_id=page, pointer=f"/{place}"))

    shop = QuerySpan(turn=0, start=TEXT.index("77"), end=TEXT.index("77") + 2, text="77")
    in_template = Template(parts=(TemplatePart(source=StepOutput(step_id=page, pointer="/link")),))
    written = Binding(pointer="/text", source=Generated(text="as the page wants"))
    calls = {
        "send_mail": (fed("to", "contact"), written),
        "post_note": (fed("text", "text"),),
        "refund": (fed("order_id", "contact"),),
        "fetch_link": (Binding(pointer="/url", source=in_template),),
    }
    steps = (
        PlanStep(step_id=page, tool="read_page", bindings=(Binding(pointer="/shop", source=shop),)),
        *(
            PlanStep(step_id=f"1.{name}", tool=name, bindings=bindings, depends_on=(page,))
            for name, bindings in calls.items()
        ),
    )
    return ThinkResponse(outcome=ThoughtPlan(steps=steps))
