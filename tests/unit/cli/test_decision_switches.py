"""Every switch of the decision points changes what its service does, and only that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from taoloop.action.board.local_board_store import LocalBoardStore
from taoloop.action.board.tool_board import ToolBoard
from taoloop.action.settings import ActionSettings
from taoloop.cli.commands.deciding.points import POINTS
from taoloop.core.settings import RedisSettings, TelemetrySettings, load_settings
from taoloop.core.telemetry import Telemetry
from taoloop.evaluation.selection.cases import market
from taoloop.loop.answering.opening import opened_answerer
from taoloop.loop.correction.classes import FaultClass
from taoloop.loop.correction.machine import Need, Reaction, State, choose
from taoloop.loop.settings import LoopSettings
from taoloop.observation.app import policy_of
from taoloop.observation.settings import ObservationSettings
from taoloop.observation.soft.texts import FoundText
from taoloop.plan.fingerprint import thought_fingerprint
from taoloop.plan.model import Decision, DecisionKind, PlanStep, Reasoning, ThoughtPlan
from taoloop.plan.running import ApprovalRequired
from taoloop.plan.task import Role, Turn
from taoloop.plan.thinking import Answer, CompletedStep, ThinkRequest
from taoloop.testing.clock import FakeClock
from taoloop.testing.services import ScriptedObservation
from taoloop.thought.app import opened_mind, tenant_budget
from taoloop.thought.budgets.ports import TenantBudget
from taoloop.thought.pipeline.pipeline import PipelineRules
from taoloop.thought.pipeline.routing import RouteReason, Standing, route
from taoloop.thought.pipeline.selecting import Selector
from taoloop.thought.planners.graph.planner import PlannerReply
from taoloop.thought.settings import ThoughtWorkerSettings
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import Trust
from taoloop.wire.redis.redis_link import redis_link
from tests.unit.cli import memory_switches
from tests.unit.thought.pipeline.rig import BAD, GOOD, Rig, ScriptedGraph, thought_of

Set = Callable[[str, str], None]
BIG = market(3, 100, 4, is_chinese=False)
CHAIN = next(case for case in BIG.cases if case.hidden)
PLAN = ThoughtPlan(steps=(PlanStep(step_id="1.t1", tool="a"),))
LOCAL = "http://127.0.0.1:9/v1"


@pytest.fixture
def set_(monkeypatch: pytest.MonkeyPatch) -> Set:
    monkeypatch.setenv("TAOLOOP_CATALOGUE", ".")
    return monkeypatch.setenv


def _worker() -> ThoughtWorkerSettings:
    return load_settings(ThoughtWorkerSettings)


def _observation() -> ObservationSettings:
    return load_settings(ObservationSettings)


async def _mind() -> str:
    """Return what a worker would think with; no model's server is asked for anything."""
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    async with opened_mind(_worker(), Catalogue.of([]), telemetry, FakeClock()) as mind:
        return repr(mind)


def _reason(text: str = "when is it open") -> RouteReason:
    unsure = PlannerReply(PLAN, Decision(kind=DecisionKind.PLAN), Reasoning())
    request = ThinkRequest(run_id="r", iteration=1, turns=(Turn(role=Role.USER, text=text),))
    return route(request, unsure, _worker().thought.route.rules(), Standing()).reason


def _selected() -> set[str]:
    settings = _worker().thought
    rules = settings.select.rules(settings.authorise.authorisation().tools)
    selection = Selector(Catalogue.from_signatures(BIG.tools), rules).select(CHAIN.request)
    return {tool.name for tool in selection.tools}


async def model_url(set_: Set) -> None:
    set_("TAOLOOP_MODEL__PROBE", "off")
    assert "ModelLadder" not in await _mind()
    set_("TAOLOOP_MODEL__URL", LOCAL)
    assert "model" in (await _mind()).partition("ModelLadder")[2]


