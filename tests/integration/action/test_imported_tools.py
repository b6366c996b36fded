"""Contracts drafted from live servers and real functions, checked as a catalogue and called."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from taoloop.action.settings import ToolPythonSettings
from taoloop.action.transports.python.transport import python_transport
from taoloop.cli.importing.servers import list_mcp_tools, methods_of_server, methods_of_set
from taoloop.core.clock import SystemClock
from taoloop.core.errors import BackendUnavailable, InvalidRequest
from taoloop.testing.mcp_server import COMMAND, mcp_http_server
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.importing.checking import check_draft
from taoloop.tools.importing.findings import ImportReport
from taoloop.tools.importing.grpc_methods import GrpcMethod, GrpcPlace, draft_grpc
from taoloop.tools.importing.mcp_tools import draft_mcp
from taoloop.tools.importing.python_functions import draft_function
from taoloop.tools.importing.writing import write_drafts
from taoloop.tools.served_catalogue import read_catalogue
from tests.integration.action.transports.grpc_server import SERVICE, descriptor_set, orders_server
from tests.integration.action.transports.tool_calls import attempted, body_of
from tests.unit.action.contracts import telemetry

EXAMPLE = Path("examples/python-tools").resolve()


def loaded(report: ImportReport, directory: Path) -> Catalogue:
    """Write a report's drafts and read them as the catalogue of a service."""
    write_drafts(directory, [check_draft(each, report.bases) for each in report.drafts], report.bases, name="imported")
    return read_catalogue(directory)


@pytest.fixture
def example() -> Iterator[None]:
    """Let the example's module be imported."""
    sys.path.insert(0, str(EXAMPLE))
    yield
    sys.path.remove(str(EXAMPLE))
    sys.modules.pop("garages", None)


@pytest.mark.usefixtures("example")
async def test_the_contract_of_a_function_is_true_of_what_it_returns(tmp_path: Path) -> None:
    drafts = tuple(draft_function(f"garages:{name}") for name in ("find_garage", "reserve_place"))
    catalogue = loaded(ImportReport(drafts=drafts), tmp_path)
    calls: dict[str, Any] = {
        "find_garage": {"district": "north"},
        "reserve_place": {"garage": "G017", "plate": "AB 12", "hours": 3},
    }
    async with python_transport(
        ToolPythonSettings(search_path=(str(EXAMPLE),)), telemetry(), SystemClock()
    ) as transport:
        for name, arguments in calls.items():
            contract = catalogue.compiled(name).contract
            assert contract.compiled_parameters.violations(arguments) == ()
            body = body_of(await attempted(transport, contract, **arguments))
            assert contract.compiled_response.violations(body) == ()
    refused = catalogue.compiled("reserve_place").contract.compiled_parameters.violations(
        {"garage": "G1", "plate": "A"}
    )
    assert {each.pointer for each in refused} == {"/garage", "/plate"}


async def test_tools_of_an_mcp_server_over_http_become_contracts(tmp_path: Path) -> None:
    async with mcp_http_server() as served:
        tools = await list_mcp_tools(served.url)
    report = draft_mcp(tools, {"url": "{{base.mcp}}/mcp"}, ["*"], max_tools=50, bases={"mcp": "http://mcp.internal"})
    catalogue = loaded(report, tmp_path)
    assert "echo" in catalogue
    assert all(tool.contract.trust == "untrusted" for tool in catalogue)


async def test_tools_of_an_mcp_server_with_a_command_become_contracts(tmp_path: Path) -> None:
    tools = await list_mcp_tools(" ".join(COMMAND))
    report = draft_mcp(tools, {"command": list(COMMAND)}, ["echo"], max_tools=50, bases={})
    assert [tool.contract.name for tool in loaded(report, tmp_path)] == ["echo"]


@pytest.mark.parametrize("server", ["http://127.0.0.1:1/mcp", "no-such-program-anywhere", f"{sys.executable} -c 1"])
async def test_a_server_that_lists_nothing_is_told(server: str) -> None:
    with pytest.raises(BackendUnavailable, match="did not list its tools"):
        await list_mcp_tools(server)


def drafts_of(methods: tuple[GrpcMethod, ...], directory: Path) -> Catalogue:
    """Return the catalogue of a service's methods."""
    return loaded(draft_grpc(methods, GrpcPlace(base="orders", url="http://orders"), ["*"], max_tools=50), directory)


async def test_reflection_and_a_descriptor_set_give_the_same_contracts(tmp_path: Path) -> None:
    (tmp_path / "orders.pb").write_bytes(descriptor_set())
    from_set = methods_of_set(tmp_path / "orders.pb", SERVICE)
    async with orders_server() as server:
        from_server = await methods_of_server(f"http://{server.address}", SERVICE)
        with pytest.raises(InvalidRequest, match="does not know the service"):
            await methods_of_server(f"http://{server.address}", "shop.v1.Nothing")
    assert from_server == from_set
    assert "find" in drafts_of(from_set, tmp_path / "catalogue")


async def test_a_grpc_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="does not answer"):
        await methods_of_server("http://127.0.0.1:1", SERVICE)
    with pytest.raises(InvalidRequest, match=r"none\.pb"):
        methods_of_set(tmp_path / "none.pb", SERVICE)
