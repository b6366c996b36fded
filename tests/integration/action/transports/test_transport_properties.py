"""Whatever functions, servers and arguments hold, one answer or one fault comes of an attempt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from taoloop.action.egress.rules import EgressRules
from taoloop.action.ports import Reply, ToolCall, Transport, TransportFault
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolPythonSettings, ToolSqlSettings
from taoloop.action.transports.grpc_methods.transport import grpc_transport
from taoloop.action.transports.python.transport import python_transport
from taoloop.action.transports.sql.transport import sql_transport
from taoloop.core import exact_json
from taoloop.core.clock import SystemClock
from taoloop.core.faults import FaultCode
from taoloop.core.settings import GrpcSettings
from taoloop.tools.contract import GrpcTransport, PythonTransport, SqlTransport
from tests.contract.transport_peers import FUNCTIONS
from tests.integration.action.transports.databases import sqlite_file
from tests.integration.action.transports.grpc_server import METHOD, orders_server
from tests.integration.action.transports.tool_calls import contract, tool_call
from tests.unit.action.contracts import telemetry

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ANY_TEXT = st.text(max_size=30)

few = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


async def judged(transport: Transport, call: ToolCall) -> None:
    """Attempt, and check that what comes is one answer that can be read, or one fault that says what it has to."""
    outcome: Reply | TransportFault
    try:
        outcome = await transport.attempt(call)
    except TransportFault as fault:
        outcome = fault
    if isinstance(outcome, TransportFault):
        assert outcome.code in set(FaultCode)
        assert outcome.message.endswith(".")
    else:
        assert 100 <= outcome.status_code < 600
        exact_json.loads(outcome.body)


@few
@given(
    calls=st.lists(
        st.fixed_dictionaries(
            {
                "returns": JSON,
                "prints": ANY_TEXT,
                "raises": st.none() | st.sampled_from(["ValueError", "SystemExit", "KeyboardInterrupt", "Unprintable"]),
                "odd": st.none() | st.sampled_from(["bytes", "nan", "cycle", "key", "surrogate"]),
            }
        ),
        min_size=1,
        max_size=20,
    )
)
async def test_functions(calls: list[dict[str, Any]]) -> None:
    tool = contract(PythonTransport(entry_point="functions_under_test:anything"))
    opened = ToolPythonSettings(search_path=(FUNCTIONS,), pool_size=1)
    async with python_transport(opened, telemetry(), SystemClock()) as transport:
        for each in calls:
            await judged(transport, tool_call(tool, **each))


@few
@given(
    replies=st.lists(
        st.tuples(
            st.binary(max_size=60) | st.sampled_from(list(grpc.StatusCode)[1:]),
            ANY_TEXT,
            st.binary(max_size=40),
            st.dictionaries(st.sampled_from(["order_id", "number", "price", "line", "other"]), JSON, max_size=3),
        ),
        min_size=1,
        max_size=20,
    )
)
async def test_grpc_servers(replies: list[tuple[Any, str, bytes, dict[str, Any]]]) -> None:
    turn = iter(replies)

    async def answer(request: Any, context: Any) -> bytes:
        what, text, details, _ = next(turn)
        if isinstance(what, bytes):
            return what
        context.set_trailing_metadata((("grpc-status-details-bin", details),))
        await context.abort(what, text.encode(errors="replace").decode())
        return b""

    async with orders_server(answer) as server:
        bases = {"shop": f"http://{server.address}"}
        tool = contract(GrpcTransport(base="shop", method=METHOD))
        async with grpc_transport(
            GrpcSettings(), bases, ConfiguredSecrets({}), telemetry(), rules=EgressRules(), directory=Path()
        ) as transport:
            for _, _, _, arguments in replies:
                await judged(transport, tool_call(tool, **arguments))


@few
@given(values=st.lists(JSON, min_size=1, max_size=30))
async def test_statements(values: list[Any], tmp_path_factory: Any) -> None:
    path = sqlite_file(tmp_path_factory.mktemp("orders"))
    tool = contract(SqlTransport(database="DB", statement="SELECT :value AS value FROM orders WHERE id = :value"))
    all_of_it = contract(SqlTransport(database="DB", statement="SELECT :value AS value"), name="all_of_it")
    secrets = ConfiguredSecrets({"DB": SecretStr(f"sqlite:///{path}")})
    async with sql_transport(ToolSqlSettings(), secrets, telemetry()) as transport:
        for value in values:
            await judged(transport, tool_call(tool, value=value))
            await judged(transport, tool_call(all_of_it, value=value))
