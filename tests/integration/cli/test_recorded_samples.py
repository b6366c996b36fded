"""`taoloop tools record` against a real HTTP server: what is sent, what is written, what is refused."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.integration.action.replicas import write_tools
from tests.integration.cli.commands import command

BODY = {
    "id": "K-90001",
    "state": "ok",
    "contact": {"phone": "13911112222", "note": "ask for 13911112222"},
    "access_token": "s3cr3t-value",
    "total": 12.50,
}
RESPONSE = {
    "type": "object",
    "required": ["id", "state"],
    "properties": {
        "state": {"const": "ok"},
        "contact": {"type": "object", "properties": {"phone": {"type": "string", "pattern": "^1[3-9][0-9]{9}$"}}},
    },
}
READ = {"response": RESPONSE, "observe": {"redact": ["phone"]}, "samples": []}
WRITE = {**READ, "effect": "write", "transport": {"http": {"method": "POST", "url": "{{base.things}}/book/{key}"}}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tools(tmp_path / "catalogue", look_up=READ, book=WRITE)


@pytest.fixture
async def calls() -> list[str]:
    return []


@pytest.fixture
async def url(calls: list[str]) -> AsyncIterator[str]:
    """The address of a server that knows one thing, and answers for two others as no contract says."""

    async def answer(call: web.Request) -> web.Response:
        calls.append(call.method)
        match call.match_info["key"]:
            case "none":
                return web.json_response({"error": "unknown"}, status=404)
            case "drift":
                return web.json_response({"id": "x", "state": "new"})
            case "html":
                return web.Response(text="<html>", content_type="text/html")
            case _:
                return web.json_response(BODY)

    app = web.Application()
    app.router.add_route("*", "/{tool}/{key}", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


async def record(root: Path, url: str, key: str, *more: str, tool: str = "look_up") -> tuple[int, str, str]:
    arguments = json.dumps({"key": key})
    return await command(
        "tools", "record", tool, "--catalogue", str(root), "--arguments", arguments, *more, TAOLOOP_BASES__THINGS=url
    )


async def test_a_live_call_becomes_a_redacted_sample_that_the_check_accepts(root: Path, url: str) -> None:
    code, out, err = await record(root, url, "K-90001")
    assert code == 0, out + err
    path = root / "samples" / "look_up" / "recorded-1.json"
    text = path.read_text(encoding="utf-8")
    sample: Any = json.loads(text)
    assert sample["response"]["body"] == {
        "id": "{{arguments.key}}",
        "state": "ok",
        "contact": {"phone": "13900000000", "note": "ask for <PHONE>"},
        "access_token": "***",
        "total": 12.50,
    }
    assert sample["expect"] == {"valid": True}
    assert "13911112222" not in text + out
    assert 'samples: ["samples/look_up/recorded-1.json"]' in out

    write_again = json.loads((root / "tools" / "look_up.yaml").read_text())
    write_again["spec"]["samples"] = ["samples/look_up/*.json"]
    (root / "tools" / "look_up.yaml").write_text(json.dumps(write_again))
    code, out, _ = await command("tools", "check", str(root))
    assert code == 0, out
    assert "1 sample," in out
    code, out, _ = await record(root, url, "K-90001", "--json")
    shown = json.loads(out)
    assert (code, shown["to_do"], Path(shown["sample"]).name) == (0, "", "recorded-2.json")


async def test_a_failure_is_recorded_as_what_it_is(root: Path, url: str, tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    code, out, err = await record(root, url, "none", "-o", str(path))
    assert code == 0, out + err
    assert json.loads(path.read_text())["expect"] == {"valid": False, "fault": "NOT_FOUND"}
    code, _, err = await record(root, url, "none", "-o", str(path))
    assert code == 1
    assert "is there already" in err


@pytest.mark.parametrize(("key", "said"), [("drift", "--as-failure"), ("html", "not JSON")])
async def test_an_answer_that_is_no_sample_is_not_written(root: Path, url: str, key: str, said: str) -> None:
    code, _, err = await record(root, url, key)
    assert code == 1
    assert said in err
    assert not (root / "samples").exists()


async def test_a_tool_that_writes_is_called_only_when_that_is_allowed(root: Path, url: str, calls: list[str]) -> None:
    code, _, err = await record(root, url, "K-90001", tool="book")
    assert code == 1
    assert "--allow-write" in err
    assert calls == []
    code, out, err = await record(root, url, "K-90001", "--allow-write", tool="book")
    assert code == 0, out + err
    assert calls == ["POST"]


async def test_no_answer_is_an_error_and_nothing_is_written(root: Path) -> None:
    code, _, err = await record(root, "http://127.0.0.1:9", "K-90001")
    assert code == 1
    assert "TOOL_UNREACHABLE" in err
    assert not (root / "samples").exists()
