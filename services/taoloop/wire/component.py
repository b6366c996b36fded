"""One service as a server hosts it: its names, how it registers, and whether it is ready."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import grpc.aio


@dataclass(frozen=True, slots=True)
class Component:
    """What a service's `app.py` hands to the server.

    Attributes:
        name: Short name, such as `thought`.
        service_names: Full names of its gRPC services, such as `taoloop.api.v1.ThoughtService`.
        register: Adds the servicers to the server. A streaming method is an async generator.
        is_ready: Whether it can do its work now; asked every second. None is always ready.
        wind_down: Brings to an end, or hands to others, what it does beside its calls; awaited when the process is to
            stop, while every server of it still answers. None when there is nothing.
    """

    name: str
    service_names: tuple[str, ...]
    register: Callable[[grpc.aio.Server], None]
    is_ready: Callable[[], Awaitable[bool]] | None = None
    wind_down: Callable[[], Awaitable[None]] | None = None
