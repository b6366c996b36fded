"""`taoloop tools list|off|on|probe` against a service and a real endpoint."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.integration.action.replicas import served_action, write_tools
from tests.integration.cli.commands import command

WRITE = {"effect": "write", "transport": {"http": {"method": "POST", "url": "{{base.things}}/book/{key}"}}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tools(tmp_path / "catalogue", look_up={}, book=WRITE)


@pytest.fixture
async def calls() -> list[str]:
    return []


@pytest.fixture
async def url(calls: list[str]) -> AsyncIterator[str]:
    """The address of a server that keeps connections."""

    async def answer(call: web.Request) -> web.Response:
        calls.append(call.method)
        return web.json_response({"ok": True}, headers={"Keep-Alive": "timeout=3"})

    app = web.Application()
    app.router.add_route("*", "/{tool}/{key}", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


async def test_a_tool_is_switched_off_shown_so_and_switched_on_again(root: Path, url: str) -> None:
    async with served_action(root, url) as (_, address):
        code, out, _ = await command("tools", "off", "look_up", "--reason", "wrong [data]", "--address", address)
        assert (code, out) == (0, "look_up: available no, switched_off: wrong [data]\n")

        code, out, _ = await command("tools", "list", "--address", address)
        assert code == 0
        assert "no, switched_off: wrong [data]" in out
        code, out, _ = await command("tools", "list", "--address", address, "--json")
        listed = {tool["name"]: tool["availability"] for tool in map(json.loads, out.splitlines())}
        assert listed == {
            "book": {"tool": "book", "available": True},
            "look_up": {"tool": "look_up", "available": False, "reason": "switched_off: wrong [data]"},
        }

        code, out, _ = await command("tools", "on", "look_up", "--address", address, "--json")
        assert (code, json.loads(out)) == (0, {"tool": "look_up", "available": True})


async def test_switching_an_unknown_tool_is_an_error(root: Path, url: str) -> None:
    async with served_action(root, url) as (_, address):
        code, _, err = await command("tools", "off", "nothing", "--reason", "x", "--address", address)
    assert code == 1
    assert err.startswith("UNKNOWN_TOOL: ")


async def test_a_probe_says_what_it_saw_and_what_should_change(root: Path, url: str, calls: list[str]) -> None:
    probe = ("tools", "probe", "look_up", "--catalogue", str(root), "--arguments", '{"key": "abc"}', "--watch", "0")
    code, out, _ = await command(*probe, TAOLOOP_BASES__THINGS=url)
    assert code == 1, out
    assert calls == ["GET", "GET"]
    assert "connection is kept: yes, announced for 3 s" in out
    assert "/spec/pool/idle_timeout" in out

    code, out, _ = await command(*probe, "--json", TAOLOOP_BASES__THINGS=url)
    report = json.loads(out)
    assert (code, report["status_code"], report["announced_keep_alive_seconds"]) == (1, 200, 3.0)
    assert [advice["pointer"] for advice in report["advice"]] == ["/spec/pool/idle_timeout"]


async def test_a_probe_without_an_answer_tells_why(root: Path) -> None:
    code, out, _ = await command(
        "tools", "probe", "look_up", "--catalogue", str(root), "--arguments", '{"key": "abc"}', "--watch", "0"
    )
    assert code == 1
    assert out.startswith("TOOL_UNREACHABLE: ")


async def test_a_write_is_probed_only_by_force_and_with_a_warning(root: Path, url: str, calls: list[str]) -> None:
    probe = ("tools", "probe", "book", "--catalogue", str(root), "--arguments", '{"key": "abc"}', "--watch", "0")
    code, _, err = await command(*probe, TAOLOOP_BASES__THINGS=url)
    assert code == 1
    assert "book writes: a probe would have its effect" in err
    assert calls == []

    _, out, err = await command(*probe, "--force", TAOLOOP_BASES__THINGS=url)
    assert err == "book writes: this call takes effect.\n"
    assert "answer: 200" in out
    assert calls == ["POST"]


@pytest.mark.parametrize(
    ("arguments", "words"), [((), "has no sample"), (("--arguments", "{}"), "The arguments cannot be used")]
)
async def test_a_probe_needs_valid_arguments(root: Path, arguments: tuple[str, ...], words: str) -> None:
    code, _, err = await command("tools", "probe", "look_up", "--catalogue", str(root), *arguments)
    assert code == 1
    assert words in err


async def test_a_probe_takes_the_arguments_of_a_sample() -> None:
    sampled = Path(__file__).parents[3] / "examples" / "customer-service"
    code, out, _ = await command("tools", "probe", "get_weather", "--catalogue", str(sampled), "--watch", "0")
    assert code == 1
    assert out.startswith("TOOL_UNREACHABLE: ")
