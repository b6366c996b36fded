"""Action services as they are deployed, over gRPC, with contracts that a test spells out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from taoloop.action.app import action_component
from taoloop.action.settings import ActionSettings
from taoloop.core.clock import SystemClock
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.wire.clients import ActionClient, action_client
from taoloop.wire.server import serving

CLOCK = SystemClock()

KEYED = {"type": "object", "required": ["key"], "properties": {"key": {"type": "string", "description": "Which"}}}


def write_tools(root: Path, **specs: dict[str, Any]) -> Path:
    """Write a catalogue of these tools, which all stand at the base `things`; what a spec leaves out is a read."""
    (root / "tools").mkdir(parents=True)
    catalogue = {
        "apiVersion": "taoloop.dev/v1",
        "kind": "Catalogue",
        "metadata": {"name": "things"},
        "spec": {"bases": {"things": "http://127.0.0.1:9"}, "tools": "tools/*.yaml"},
    }
    (root / "catalogue.yaml").write_text(json.dumps(catalogue))
    for name, spec in specs.items():
        whole = {
            "description": f"Does {name} with one thing.",
            "use_when": "the user asks for a thing",
            "avoid_when": "anything else",
            "effect": "read",
            "parameters": KEYED,
            "response": True,
            "transport": {"http": {"method": "GET", "url": f"{{{{base.things}}}}/{name}/{{key}}"}},
            **spec,
        }
        document = {"apiVersion": "taoloop.dev/v1", "kind": "Tool", "metadata": {"name": name}, "spec": whole}
        (root / "tools" / f"{name}.yaml").write_text(json.dumps(document))
    return root


@asynccontextmanager
async def served_action(
    root: Path, base_url: str, ledger: str = "ledger", **settings: Any
) -> AsyncIterator[tuple[ActionClient, str]]:
    """Serve the catalogue and give a client of it, and its address."""
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-action")
    grpc = GrpcSettings()
    wanted = ActionSettings.model_validate(
        {
            "catalogue": root,
            "bases": {"things": base_url},
            "ledger": {"url": f"sqlite+aiosqlite:///{root}/{ledger}.sqlite"},
            **settings,
        }
    )
    async with (
        action_component(wanted, telemetry, CLOCK) as component,
        serving([component], grpc, "127.0.0.1:0", telemetry, CLOCK) as server,
        action_client(server.address, grpc, telemetry) as client,
    ):
        yield client, server.address
    await telemetry.aclose()
