"""Failures of real tools behind the real services: what a run does about them, and what its user is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from taoloop.core import exact_json
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import GrpcSettings
from taoloop.plan.acting import Attempt
from taoloop.plan.running import (
    ActionReturned,
    CorrectionMade,
    InputRequired,
    ProvideInputRequest,
    RunEvent,
    RunFinished,
    StepStarted,
)
from taoloop.plan.task import Outcome, ProvidedInput, Role, Task, Turn
from taoloop.plan.thinking import Answer
from taoloop.testing.chat.probe import ServedModel
from taoloop.testing.chat.server import ChatServer
from taoloop.testing.chat.server import ScriptedReply as ScriptedChat
from taoloop.testing.mock_tools import ScriptedReply
from taoloop.testing.stack import DevStack, StackOptions, dev_stack
from taoloop.thought.planners.model.prompts.building import STRICT
from taoloop.wire.clients import LoopClient, loop_client

CITIES = {"CN-Shanghai": ["Shanghai", "上海"], "CN-Beijing": ["Beijing", "北京"]}

# One stack serves the whole module: each test scripts tools of its own.
pytestmark = pytest.mark.asyncio(loop_scope="module")


def tool(name: str, use_when: str, parameters: dict[str, Any], data: dict[str, Any], **spec: Any) -> dict[str, Any]:
    properties = {key: {"description": key, **schema} for key, schema in parameters.items()}
    return {
        "apiVersion": "taoloop.dev/v1",
        "kind": "Tool",
        "metadata": {"name": name},
        "spec": {
            "description": use_when,
            "use_when": use_when,
            "effect": "read",
            "trust": "trusted",
            "parameters": {
                "type": "object",
                "required": list(properties),
                "additionalProperties": False,
                "properties": properties,
            },
            "response": {
                "type": "object",
                "required": list(data),
                "properties": {key: {"type": "number"} for key in data},
            },
            "transport": {
                "http": {
                    "method": "GET",
                    "url": f"{{{{base.facts}}}}/{name}",
                    "query": {key: f"{{{key}}}" for key in properties},
                }
            },
            "samples": [f"samples/{name}/*.json"],
            **spec,
        },
    }


CITY = {"type": "string", "description": "City, 城市", "x-taoloop-vocabulary": "city"}
CODE = {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$", "description": "Article number"}
TOOLS = [
    (tool("air_quality", "the user asks for the air quality of a city; 空气质量", {"city": CITY}, {"aqi": 1}),
     {"city": "CN-Shanghai"}, {"aqi": 42}),
    (tool("stock_level", "the user asks how many pieces of an article are in stock", {"article": CODE}, {"pieces": 1},
          fallback={"tool": "stock_ledger"}), {"article": "AB-1000"}, {"pieces": 7}),
    (tool("stock_ledger", "the ledger of last night", {"article": CODE}, {"pieces": 1}), {"article": "AB-1000"},
     {"pieces": 7}),
    (tool("list_price", "the user asks for the price of an article", {"article": CODE}, {"price": 1}),
     {"article": "AB-1000"}, {"price": 12}),
]  # fmt: skip


def write_catalogue(directory: Path) -> Path:
    head = {"apiVersion": "taoloop.dev/v1", "kind": "Catalogue", "metadata": {"name": "facts"}}
    spec = {"bases": {"facts": "http://127.0.0.1:1"}, "vocabularies": {"city": CITIES}, "tools": "tools/*.yaml"}
    (directory / "catalogue.yaml").write_text(exact_json.dumps({**head, "spec": spec}))
    (directory / "tools").mkdir()
    for contract, arguments, body in TOOLS:
        name = contract["metadata"]["name"]
        (directory / "tools" / f"{name}.yaml").write_text(exact_json.dumps(contract))
        (directory / "samples" / name).mkdir(parents=True)
        sample = {"request": {"arguments": arguments}, "response": {"status": 200, "body": body}}
        (directory / "samples" / name / "known.json").write_text(exact_json.dumps(sample))
    return directory


@dataclass
class Caller:
    """A running stack and a client of its loop."""

    stack: DevStack
    loop: LoopClient

    async def run(self, text: str, locale: str = "en") -> list[RunEvent]:
        task = Task(turns=(Turn(role=Role.USER, text=text),), locale=locale)
        return [event async for event in self.loop.run(task, call())]

    def script(self, name: str, status: int, body: Any) -> None:
        assert self.stack.mock is not None
        self.stack.mock.script(name, ScriptedReply(status=status, body=body))

    def calls(self, name: str) -> int:
        assert self.stack.mock is not None
        return self.stack.mock.calls[name]


def call() -> CallContext:
    return CallContext(deadline=Deadline.after(20.0, SystemClock()))


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def caller(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Caller]:
    catalogue = write_catalogue(tmp_path_factory.mktemp("facts"))
    async with (
        dev_stack(StackOptions(catalogue=catalogue)) as stack,
        loop_client(stack.loop_address, GrpcSettings(), stack.telemetry) as loop,
    ):
        yield Caller(stack, loop)


def reactions(events: list[RunEvent]) -> list[str]:
    return [event.body.reaction for event in events if isinstance(event.body, CorrectionMade)]


def told(events: list[RunEvent]) -> str:
    *_, last = [event.body for event in events if isinstance(event.body, CorrectionMade)]
    return last.user_message


def steps(events: list[RunEvent]) -> list[StepStarted]:
    return [event.body for event in events if isinstance(event.body, StepStarted)]


def attempts(events: list[RunEvent]) -> list[Attempt]:
    results = [event.body.result for event in events if isinstance(event.body, ActionReturned)]
    return [attempt for result in results if result is not None for attempt in result.attempts]


def outcome(events: list[RunEvent]) -> Outcome | None:
    last = events[-1].body
    assert isinstance(last, RunFinished)
    return last.outcome


def answer(events: list[RunEvent]) -> Answer:
    (found,) = [event.body for event in events if isinstance(event.body, Answer)]
    return found


async def test_a_word_that_the_tool_does_not_know_is_replaced_by_the_contracts_value(caller: Caller) -> None:
    events = await caller.run("What is the air quality in Shanghai?")

    assert reactions(events) == ["fix_input"]
    assert outcome(events) is Outcome.ANSWERED
    assert "42" in answer(events).text
    assert [step.arguments for step in steps(events)] == [{"city": "Shanghai"}, {"city": "CN-Shanghai"}]


async def test_a_word_that_no_value_has_is_asked_for_and_the_answer_goes_on(caller: Caller) -> None:
    events = await caller.run("火星的空气质量怎么样？", "zh-CN")

    assert outcome(events) is Outcome.NEEDS_INPUT
    (question,) = [event.body for event in events if isinstance(event.body, InputRequired)]
    assert question.fields[0].candidates == ("CN-Shanghai", "CN-Beijing")
    assert "火星" in question.fields[0].question
    given = ProvideInputRequest(
        run_id=events[0].run_id, input=ProvidedInput(input_id=question.input_id, values={"city": "上海"})
    )
    resumed = await caller.loop.provide_input(given, call())
    rest = [event async for event in caller.loop.watch(events[0].run_id, resumed.next_sequence, call())]
    assert reactions(rest) == ["fix_input"]
    assert outcome(rest) is Outcome.ANSWERED


async def test_an_answer_that_breaks_its_contract_is_replaced_by_the_fallbacks(caller: Caller) -> None:
    caller.script("stock_level", 200, {"pieces": "a few"})

    events = await caller.run("How many pieces of AB-1000 are in stock?")

    assert reactions(events) == ["fallback"]
    assert outcome(events) is Outcome.ANSWERED
    assert "7" in answer(events).text


async def test_a_tool_that_is_down_is_called_no_more_than_its_contract_says_and_the_user_is_told(
    caller: Caller,
) -> None:
    caller.script("list_price", 503, {"error": "maintenance"})

    events = await caller.run("What is the price of AB-1000?")

    assert reactions(events) == ["replan", "fail"]
    assert outcome(events) is Outcome.FAILED
    does = "the user asks for the price of an article"  # as the contract describes it
    assert told(events) == f'"{does}" does not serve at present; nothing was changed. Please try again later.'
    last = events[-1].body
    assert isinstance(last, RunFinished)
    assert last.fault is not None
    assert last.fault.code == "UPSTREAM_UNAVAILABLE"
    (step,) = steps(events)
    assert caller.calls("list_price") == len(attempts(events)) > 1  # all of them the contract's own
    assert step.attempt == 1
    counted = caller.stack.telemetry.metrics.exposition()
    assert 'taoloop_corrections_total{fault_class="TOOL_UNAVAILABLE",reaction="fail"} 1.0' in counted


async def test_a_model_that_writes_no_plan_is_held_to_a_stricter_form_by_the_next_thought(tmp_path: Path) -> None:
    bad = ScriptedChat(text=exact_json.dumps({"why": "A look at the air.", "plan": [[9, "Shanghai"]]}))
    good = ScriptedChat(text=exact_json.dumps({"plan": [[1, "Shanghai"]]}))
    unsure = {"min_fit": 1.0, "min_arguments": 1.0, "min_missing": 1.0, "fit_of_none": 0.0}
    async with ChatServer([bad, bad, good], ServedModel(names=("small",))) as server:
        model = {"url": server.url, "model": "small", "profile": "vllm", "timeout_seconds": 3.0}
        settings: dict[str, dict[str, Any]] = {
            "thought-worker": {"model": model, "thought": {"route": unsure, "repair": {"attempts": 1}}},
            "loop": {"correction": {"model_timeout_seconds": 3.0}},
        }
        options = StackOptions(catalogue=write_catalogue(tmp_path), settings=settings)
        async with (
            dev_stack(options) as stack,
            loop_client(stack.loop_address, GrpcSettings(), stack.telemetry) as loop,
        ):
            events = await Caller(stack, loop).run("Tell me what one breathes in Shanghai")

        assert reactions(events) == ["reprompt", "fix_input"]
        assert outcome(events) is Outcome.ANSWERED
        temperatures = [float(str(asked.body["temperature"])) for asked in server.requests]
        assert temperatures == [0.05, 0.05, 0.0]
        assert [STRICT in str(asked.body["messages"]) for asked in server.requests] == [False, False, True]
