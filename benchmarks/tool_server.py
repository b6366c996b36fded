"""A tool's server with nothing around it: answers any HTTP request with one JSON body, as cheaply as uvloop can."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import Final, cast

from taoloop.testing.ports import LOOPBACK
from taoloop.wire.event_loop import run as run_loop

ORDER: Final = {
    "order_id": "SO-20260311-0042",
    "state": "paid",
    "amount": 1289.50,
    "currency": "CNY",
    "customer": {"name": "Li Wei", "city": "Hangzhou", "level": 3, "since": "2019-05-02"},
    "lines": [
        {"sku": f"SKU-{number:05d}", "title": "Desk lamp, warm white", "count": number + 1, "price": 99.90 + number}
        for number in range(8)
    ],
    "shipments": [{"shipment_id": "SH-104-7781", "carrier": "SF", "eta": "2026-03-14T18:00:00+08:00"}],
    "note": "Please ring the bell; the door is on the left of the yard.",
}
BODY: Final = json.dumps(ORDER, separators=(",", ":")).encode().ljust(1024)
_HEAD: Final = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n"
_ANSWER: Final = _HEAD.encode() + BODY
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class _Answering(asyncio.Protocol):
    """One connection; a request is over with its head and the body that its head announces."""

    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one without saying so

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            announced = _LENGTH.search(self._received, 0, end)
            end += 4 + (int(announced[1]) if announced else 0)
            if len(self._received) < end:
                return
            self._received = self._received[end:]
            self._transport.write(_ANSWER)


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(_Answering, LOOPBACK, port, backlog=1024)
    print("serving", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    run_loop(_serve(int(sys.argv[1])))
