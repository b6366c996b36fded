"""`taoloop evaluate planning --planner model` asks a real HTTP server and tells what it took."""

import asyncio
import json
import os
import sys
from pathlib import Path

from taoloop.testing.chat.probe import ServedModel
from taoloop.testing.chat.server import ChatServer, ScriptedReply
from taoloop.testing.ports import free_ports
from tests.unit.evaluation.planning.models.made import PLANS, file_of, record


async def evaluated(url: str, cases: Path, out: Path, *arguments: str) -> tuple[int | None, str, str]:
    model = {"URL": url, "MODEL": "small", "PROFILE": "vllm"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "taoloop.cli.main", "evaluate", "planning", str(cases)),
        *("--planner", "model", "--out", str(out), *arguments),
        env={**os.environ, **{f"TAOLOOP_MODEL__{name}": value for name, value in model.items()}},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    told, err = await process.communicate()
    return process.returncode, told.decode(), err.decode()


async def test_predictions_are_kept_scored_and_told_with_their_tokens(tmp_path: Path) -> None:
    cases = file_of(tmp_path / "cases.jsonl", [record(number) for number in range(4)])
    out = tmp_path / "predictions.jsonl"
    replies = [ScriptedReply(text=PLANS.text)]
    async with ChatServer(replies, ServedModel(names=("small",), context_tokens=4096)) as server:
        code, told, err = await evaluated(server.url, cases, out, "--concurrency", "2", "--json")
        again = await evaluated(server.url, cases, out)
    assert (code, again[0]) == (0, 0), err + again[2]
    found = json.loads(told)
    assert (found["cases"], found["macro"]["all"]) == (4, 100.0)
    assert found["by"].startswith("small, json_schema, prompts v1")
    assert found["output_tokens"]["median"] > 0
    assert "calibration_error" not in found
    assert [json.loads(line)["kind"] for line in out.read_text().splitlines()] == ["plan"] * 4
    assert "4 cases, percent right" in again[1]
    assert "Replies of no use: none" in again[1]


async def test_without_a_server_it_is_an_error_and_nothing_is_predicted(tmp_path: Path) -> None:
    cases = file_of(tmp_path / "cases.jsonl", [record()])
    out = tmp_path / "predictions.jsonl"
    code, told, err = await evaluated(f"http://127.0.0.1:{free_ports(1)[0]}/v1", cases, out)
    assert (code, told) == (1, "")
    assert "BACKEND_UNAVAILABLE" in err
    assert out.read_text() == ""
