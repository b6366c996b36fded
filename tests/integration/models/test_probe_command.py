"""`taoloop model probe` tells an operator what a server can do, by its table and its exit code."""

import json

import pytest

from taoloop.testing.chat.probe import ServedModel
from taoloop.testing.chat.server import ChatServer, ScriptedReply
from taoloop.testing.ports import free_ports
from tests.integration.cli.commands import command

REPLIES = [ScriptedReply(text="never asked")]


async def test_a_server_as_its_profile_says_is_told_in_one_line_and_by_0() -> None:
    async with ChatServer(REPLIES, ServedModel(names=("small",), context_tokens=4096)) as server:
        code, out, _ = await command("model", "probe", server.url, "--model", "small", "--profile", "vllm")
    assert code == 0
    assert "small: json_schema, context 4096 tokens" in out


async def test_what_differs_is_told_with_its_remedy_and_by_1() -> None:
    async with ChatServer(REPLIES, ServedModel(repeats=False)) as server:
        code, out, _ = await command("model", "probe", server.url, "--model", "small", "--profile", "vllm", "--json")
    told = json.loads(out)
    (mismatch,) = told["mismatches"]
    assert (code, told["is_usable"]) == (1, True)
    assert (mismatch["capability"], mismatch["found"], mismatch["is_fatal"]) == ("seed", "another one", False)
    assert mismatch["remedy"].startswith("Set seed to false")


async def test_another_model_cannot_be_used() -> None:
    async with ChatServer(REPLIES, ServedModel(names=("other",))) as server:
        code, out, _ = await command("model", "probe", server.url, "--model", "small")
    assert code == 1
    assert "small: cannot be used" in out
    assert "'other'" in out


async def test_a_server_that_is_away_is_an_error() -> None:
    code, out, err = await command("model", "probe", f"http://127.0.0.1:{free_ports(1)[0]}/v1")
    assert (code, out) == (1, "")
    assert "No connection to the model's server could be made." in err


@pytest.mark.parametrize("arguments", [("probe",), ("probe", "http://127.0.0.1:9/v1", "--profile", "vlm")])
async def test_settings_that_cannot_be_are_told(arguments: tuple[str, ...]) -> None:
    code, _, err = await command("model", *arguments)
    assert code == 1
    assert "TAOLOOP_MODEL__URL" in err or "openai-compatible" in err


async def test_the_profiles_that_come_along_are_listed() -> None:
    code, out, _ = await command("model", "profiles", "--json")
    assert code == 0
    assert {"vllm", "openai-compatible"} <= {json.loads(line)["profile"] for line in out.splitlines()}
