"""The server at the far end: it takes orders, records every request durably, and is a little unreliable."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from aiohttp import web

SLOW_SECONDS = 3.0
"""Longer than the tools' timeout."""


@dataclass
class Receiver:
    """Orders by their business key.

    Attributes:
        orders: How often each order took effect; more than once is what must never happen.
        requests: How many requests came.
        replays: How many came with an idempotency key that was known, and took no second effect.
        conflicts: Keys that came with another body than before.
    """

    log: int
    random: Random
    orders: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    replays: int = 0
    conflicts: list[str] = field(default_factory=list)
    base_url: str = ""
    _by_key: dict[str, str] = field(default_factory=dict)

    async def order(self, request: web.Request) -> web.StreamResponse:
        """Take an order, most of the time."""
        order_key = str((await request.json())["order_key"])
        idempotency_key = request.headers.get("Idempotency-Key", "")
        await asyncio.sleep(self.random.uniform(0.0, 0.03))
        fate = self.random.random()
        if fate < 0.02:
            self._record(order_key, idempotency_key, "refused")
            return web.json_response({"error": "out of stock"}, status=422)
        if fate < 0.04:
            self._record(order_key, idempotency_key, "unavailable")
            return web.json_response({"error": "busy"}, status=503)
        self._take(order_key, idempotency_key)
        if fate < 0.06:
            if request.transport is not None:  # None where the caller has gone already
                request.transport.abort()
        elif fate < 0.07:
            await asyncio.sleep(SLOW_SECONDS)
        return web.json_response({"order_key": order_key, "accepted": True})

    async def find(self, request: web.Request) -> web.Response:
        """Tell whether an order was taken."""
        order_key = request.query["order_key"]
        return web.json_response({"order_key": order_key, "found": self.orders[order_key] > 0})

    async def basket(self, request: web.Request) -> web.Response:
        """Tell the key under which a basket is ordered."""
        return web.json_response({"order_key": f"order-{request.match_info['basket']}"})

    def _take(self, order_key: str, idempotency_key: str) -> None:
        known = self._by_key.get(idempotency_key) if idempotency_key else None
        if known is not None:
            self.replays += 1
            self._record(order_key, idempotency_key, "replayed")
            if known != order_key:
                self.conflicts.append(idempotency_key)
            return
        if idempotency_key:
            self._by_key[idempotency_key] = order_key
        self.orders[order_key] += 1
        self._record(order_key, idempotency_key, "taken")

    def _record(self, order_key: str, idempotency_key: str, what: str) -> None:
        self.requests += 1
        line = json.dumps({"order_key": order_key, "idempotency_key": idempotency_key, "what": what}) + "\n"
        os.write(self.log, line.encode())
        os.fdatasync(self.log)


@asynccontextmanager
async def receiver(log: Path, random: Random) -> AsyncIterator[Receiver]:
    """Serve on a free port of the loopback interface."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    taking = Receiver(descriptor, random)
    app = web.Application()
    app.router.add_post("/orders", taking.order)
    app.router.add_get("/orders", taking.find)
    app.router.add_get("/baskets/{basket}", taking.basket)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    taking.base_url = f"http://{host}:{port}"
    try:
        yield taking
    finally:
        await runner.cleanup()
        os.close(descriptor)
