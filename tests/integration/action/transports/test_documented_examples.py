"""The worked examples of docs/transports load without a finding, and run."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from taoloop.action.egress.rules import EgressRules
from taoloop.action.executor import Executor
from taoloop.action.ports import Transport
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolPythonSettings, ToolSqlSettings
from taoloop.action.transports.grpc_methods.transport import grpc_transport
from taoloop.action.transports.python.transport import python_transport
from taoloop.action.transports.sql.transport import sql_transport
from taoloop.core.clock import SystemClock
from taoloop.core.exact_json import ABSENT
from taoloop.core.settings import GrpcSettings
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.loading import load_catalogue
from tests.integration.action.transports.databases import sqlite_file
from tests.integration.action.transports.grpc_server import orders_server
from tests.packaging import checkout, pages
from tests.unit.action.contracts import context, request, telemetry

CLOCK = SystemClock()


def example(page: str, folder: Path, **bases: str) -> Catalogue:
    """Write the files of a page and load its catalogue."""
    for name, text in pages.example_files(checkout.ROOT / "docs" / "transports" / page).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    [path] = folder.glob("*/catalogue.yaml")
    loaded = load_catalogue(path.parent, bases)
    assert [str(finding) for finding in loaded.findings] == []
    assert loaded.catalogue is not None
    return loaded.catalogue


async def executed(catalogue: Catalogue, transport: Transport, arguments: Any) -> ActionResult:
    executor = Executor(catalogue, transport, InMemoryEffectLedger(CLOCK), telemetry(), CLOCK)
    [tool] = catalogue.tools
    result = await executor.execute(request(tool, arguments=arguments), context(CLOCK, 30.0))
    if result.status is ActionStatus.SUCCEEDED:
        assert result.parsed is not ABSENT
        assert catalogue.compiled(tool).response.violations(result.parsed) == ()
    return result


async def test_python_example(tmp_path: Path) -> None:
    catalogue = example("python.md", tmp_path)
    settings = ToolPythonSettings(search_path=(str(tmp_path / "functions"),))
    async with python_transport(settings, telemetry(), CLOCK) as transport:
        arguments = {"amount": Decimal("12.50"), "currency": "EUR", "day": "2026-03-01"}
        result = await executed(catalogue, transport, arguments)
        assert result.parsed == {"crowns": Decimal("140.050000"), "day": "2026-03-01"}
        unknown = await executed(catalogue, transport, {**arguments, "currency": "NOK"})
        assert unknown.fault is not None
        assert unknown.fault.code == "NO_RATE"


async def test_sql_example(tmp_path: Path) -> None:
    catalogue = example("sql.md", tmp_path)
    secrets = ConfiguredSecrets({"ORDERS_DB": SecretStr(f"sqlite:///{sqlite_file(tmp_path)}")})
    async with sql_transport(ToolSqlSettings(), secrets, telemetry()) as transport:
        result = await executed(catalogue, transport, {"city": "Oslo"})
    assert result.parsed == {
        "rows": [{"id": "A1", "amount": Decimal("10.5"), "phone": "***"}, {"id": "A3", "amount": 30, "phone": "***"}],
        "row_count": 2,
    }


async def test_grpc_example(tmp_path: Path) -> None:
    async with orders_server() as server:
        catalogue = example("grpc.md", tmp_path, shop=f"http://{server.address}")
        async with grpc_transport(
            GrpcSettings(),
            catalogue.bases,
            ConfiguredSecrets({}),
            telemetry(),
            rules=EgressRules(),
            directory=tmp_path,
        ) as transport:
            result = await executed(catalogue, transport, {"order_id": "A1"})
    assert isinstance(result.parsed, dict)
    assert result.parsed["order_id"] == "A1"


@pytest.mark.parametrize("page", ["python.md", "sql.md", "grpc.md"])
def test_pages_are_linked_from_the_page_about_tools(page: str) -> None:
    assert f"transports/{page}" in [path for path, _ in pages.links(checkout.ROOT / "docs" / "tools.md")]
