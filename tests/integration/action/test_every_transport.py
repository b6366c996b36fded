"""A tool of every kind of transport is reached through the action service as its contract says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from taoloop.action.app import action_component
from taoloop.action.ports import ToolCall
from taoloop.action.settings import ActionSettings, LedgerSettings, ToolPythonSettings
from taoloop.action.transports.opening import tool_transports
from taoloop.core.clock import SystemClock
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.acting import ActionStatus
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.wire.clients import action_client
from taoloop.wire.server import serving
from tests.integration.action.transports.databases import sqlite_file
from tests.integration.action.transports.grpc_server import METHOD, descriptor_set, orders_server
from tests.unit.action.contracts import context, request

CLOCK = SystemClock()
FUNCTIONS = Path(__file__).parent / "transports"
TEXT = {"type": "string", "minLength": 1, "description": "Which one"}


def written(name: str, transport: Mapping[str, Any], **parameters: Any) -> dict[str, Any]:
    """Return the contract of a tool that reads."""
    return {
        "apiVersion": "taoloop.dev/v1",
        "kind": "Tool",
        "metadata": {"name": name},
        "spec": {
            "description": "Finds one.",
            "use_when": "the user asks for one",
            "avoid_when": "anything else",
            "effect": "read",
            "parameters": {
                "type": "object",
                "required": list(parameters),
                "additionalProperties": False,
                "properties": parameters,
            },
            "response": {"type": "object"},
            "transport": transport,
            "timeout": "20s",
        },
    }


def catalogue_of(folder: Path, *tools: Mapping[str, Any], **bases: str) -> Path:
    """Write a catalogue; JSON is YAML."""
    (folder / "tools").mkdir(parents=True)
    (folder / "orders.pb").write_bytes(descriptor_set())
    head = {"apiVersion": "taoloop.dev/v1", "kind": "Catalogue", "metadata": {"name": "all"}}
    (folder / "catalogue.yaml").write_text(json.dumps({**head, "spec": {"bases": bases, "tools": "tools/*.yaml"}}))
    for tool in tools:
        (folder / "tools" / f"{tool['metadata']['name']}.yaml").write_text(json.dumps(tool))
    return folder


def names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


async def called(settings: ActionSettings, tool: str, **arguments: Any) -> Any:
    """Return what the service says that a tool answered."""
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-action")
    async with (
        action_component(settings, telemetry, CLOCK) as component,
        serving([component], GrpcSettings(), "127.0.0.1:0", telemetry, CLOCK) as server,
        action_client(server.address, GrpcSettings(), telemetry) as client,
    ):
        result = await client.execute(request(tool, arguments=arguments), context(CLOCK, 30.0))
    assert result.status is ActionStatus.SUCCEEDED, result.fault
    return result.parsed


@pytest.fixture
def ledger(tmp_path: Path) -> LedgerSettings:
    return LedgerSettings(url=SecretStr(f"sqlite+aiosqlite:///{tmp_path / 'ledger.sqlite'}"))


async def test_a_python_function_is_called_where_the_setting_says_that_it_is(
    tmp_path: Path, ledger: LedgerSettings
) -> None:
    tool = written("echo", {"python": {"entry_point": "functions_under_test:echo"}}, key=TEXT)
    catalogue = catalogue_of(tmp_path / "all", tool)
    python = ToolPythonSettings(search_path=(str(FUNCTIONS),))
    settings = ActionSettings(catalogue=catalogue, ledger=ledger, tool_python=python)
    assert await called(settings, "echo", key="abc") == {"key": "abc"}


@pytest.mark.parametrize("names_file", [True, False])
async def test_a_grpc_method_is_called_by_a_descriptor_set_of_the_catalogue(
    tmp_path: Path, ledger: LedgerSettings, names_file: bool
) -> None:
    grpc = {"base": "shop", "method": METHOD, "descriptor_set": "orders.pb"}
    tool = written("find", {"grpc": grpc}, order_id=TEXT)
    async with orders_server(reflects=()) as server:
        folder = catalogue_of(tmp_path / "all", tool, shop=f"http://{server.address}")
        catalogue = folder / "catalogue.yaml" if names_file else folder
        found = await called(ActionSettings(catalogue=catalogue, ledger=ledger), "find", order_id="A7")
    assert found["order_id"] == "A7"


async def test_a_call_by_hand_needs_neither_ledger_nor_board(tmp_path: Path) -> None:
    python = {"entry_point": "functions_under_test:echo"}
    catalogue = catalogue_of(tmp_path / "all", written("echo", {"python": python}, key=TEXT))
    settings = ActionSettings(catalogue=catalogue, tool_python=ToolPythonSettings(search_path=(str(FUNCTIONS),)))
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-test")
    tools = read_catalogue(catalogue)
    contract = tools.get("echo")
    assert contract is not None
    call = ToolCall(contract=contract, arguments={"key": "abc"}, timeout_seconds=20.0, thought_id="f" * 32)
    async with tool_transports(settings, tools, telemetry, CLOCK) as transport:
        reply = await transport.attempt(call)
    assert reply.body == b'{"key":"abc"}'
    assert names_in(tmp_path) == ["all"]


async def test_a_statement_is_run_on_the_database_of_its_secret(tmp_path: Path, ledger: LedgerSettings) -> None:
    statement = "SELECT id, amount FROM orders WHERE city = :city ORDER BY id"
    tool = written("orders_of", {"sql": {"database": {"secret": "ORDERS_DB"}, "statement": statement}}, city=TEXT)
    catalogue = catalogue_of(tmp_path / "all", tool)
    url = SecretStr(f"sqlite:///{sqlite_file(tmp_path)}")
    settings = ActionSettings(catalogue=catalogue, ledger=ledger, secrets={"ORDERS_DB": url})
    found = await called(settings, "orders_of", city="Oslo")
    assert found["rows"] == [{"id": "A1", "amount": Decimal("10.5")}, {"id": "A3", "amount": 30}]
