"""The white list of a deployment: it narrows what a request permits and lets no other kind of thought out."""

from __future__ import annotations

import pytest

from taoloop.core.faults import FaultCode
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.task import Permissions, Role, Turn
from taoloop.plan.thinking import Answer, Escalation, NeedInput, Refusal, RefusalReason, ThinkRequest
from taoloop.thought.pipeline.authorising import Authorisation, Outcome
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.thought.planners.model.offer import Mode
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import Effect, ToolSignature

PLAN = ThoughtPlan(steps=(PlanStep(step_id="1.t1", tool="a"),))
QUESTION = NeedInput(input_id="q")


def _request(*allowed: str) -> ThinkRequest:
    permissions = Permissions(max_effect=Effect.WRITE, allowed_tools=allowed)
    return ThinkRequest(run_id="r", iteration=1, permissions=permissions)


def _allowed(request: ThinkRequest) -> tuple[str, ...]:
    assert request.permissions is not None
    return request.permissions.allowed_tools


def test_without_a_list_the_request_stays_as_it_is() -> None:
    assert Authorisation().narrowed(_request("a")) == _request("a")


def test_request_for_every_tool_gets_those_of_the_list() -> None:
    assert _allowed(Authorisation(tools=frozenset("ab")).narrowed(_request())) == ("a", "b")


def test_request_for_some_tools_gets_those_of_them_that_are_listed() -> None:
    narrowed = Authorisation(tools=frozenset("ab")).narrowed(_request("b", "c"))
    assert _allowed(narrowed) == ("b",)
    assert narrowed.permissions is not None
    assert narrowed.permissions.max_effect is Effect.WRITE


def test_request_for_no_listed_tool_gets_none_and_not_all() -> None:
    catalogue = Catalogue.from_signatures(
        [ToolSignature(name="show_harbour", description="Shows the harbour.", parameters={"type": "object"})]
    )
    turns = (Turn(role=Role.USER, text="show the harbour"),)
    asked = ThinkRequest(run_id="r", iteration=1, turns=turns, permissions=Permissions(allowed_tools=("show_harbour",)))
    narrowed = Authorisation(tools=frozenset({"other"})).narrowed(asked)
    assert _allowed(narrowed) != ()
    outcome = GraphPlanner(catalogue).plan(narrowed).outcome
    assert isinstance(outcome, Refusal)
    assert outcome.reason is RefusalReason.NOT_ALLOWED


def test_request_without_permissions_is_narrowed_too() -> None:
    assert _allowed(Authorisation(tools=frozenset("a")).narrowed(ThinkRequest(run_id="r", iteration=1))) == ("a",)


@pytest.mark.parametrize(("outcome", "mode"), [(PLAN, Mode.PLAN), (QUESTION, Mode.ASK), (Answer(text="x"), Mode.DONE)])
def test_thought_of_a_kind_that_is_not_allowed_becomes_a_refusal_that_names_it(outcome: Outcome, mode: Mode) -> None:
    refusal = Authorisation(modes=frozenset(Mode) - {mode}).refusal_of(outcome)
    assert refusal is not None
    assert refusal.reason is RefusalReason.NOT_ALLOWED
    (fault,) = refusal.faults
    assert (fault.code, fault.actual) == (FaultCode.MODE_NOT_ALLOWED, mode.value)
    assert mode.value not in fault.candidates


@pytest.mark.parametrize("outcome", [PLAN, QUESTION, Answer(text="x")])
def test_allowed_thought_passes(outcome: Outcome) -> None:
    assert Authorisation().refusal_of(outcome) is None


@pytest.mark.parametrize("outcome", [Refusal(reason=RefusalReason.NO_TOOL), Escalation()])
def test_refusing_and_handing_over_are_always_allowed(outcome: Outcome) -> None:
    assert Authorisation(modes=frozenset()).refusal_of(outcome) is None
