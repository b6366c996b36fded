"""The planner process: loads the catalogue once and plans what comes over its standard input."""

from __future__ import annotations

import os
import pickle
import queue
import struct
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO, Final

HEADER: Final = struct.Struct(">Q")
"""The length of a frame in bytes; its content is a pickled value, as both ends are of one installation."""
NICENESS: Final = 5
"""The worker beside it comes first: it renews leases and answers for its health."""


def main(path: str, digest: str) -> None:  # pragma: no cover - runs in the processes that the tests start
    """Plan until the worker has gone.

    The pipes to the worker move to descriptors of our own first: what a library prints goes to the standard error.
    The first frame says whether requests are taken: an empty text, or why not.
    """
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    os.nice(NICENESS)
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, asked), name="requests", daemon=True).start()
    planner = _planner(path, digest)
    if isinstance(planner, str):
        write_frame(replies, planner)
        return
    write_frame(replies, "")
    while True:
        # From the worker alone, which has read and checked what it is made of.
        write_frame(replies, planner.plan(pickle.loads(asked.get())))  # noqa: S301


def _planner(path: str, digest: str) -> Any:  # pragma: no cover - as `main`
    """Return the planner, or why there is none."""
    from taoloop.core.errors import TaoError
    from taoloop.thought.planners.graph import GraphPlanner
    from taoloop.tools.served_catalogue import read_catalogue

    try:
        catalogue = read_catalogue(Path(path))
    except (TaoError, OSError) as error:
        return f"the catalogue cannot be read: {error}"
    if catalogue.digest != digest:
        return f"the catalogue is another one by now: {catalogue.digest}"
    return GraphPlanner(catalogue)


def _listen(requests: BinaryIO, asked: queue.SimpleQueue[bytes]) -> None:  # pragma: no cover - as `main`
    """Pass requests on; leave when the worker has gone, even in the middle of a plan."""
    while (content := read_frame(requests)) is not None:
        asked.put(content)
    os._exit(0)


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the content of the next frame; None when the other side has gone."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    content = stream.read(length)
    return content if len(content) == length else None


def write_frame(stream: BinaryIO, value: object) -> None:
    """Write a value as a frame."""
    content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    stream.write(HEADER.pack(len(content)) + content)
    stream.flush()


if __name__ == "__main__":  # pragma: no cover - as `main`
    main(sys.argv[1], sys.argv[2])
