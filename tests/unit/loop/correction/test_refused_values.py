"""Values that a tool refuses: replaced by the contract's words, or asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.plan.task import InputReason, Outcome
from taoloop.testing.services import ListedTools, ScriptedAction
from tests.unit.loop.correction.correcting import (
    CITY,
    REFUSED,
    first,
    made,
    reactions,
    weather,
)
from tests.unit.loop.driving import ended


async def test_a_word_that_the_contract_has_a_value_for_is_replaced_when_the_tool_refuses_it() -> None:
    run = weather(first(REFUSED, {"sky": "clear"}), "shanghai")

    state = await run.drive()

    assert ended(state) == (Outcome.ANSWERED, "")
    assert [request.arguments for request in run.action.requests] == [{"city": "shanghai"}, {"city": "CN-Shanghai"}]
    assert run.action.requests[1].provenance == run.action.requests[0].provenance
    assert await reactions(run) == ["fix_input"]


async def test_a_word_that_the_parameters_schema_refuses_is_replaced_before_any_call() -> None:
    run = weather({"sky": "clear"}, "上海", enum=True)

    assert ended(await run.drive()) == (Outcome.ANSWERED, "")
    assert [request.arguments for request in run.action.requests] == [{"city": "CN-Shanghai"}]
    assert await reactions(run) == ["fix_input"]


async def test_a_word_that_is_no_value_is_asked_for_with_the_values_that_are() -> None:
    run = weather(REFUSED, "火星")
    run.locale = "zh-CN"

    state = await run.drive()

    assert state.finished is not None
    assert state.finished.outcome is Outcome.NEEDS_INPUT
    assert state.question is not None
    (asked,) = state.question.fields
    assert (asked.pointer, asked.tool, asked.reason) == ("/city", "get_weather", InputReason.INVALID)
    assert asked.candidates == ("CN-Shanghai", "CN-Beijing")
    assert asked.question == "get_weather 无法处理 city 的值 “火星”，请提供其他值。"
    assert asked.schema == CITY
    (told,) = await made(run)
    assert (told.reaction, told.user_message) == (
        "ask",
        "get_weather 无法处理所给的值。请提供其他值。",
    )
    assert len(run.action.requests) == 1


async def test_a_corrected_value_that_is_refused_too_is_asked_for() -> None:
    run = weather(REFUSED, "shanghai")

    state = await run.drive()

    assert await reactions(run) == ["fix_input", "replan", "ask"]
    assert state.question is not None
    assert state.question.fields[0].candidates == ()


async def test_no_value_is_asked_for_where_the_tool_refuses_who_calls() -> None:
    run = weather(replace(REFUSED, status_code=401), "Paris")

    state = await run.drive()

    assert ended(state) == (Outcome.FAILED, "UPSTREAM_REFUSED")
    assert await reactions(run) == ["replan", "fail"]
    last = (await made(run))[-1]
    assert (last.fault_class, last.user_message) == ("TOOL_FAILED", "get_weather reports that it failed.")


@pytest.mark.parametrize(
    ("locale", "called", "told"),
    [
        ("en", "Show the weather of a city. Takes a code.", '"Show the weather of a city" cannot do anything'),
        ("zh-CN", "查询城市天气。参数为代码。", "“查询城市天气” 无法处理"),
    ],
)
async def test_users_hear_what_a_tool_does_and_not_its_name(locale: str, called: str, told: str) -> None:
    run = weather(REFUSED, "Mars")
    run.locale = locale
    listing = await run.action.list_tools(CallContext(deadline=Deadline.after(1.0, run.clock)))
    described = ListedTools(tuple(replace(tool, description=called) for tool in listing.tools))
    run.action = ScriptedAction({"get_weather": REFUSED}, described)

    state = await run.drive()

    assert state.question is not None
    assert state.question.fields[0].question.startswith(told)
    assert (await made(run))[-1].user_message.startswith(told)
