"""Rules of leading a call to its transport."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import pytest

from taoloop.action.ports import ToolCall, Transport, TransportFault
from taoloop.action.transports.router import OpenTransport, TransportRouter, kinds_used, transport_router
from taoloop.core.errors import ConfigurationError
from taoloop.core.faults import FaultCode
from taoloop.testing.transport import ScriptedTransport, json_reply
from taoloop.tools.contract import HttpTransport, PythonTransport, SqlTransport, ToolContract
from tests.unit.action.contracts import LOOK_UP, catalogue

PYTHON = replace(LOOK_UP, name="count", transport=PythonTransport(entry_point="a:b"), document={"name": "count"})


def call(contract: ToolContract) -> ToolCall:
    return ToolCall(contract=contract, arguments={"key": "abc"}, timeout_seconds=1.0, thought_id="t")


def test_the_kinds_of_a_catalogue_are_those_of_its_tools() -> None:
    assert kinds_used(catalogue(None, PYTHON)) == (HttpTransport, PythonTransport)


async def test_a_call_goes_to_the_transport_of_its_kind() -> None:
    http, python = ScriptedTransport([json_reply(1)]), ScriptedTransport([json_reply(2)])
    router = TransportRouter({HttpTransport: http, PythonTransport: python})
    assert (await router.attempt(call(LOOK_UP))).body == b"1"
    assert (await router.attempt(call(PYTHON))).body == b"2"
    assert repr(router) == "TransportRouter(HttpTransport, PythonTransport)"


async def test_a_kind_that_is_not_served_is_a_fault_and_nothing_leaves() -> None:
    with pytest.raises(TransportFault) as caught:
        await TransportRouter({}).attempt(call(LOOK_UP))
    assert (caught.value.code, caught.value.may_have_left) == (FaultCode.NOT_YET_SUPPORTED, False)


async def test_only_what_the_catalogue_uses_is_opened_and_all_of_it_is_closed_in_reverse() -> None:
    events: list[str] = []

    def opener(name: str) -> OpenTransport:
        @asynccontextmanager
        async def opened() -> AsyncIterator[Transport]:
            events.append(f"open {name}")
            yield ScriptedTransport([json_reply(name)])
            events.append(f"close {name}")

        return opened

    openers = {SqlTransport: opener("sql"), PythonTransport: opener("python"), HttpTransport: opener("http")}
    async with transport_router(catalogue(None, PYTHON), openers) as router:
        assert (await router.attempt(call(PYTHON))).body == b'"python"'
    assert events == ["open http", "open python", "close python", "close http"]


async def test_a_library_that_is_missing_stops_the_start() -> None:
    def missing() -> AbstractAsyncContextManager[Transport]:
        raise ConfigurationError("The transport needs the extra `action`.", metadata={"extra": "action"})

    with pytest.raises(ConfigurationError, match="action"):
        async with transport_router(catalogue(), {HttpTransport: missing}):
            raise AssertionError
