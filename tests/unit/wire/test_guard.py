"""Which methods get a guard around them."""

from dataclasses import dataclass
from typing import Any

import grpc
import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.wire.guard import GuardedMethods


@dataclass
class _Details:
    method: str
    invocation_metadata: Any = ()


async def _behaviour(request: Any, _context: Any) -> Any:
    return request


@pytest.fixture
def methods() -> GuardedMethods:
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-test")
    return GuardedMethods(frozenset({"shop.v1.Orders"}), GrpcSettings(max_concurrent_rpcs=7), telemetry, SystemClock())


def _add(methods: GuardedMethods, service: str, handler: Any) -> Any:
    methods.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {"Get": handler}),))
    methods.add_registered_method_handlers(service, {"Get": handler})
    return handler


def test_a_method_of_the_services_is_guarded_once(methods: GuardedMethods) -> None:
    handler = _add(methods, "shop.v1.Orders", grpc.unary_unary_rpc_method_handler(_behaviour))
    guarded = methods.service(_Details("/shop.v1.Orders/Get"))
    assert guarded is not None
    assert guarded is not handler
    assert methods.service(_Details("/shop.v1.Orders/Get")) is guarded
    assert repr(methods) == "GuardedMethods(<0 of 7 calls in progress>, methods=['/shop.v1.Orders/Get'])"


def test_a_method_of_another_service_is_served_as_it_is(methods: GuardedMethods) -> None:
    handler = _add(methods, "shop.v1.Health", grpc.unary_unary_rpc_method_handler(_behaviour))
    assert methods.service(_Details("/shop.v1.Health/Get")) is handler


@pytest.mark.parametrize("method", ["/shop.v1.Orders/Put", "/shop.v1.Other/Get", "", "/", "Get"])
def test_a_method_that_nobody_added_is_nobodys(methods: GuardedMethods, method: str) -> None:
    _add(methods, "shop.v1.Orders", grpc.unary_unary_rpc_method_handler(_behaviour))
    assert methods.service(_Details(method)) is None


def test_a_method_with_many_requests_is_refused(methods: GuardedMethods) -> None:
    _add(methods, "shop.v1.Orders", grpc.stream_unary_rpc_method_handler(_behaviour))
    with pytest.raises(TypeError, match=r"shop.v1.Orders/Get streams its requests"):
        methods.service(_Details("/shop.v1.Orders/Get"))
