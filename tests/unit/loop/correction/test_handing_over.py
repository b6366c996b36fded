"""Failures that only people can do something about."""

from __future__ import annotations

from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.running import HandoverRequired
from taoloop.plan.task import Limits, Outcome
from taoloop.testing.services import ScriptedAction, ScriptedObservation, ScriptedThought
from taoloop.tools.signature import Effect
from tests.unit.loop.correction.correcting import (
    LATE,
    failed,
    fault,
    first,
    listed,
    made,
    reactions,
    tool,
)
from tests.unit.loop.driving import Run, ended, plan, step


async def test_a_write_that_surely_was_not_made_goes_to_a_person_when_nothing_else_can_do_it() -> None:
    down = failed("UPSTREAM_UNAVAILABLE", retriable=True)
    run = Run(
        ScriptedThought(plan(step("1.t1", "pay"))),
        ScriptedAction({"pay": down}, listed(tool("pay", effect=Effect.WRITE))),
    )

    assert ended(await run.drive()) == (Outcome.NEEDS_HUMAN, FaultCode.UPSTREAM_UNAVAILABLE)
    assert await reactions(run) == ["replan", "hand_over"]


async def test_a_write_that_may_have_taken_effect_is_handed_over_whatever_its_fault_says() -> None:
    run = Run(
        ScriptedThought(plan(step("1.t1", "pay"), step("1.t2", "tell", ("1.t1",)))),
        ScriptedAction({"pay": {"id": 7}, "tell": {}}, listed(tool("pay", effect=Effect.WRITE), tool("tell"))),
        ScriptedObservation(invalid_tools=frozenset({"pay"})),
    )

    state = await run.drive()

    assert ended(state) == (Outcome.NEEDS_HUMAN, FaultCode.SCHEMA_VIOLATION)
    assert len(run.thought.requests) == 1
    (handed,) = [body for body in await run.bodies() if isinstance(body, HandoverRequired)]
    assert (handed.step_id, handed.fault and handed.fault.code) == ("1.t1", FaultCode.SCHEMA_VIOLATION)
    (told,) = await made(run)
    assert (told.fault_class, told.user_message) == (
        "EFFECT_UNKNOWN",
        "Whether pay has done its work is not known; it was not done a second time. A person takes it over.",
    )


async def test_each_step_that_needs_a_person_is_a_handover_of_its_own() -> None:
    refused = failed("CREDENTIAL_REFUSED")
    run = Run(
        ScriptedThought(plan(step("1.a", "one"), step("1.b", "two"), step("1.c", "down"))),
        ScriptedAction({"one": refused, "two": refused, "down": failed("UPSTREAM_UNAVAILABLE")}),
    )

    await run.drive()

    handed = [body for body in await run.bodies() if isinstance(body, HandoverRequired)]
    assert [each.step_id for each in handed] == ["1.a", "1.b"]
    assert len({each.handover_id for each in handed}) == 2
    assert len(run.thought.requests) == 1  # a person goes before another thought


async def test_leave_that_could_not_be_used_is_asked_for_anew_and_only_once() -> None:
    unusable = failed("APPROVAL_UNUSABLE", status=ActionStatus.REJECTED)
    asking = ActionResult(
        step_id="", tool="", status=ActionStatus.APPROVAL_REQUIRED, approval_id="a2", fault=fault("APPROVAL_REQUIRED")
    )
    again = Run(ScriptedThought(plan(step("1.t1", "pay"))), ScriptedAction({"pay": first(unusable, asking)}))
    never = Run(ScriptedThought(plan(step("1.t1", "pay"))), ScriptedAction({"pay": unusable}))

    state = await again.drive()

    assert ended(state)[0] is Outcome.NEEDS_APPROVAL
    assert [each.approval_id for each in state.open_approvals] == ["a2"]
    assert await reactions(again) == ["approve"]
    assert ended(await never.drive()) == (Outcome.NEEDS_HUMAN, "APPROVAL_UNUSABLE")
    assert await reactions(never) == ["approve", "hand_over"]


async def test_while_leave_is_asked_for_what_failed_beside_it_waits() -> None:
    asking = ActionResult(
        step_id="", tool="", status=ActionStatus.APPROVAL_REQUIRED, approval_id="a1", fault=fault("APPROVAL_REQUIRED")
    )
    run = Run(
        ScriptedThought(plan(step("1.a", "pay"), step("1.b", "find"))),
        ScriptedAction({"pay": asking, "find": failed("TOOL_ERROR")}),
    )

    assert ended(await run.drive())[0] is Outcome.NEEDS_APPROVAL
    assert await reactions(run) == []
    assert len(run.thought.requests) == 1


async def test_a_failure_that_ends_the_run_does_not_wait_for_leave() -> None:
    asking = ActionResult(
        step_id="", tool="", status=ActionStatus.APPROVAL_REQUIRED, approval_id="a1", fault=fault("APPROVAL_REQUIRED")
    )
    run = Run(
        ScriptedThought(plan(step("1.a", "pay"), step("1.b", "find"))),
        ScriptedAction({"pay": asking, "find": failed("CREDENTIAL_MISSING")}),
    )

    assert ended(await run.drive()) == (Outcome.NEEDS_HUMAN, "CREDENTIAL_MISSING")


async def test_a_user_of_a_run_that_fails_is_told_whether_anything_was_changed() -> None:
    down = failed("UPSTREAM_UNAVAILABLE")
    tools = listed(tool("pay", effect=Effect.WRITE), tool("find"))
    paid = (step("1.t1", "pay"),)
    for steps, ending in (((), "; nothing was changed."), (paid, ". What was done before stays done.")):
        thought = ScriptedThought(plan(*steps, step("1.t2", "find")))
        run = Run(thought, ScriptedAction({"pay": {"id": 7}, "find": down}, tools))

        await run.drive()

        told = (await made(run))[-1].user_message
        assert told == f"find does not serve at present{ending} Please try again later."


async def test_a_write_that_the_run_may_not_call_again_is_handed_over_for_its_failure_and_not_for_the_limit() -> None:
    run = Run(
        ScriptedThought(plan(step("1.t1", "pay"))),
        ScriptedAction({"pay": LATE}, listed(tool("pay", effect=Effect.WRITE))),
    )

    assert ended(await run.drive(Limits(max_calls_per_tool=1))) == (Outcome.NEEDS_HUMAN, FaultCode.TOOL_TIMEOUT)
    assert await reactions(run) == ["replan", "hand_over"]
