"""The peer of a call: an echo server of grpc.aio and uvloop with nothing around it."""

from __future__ import annotations

import sys
from typing import Any, Final

import grpc
import grpc.aio

from taoloop.wire.event_loop import run as run_loop

METHOD: Final = "bench.Echo/Echo"
PAYLOAD: Final = b"x" * 1024


async def _echo(request: bytes, _context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
    return request


async def _serve(port: int) -> None:
    server = grpc.aio.server()
    service, _, method = METHOD.partition("/")
    handler = grpc.method_handlers_generic_handler(service, {method: grpc.unary_unary_rpc_method_handler(_echo)})
    server.add_generic_rpc_handlers((handler,))
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    print("serving", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    run_loop(_serve(int(sys.argv[1])))