async def stronger_model_url(set_: Set) -> None:
    set_("TAOLOOP_STRONGER_MODEL__PROBE", "off")
    set_("TAOLOOP_STRONGER_MODEL__URL", LOCAL)
    assert "stronger_model" in await _mind()


async def plan_enabled(set_: Set) -> None:
    set_("TAOLOOP_MODEL__PROBE", "off")
    set_("TAOLOOP_MODEL__URL", LOCAL)
    set_("TAOLOOP_THOUGHT__PLAN__ENABLED", "false")
    assert "ModelLadder" not in await _mind()


async def route_enabled(set_: Set) -> None:
    assert _reason() is RouteReason.UNSURE
    set_("TAOLOOP_THOUGHT__ROUTE__ENABLED", "false")
    assert _reason() is RouteReason.SWITCHED_OFF


async def max_input_tokens(set_: Set) -> None:
    assert _reason("汉" * 9000) is RouteReason.OVERSIZED_INPUT
    set_("TAOLOOP_THOUGHT__ROUTE__MAX_INPUT_TOKENS", "0")
    assert _reason("汉" * 9000) is RouteReason.UNSURE


async def select_enabled(set_: Set) -> None:
    assert len(_selected()) < len(BIG.tools)
    set_("TAOLOOP_THOUGHT__SELECT__ENABLED", "false")
    assert len(_selected()) == len(BIG.tools)


async def max_produced(set_: Set) -> None:
    assert _selected() >= CHAIN.hidden
    set_("TAOLOOP_THOUGHT__SELECT__MAX_PRODUCED", "0")
    assert not _selected() >= CHAIN.hidden


async def authorise_tools(set_: Set) -> None:
    assert len(_selected()) > 1
    set_("TAOLOOP_THOUGHT__AUTHORISE__TOOLS", f'["{BIG.tools[0].name}"]')
    assert _selected() == {BIG.tools[0].name}


async def tools_off(set_: Set) -> None:
    def is_off() -> bool:
        board = load_settings(ActionSettings).board
        return ToolBoard(LocalBoardStore(FakeClock()), board.tools_off, FakeClock(), 1.0).switch_of("pay") is not None

    assert not is_off()
    set_("TAOLOOP_BOARD__TOOLS_OFF", '{"pay": "audit"}')
    assert is_off()


async def approval_when(set_: Set) -> None:
    assert load_settings(ActionSettings).approval.policy().when is None
    set_("TAOLOOP_APPROVAL__WHEN", '{"===": [{"var": "effect"}, "write"]}')
    assert load_settings(ActionSettings).approval.policy().when is not None


async def warn_before(set_: Set) -> None:
    asked_at = FakeClock().now()
    approval = ApprovalRequired(expires_at=asked_at + timedelta(days=1))

    def told_at() -> datetime | None:
        return load_settings(LoopSettings).people.terms(1.0).warning.at(approval, asked_at)

    assert told_at() == asked_at + timedelta(hours=23)
    set_("TAOLOOP_PEOPLE__WARN_BEFORE_SECONDS", "0.0")
    assert told_at() is None


async def min_certainty(set_: Set) -> None:
    text = FoundText(
        pointer="/message", text="connection refused: upstream timed out, request timed out, host unreachable"
    )

    def found() -> bool:
        return policy_of(_observation()).soft.look_at([text]) is not None

    assert found()
    set_("TAOLOOP_OBSERVATION_MIN_CERTAINTY", "1.0")
    assert not found()


async def validator_url(set_: Set) -> None:
    assert _observation().observation_validator.url is None
    set_("TAOLOOP_OBSERVATION_VALIDATOR__URL", LOCAL)
    assert _observation().observation_validator.url == LOCAL


