"""Values that a tool refuses: replaced by the contract's words, or asked for."""

from __future__ import annotations

from taoloop.plan.task import InputReason, Outcome
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
