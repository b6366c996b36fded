"""`taoloop dev` beside a language model's server: what the graph planner is unsure of is planned by the model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from taoloop.core.exact_json import dumps
from taoloop.testing.chat.probe import ServedModel
from taoloop.testing.chat.server import ChatServer, ScriptedReply
from tests.e2e.processes import CATALOGUE, Running, json_lines, taoloop
from tests.e2e.waiting import eventually, is_serving

TEXT = "Is KB-2041 running low?"
PLAN = ScriptedReply(text=dumps({"why": "Stock is asked for.", "plan": [["check_stock", "KB-2041"]]}))
BAD = ScriptedReply(text=dumps({"why": "", "plan": [["order_more", "KB-2041"]]}))


@asynccontextmanager
async def dev_with(tmp_path: Path, *replies: ScriptedReply) -> AsyncIterator[tuple[dict[str, str], ChatServer]]:
    """Start `taoloop dev` beside a server that plays the model; the graph planner is sure of nothing."""
    async with ChatServer(replies, ServedModel(names=("small",))) as server:
        variables = {
            "TAOLOOP_MODEL__URL": server.url,
            "TAOLOOP_MODEL__MODEL": "small",
            "TAOLOOP_MODEL__PROFILE": "vllm",
            "TAOLOOP_THOUGHT__ROUTE__MIN_FIT": "1",
            "TAOLOOP_THOUGHT__ROUTE__MIN_ARGUMENTS": "1",
            "TAOLOOP_THOUGHT__ROUTE__MIN_MISSING": "1",
            "TAOLOOP_THOUGHT__ROUTE__FIT_OF_NONE": "0",
        }
        data = str(tmp_path / "data")
        running = Running.start("dev", str(CATALOGUE), "--data", data, "--ports", "0", "--json", variables=variables)
        try:

            async def has_told() -> bool:
                assert running.process.poll() is None, running.told()
                return bool(running.out)

            await eventually(has_told, "the first line", timeout_seconds=60.0)
            addresses: dict[str, str] = json.loads(running.out[0])
            assert await is_serving(addresses["loop"])
            yield addresses, server
        finally:
            await asyncio.to_thread(running.stop)


async def run(addresses: dict[str, str]) -> tuple[int, list[Any]]:
    done = await asyncio.to_thread(taoloop, "run", TEXT, "--address", addresses["loop"], "--json")
    return done.returncode, json_lines(done.stdout)


def thought_of(events: list[Any]) -> dict[str, Any]:
    thoughts = [event["body"]["response"] for event in events if event["body"]["type"] == "thought_made"]
    assert thoughts, [event["body"]["type"] for event in events]
    first: dict[str, Any] = thoughts[0]
    return first


async def test_a_task_that_the_graph_planner_is_unsure_of_is_planned_by_the_model_and_answered(tmp_path: Path) -> None:
    async with dev_with(tmp_path, PLAN, BAD, PLAN) as (addresses, server):
        first_code, first = await run(addresses)
        second_code, second = await run(addresses)

    assert (first_code, second_code) == (0, 0), (first[-1], second[-1])
    assert "128" in str(first)
    planned, repaired = thought_of(first), thought_of(second)
    assert planned["planner"] == repaired["planner"] == "model/v1"
    assert planned["outcome"]["model"] == "small"
    assert int(planned["seed"]) > 0
    assert (int(planned["usage"]["model_calls"]), int(repaired["usage"]["model_calls"])) == (1, 2)
    assert len(server.requests) == 3


async def test_a_model_that_only_talks_ends_in_an_honest_outcome(tmp_path: Path) -> None:
    async with dev_with(tmp_path, ScriptedReply(text="Let me think about that for a while.")) as (addresses, _):
        code, events = await run(addresses)

    assert code in {0, 3, 4, 5, 9}, events[-1]
    assert events[-1]["body"]["type"] == "run_finished"
