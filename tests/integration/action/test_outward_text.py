"""What a receiver sees of an unsafe text that a plan wanted to send to people."""

from __future__ import annotations

from pathlib import Path

from aiohttp import web
from aiohttp.test_utils import TestServer

from taoloop.core.exact_json import digest
from taoloop.plan.acting import ActionStatus
from tests.integration.action.replicas import CLOCK, served_action, write_tools
from tests.unit.action.contracts import context, request

MAIL = {
    "effect": "write",
    "reach": "outward",
    "parameters": {
        "type": "object",
        "required": ["subject", "body"],
        "additionalProperties": False,
        "properties": {
            "subject": {"type": "string", "minLength": 1, "description": "Subject", "x-taoloop-content": "plain"},
            "body": {"type": "string", "minLength": 1, "description": "Text", "x-taoloop-content": "html"},
        },
    },
    "response": {"type": "object"},
    "transport": {"http": {"method": "POST", "url": "{{base.things}}/mails"}},
}
ARGUMENTS = {
    "subject": "Your order\u202egnp.exe",
    "body": "<p>Hello <b>Anna</b></p><img src=x onerror=alert(document.cookie)><script>steal()</script>",
}


async def test_an_attack_on_the_readers_of_a_mail_does_not_leave(tmp_path: Path) -> None:
    mails: list[object] = []

    async def receive(call: web.Request) -> web.Response:
        mails.append(await call.json())
        return web.json_response({"ok": True})

    receiver = web.Application()
    receiver.router.add_post("/mails", receive)
    root = write_tools(tmp_path / "catalogue", send_mail=MAIL)
    async with (
        TestServer(receiver) as server,
        served_action(root, str(server.make_url("")).rstrip("/")) as (client, _),
    ):
        result = await client.execute(request("send_mail", arguments=ARGUMENTS), context(CLOCK))

    assert result.status is ActionStatus.SUCCEEDED
    assert mails == [{"subject": "Your ordergnp.exe", "body": '<p>Hello <b>Anna</b></p><img src="x">'}]
    assert sorted(result.sanitised) == ["/body", "/subject"]
    assert result.arguments_hash == digest(ARGUMENTS)
