"""Rules of texts that others see, on their way through the executor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.action.executor import Executor
from taoloop.core.exact_json import digest
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionResult, ActionStatus, ServedBy
from taoloop.testing.transport import Answer
from taoloop.tools.contract import HttpTransport, ToolContract
from tests.unit.action.contracts import CHANGE, LOOK_UP, SEND_OUT, catalogue
from tests.unit.action.executing import OK, Bench, outcome

PAYLOAD = "<b>Hello</b><script>steal()</script>"


def showing(base: ToolContract) -> ToolContract:
    """Return the contract with a parameter whose text the tool shows as HTML."""
    text = {"type": "string", "minLength": 3, "x-taoloop-content": "html"}
    parameters = {"type": "object", "required": ["body"], "properties": {"body": text}}
    way = HttpTransport(method="POST", url="{{base.things}}/shown")
    return replace(base, name="show", parameters=parameters, transport=way, document={"name": "show"})


class ShowBench(Bench):
    """An executor with the tool `show`."""

    def __init__(self, base: ToolContract, *answers: Answer) -> None:
        super().__init__(*answers)
        tools = catalogue(None, showing(base))
        self.executor = Executor(tools, self.transport, self.ledger, self.telemetry, self.clock)

    async def show(self, text: str, **changes: Any) -> ActionResult:
        return await self.run("show", arguments={"body": text}, **changes)


@pytest.mark.parametrize("base", [CHANGE, SEND_OUT], ids=["writes", "outward"])
async def test_a_text_that_others_see_is_sent_harmless_and_the_result_says_so(base: ToolContract) -> None:
    bench = ShowBench(base, OK)
    result = await bench.show(PAYLOAD)
    assert outcome(result) == (ActionStatus.SUCCEEDED, "")
    assert [call.arguments for call in bench.transport.calls] == [{"body": "<b>Hello</b>"}]
    assert result.sanitised == ("/body",)
    assert result.arguments_hash == digest({"body": PAYLOAD})


async def test_the_same_unsafe_write_is_still_the_same_write() -> None:
    bench = ShowBench(CHANGE, OK)
    first = await bench.show(PAYLOAD)
    again = await bench.show(PAYLOAD)
    assert again == replace(first, served_by=ServedBy.DUPLICATE, total_time_seconds=again.total_time_seconds)
    assert len(bench.transport.calls) == 1


async def test_a_text_that_is_safe_is_sent_as_it_is() -> None:
    bench = ShowBench(CHANGE, OK)
    assert (await bench.show("Hello")).sanitised == ()


async def test_a_read_inside_sends_what_it_was_given() -> None:
    bench = ShowBench(LOOK_UP, OK)
    assert (await bench.show(PAYLOAD)).sanitised == ()
    assert [call.arguments for call in bench.transport.calls] == [{"body": PAYLOAD}]


async def test_a_text_of_which_nothing_safe_is_left_is_refused_before_the_ledger() -> None:
    bench = ShowBench(CHANGE)
    result = await bench.show("<script>steal()</script>")
    assert outcome(result) == (ActionStatus.REJECTED, FaultCode.INVALID_PARAMETER)
    assert result.fault is not None
    assert result.fault.field == "/body"
    assert bench.transport.calls == []
    assert await bench.states() == []