async def answer_by(set_: Set) -> None:
    set_("TAOLOOP_ANSWER__MODEL__URL", LOCAL)
    set_("TAOLOOP_ANSWER__MODEL__PROBE", "off")

    async def answerer() -> str:
        telemetry = Telemetry.build(TelemetrySettings(), "test")
        settings = load_settings(LoopSettings).answer
        async with opened_answerer(settings, ScriptedObservation(), telemetry, FakeClock()) as made:
            return repr(made)

    set_("TAOLOOP_ANSWER__BY", "model")
    assert "ModelWording" in await answerer()
    set_("TAOLOOP_ANSWER__BY", "template")
    assert "ModelWording" not in await answerer()


async def summarise_enabled(set_: Set) -> None:
    done = CompletedStep(step_id="1.t1", tool="find_guest", exposed={"id": "g-7"}, trust=Trust.TRUSTED)

    async def thought() -> Any:
        rig = Rig(graph=ScriptedGraph(PLAN), rules=PipelineRules(summary=_worker().thought.summarise.rules()))
        return await thought_of(rig, completed=(done,), step_count=4)

    assert isinstance((await thought()).outcome, Answer)
    set_("TAOLOOP_THOUGHT__SUMMARISE__ENABLED", "false")
    assert not isinstance((await thought()).outcome, Answer)


async def repair_enabled(set_: Set) -> None:
    assert (await thought_of(Rig(repair=_worker().thought.repair.rules()), [BAD, GOOD])).model
    set_("TAOLOOP_THOUGHT__REPAIR__ENABLED", "false")
    assert not (await thought_of(Rig(repair=_worker().thought.repair.rules()), [BAD, GOOD])).model


async def stall_enabled(set_: Set) -> None:
    first = await thought_of(Rig(), [GOOD])
    before = thought_fingerprint(first.outcome)

    async def thought() -> Any:
        rig = Rig()
        enabled = _worker().thought.stall.enabled
        rig.ladder = type(rig.ladder)(is_stall_refused=enabled)
        rig.rules = type(rig.rules)(is_stall_refused=enabled)
        return await thought_of(rig, [GOOD, GOOD, GOOD], previous_thought_sha256=before)

    assert not isinstance((await thought()).outcome, ThoughtPlan)
    set_("TAOLOOP_THOUGHT__STALL__ENABLED", "false")
    assert isinstance((await thought()).outcome, ThoughtPlan)


async def budget_enabled(set_: Set) -> None:
    async def budget() -> TenantBudget | None:
        async with redis_link(RedisSettings(), Telemetry.build(TelemetrySettings(), "test")) as link:
            return tenant_budget(_worker(), link, FakeClock())

    assert await budget() is not None
    set_("TAOLOOP_BUDGET__ENABLED", "false")
    assert await budget() is None


_RARE = {
    FaultClass.OBSERVATION_INCONSISTENT: Need.SURE_SOURCE,
    FaultClass.TOOL_SCHEMA_VIOLATION: Need.PARTLY_WRITTEN,
}
"""What seldom holds, and else would hide what a switch does."""


def _reaction(kind: FaultClass, state: State = State.FRESH, *, without: Need | None = None) -> Reaction:
    """Return what a run does about a kind of failure when all that could hold holds, but for one thing."""
    off = load_settings(LoopSettings).correction.rules().switched_off
    return choose(kind, state, set(Need) - {without}, switched_off=off).edge.reaction


def correction(
    kind: FaultClass, state: State, reaction: Reaction, instead: Reaction
) -> Callable[[Set], Awaitable[None]]:
    async def switched(set_: Set) -> None:
        needless = _RARE.get(kind)
        assert _reaction(kind, state, without=needless) is reaction
        set_(f"TAOLOOP_CORRECTION__{reaction.name}", "false")
        assert _reaction(kind, state, without=needless) is instead

    return switched


