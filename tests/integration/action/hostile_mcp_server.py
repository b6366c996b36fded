"""An MCP server on standard streams that shakes hands and then misbehaves as its tools' names say."""

import base64
import json
import os
import sys
import time
from typing import Any


def say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def shake_hands(request: dict[str, Any]) -> None:
    version = sys.argv[1] if len(sys.argv) > 1 else request["params"]["protocolVersion"]
    result = {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "hostile", "version": "1"}}
    say({"jsonrpc": "2.0", "id": request["id"], "result": result})


def call(request: dict[str, Any]) -> None:
    arguments = request["params"].get("arguments", {})
    match request["params"]["name"]:
        case "write":
            written = base64.b64decode(arguments["bytes"]).replace(b"@ID@", str(request["id"]).encode())
            os.write(1, written)
        case "end":
            sys.exit(0)
        case "deaf":
            time.sleep(60)


for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        shake_hands(message)
    elif message.get("method") == "tools/call":
        call(message)
    elif "id" in message:
        say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}})

say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "farewell"}})