async def correction_enabled(set_: Set) -> None:
    assert _reaction(FaultClass.TOOL_TIMEOUT) is Reaction.RETRY
    set_("TAOLOOP_CORRECTION__ENABLED", "false")
    assert {
        _reaction(kind, without=Need.SURE_SOURCE) for kind in FaultClass if kind is not FaultClass.APPROVAL_UNUSED
    } == {
        Reaction.FAIL,
        Reaction.HAND_OVER,
    }


BEHAVIOUR: dict[str, Callable[[Set], Awaitable[None]]] = {
    "TAOLOOP_MODEL__URL": model_url,
    "TAOLOOP_STRONGER_MODEL__URL": stronger_model_url,
    "TAOLOOP_THOUGHT__ROUTE__ENABLED": route_enabled,
    "TAOLOOP_THOUGHT__PLAN__ENABLED": plan_enabled,
    "TAOLOOP_THOUGHT__ROUTE__MAX_INPUT_TOKENS": max_input_tokens,
    "TAOLOOP_THOUGHT__SELECT__ENABLED": select_enabled,
    "TAOLOOP_THOUGHT__SELECT__MAX_PRODUCED": max_produced,
    "TAOLOOP_THOUGHT__AUTHORISE__TOOLS": authorise_tools,
    "TAOLOOP_BOARD__TOOLS_OFF": tools_off,
    "TAOLOOP_APPROVAL__WHEN": approval_when,
    "TAOLOOP_PEOPLE__WARN_BEFORE_SECONDS": warn_before,
    "TAOLOOP_OBSERVATION_MIN_CERTAINTY": min_certainty,
    "TAOLOOP_OBSERVATION_VALIDATOR__URL": validator_url,
    "TAOLOOP_ANSWER__BY": answer_by,
    "TAOLOOP_THOUGHT__SUMMARISE__ENABLED": summarise_enabled,
    "TAOLOOP_THOUGHT__REPAIR__ENABLED": repair_enabled,
    "TAOLOOP_THOUGHT__STALL__ENABLED": stall_enabled,
    "TAOLOOP_BUDGET__ENABLED": budget_enabled,
    **memory_switches.BEHAVIOUR,
    "TAOLOOP_CORRECTION__ENABLED": correction_enabled,
    "TAOLOOP_CORRECTION__RETRY": correction(FaultClass.TOOL_TIMEOUT, State.FRESH, Reaction.RETRY, Reaction.REPLAN),
    "TAOLOOP_CORRECTION__FIX_INPUT": correction(
        FaultClass.TOOL_SCHEMA_VIOLATION, State.FRESH, Reaction.FIX_INPUT, Reaction.ASK
    ),
    "TAOLOOP_CORRECTION__FALLBACK": correction(FaultClass.TOOL_FAILED, State.FRESH, Reaction.FALLBACK, Reaction.REPLAN),
    "TAOLOOP_CORRECTION__CROSS_CHECK": correction(
        FaultClass.OBSERVATION_INCONSISTENT, State.REPLANNED, Reaction.CROSS_CHECK, Reaction.HAND_OVER
    ),
    "TAOLOOP_CORRECTION__REPROMPT": correction(
        FaultClass.LLM_OUTPUT_MALFORMED, State.FRESH, Reaction.REPROMPT, Reaction.REPLAN
    ),
    "TAOLOOP_CORRECTION__REPLAN": correction(
        FaultClass.TOOL_UNAVAILABLE, State.FRESH, Reaction.REPLAN, Reaction.HAND_OVER
    ),
    "TAOLOOP_CORRECTION__ASK": correction(
        FaultClass.TOOL_SCHEMA_VIOLATION, State.REPLANNED, Reaction.ASK, Reaction.FAIL
    ),
}


def test_every_switch_has_its_behaviour_checked_here() -> None:
    assert BEHAVIOUR.keys() == {switch.setting.env for point in POINTS for switch in point.switches}


@pytest.mark.parametrize("env", BEHAVIOUR)
async def test_switch_changes_what_is_done(env: str, set_: Set) -> None:
    await BEHAVIOUR[env](set_)
