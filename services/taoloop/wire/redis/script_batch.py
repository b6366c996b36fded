"""Scripts asked for in one turn of the event loop, sent as one pipeline: one write, one read, one wake-up."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import NoScriptError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from taoloop.core.deadlines import Deadline
from taoloop.core.tasks import beside
from taoloop.wire.redis.redis_errors import LIBRARY_ERRORS, is_out_of_memory, is_passing, unavailable
from taoloop.wire.redis.redis_link import Pause, RedisLink

MAX_CALLS: Final = 64
"""Most scripts of one pipeline: more only makes the first of them wait for the last."""

MAX_TURNS: Final = 4
"""Turns of the event loop in which a pipeline is filled. Under load a turn takes a part of a millisecond, and each
pipeline as much processor time as several of its calls."""
GRACE_SECONDS: Final = 0.05
"""What a call gets beyond its own patience, so that the server's own error, where there is one, is the one told."""

Argument = bytes | str | int


@dataclass(frozen=True, slots=True)
class Script:
    """A script of Lua, whose keys share one slot, and which may be run twice with the same effect."""

    text: str
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        # The name that the server gives it; no secret depends on it.
        object.__setattr__(self, "sha", hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest())


@dataclass(eq=False, slots=True)
class _Call:
    script: Script
    arguments: tuple[Argument, ...]
    patience: Deadline
    future: asyncio.Future[Any]


class ScriptBatch:
    """Runs scripts on a link, as many at once as were asked for; rides out outages. Use it as `script_batch` opens it.

    Args:
        link: The connection.
    """

    def __init__(self, link: RedisLink) -> None:
        self._link = link
        self._asked: deque[_Call] = deque()
        self._is_asked = asyncio.Event()

    def __repr__(self) -> str:
        return f"<ScriptBatch [{len(self._asked)} asked for] {self._link!r}>"

    async def run(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument], deadline: Deadline) -> Any:
        """Run a script, again and again until the server answers or time is up.

        Raises:
            BackendUnavailable: The server did not answer in time, or refused for good.
            BackendOutOfMemory: The server refused a write because `maxmemory` is reached.
            ResponseError: The script says so.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        patience = self._link.patience(deadline)
        self._asked.append(_Call(script, (len(keys), *keys, *arguments), patience, future))
        self._is_asked.set()
        # A server that hangs holds the pipeline up for longer than this caller may wait. A timer costs a tenth of
        # `asyncio.timeout`, which counts in a hop.
        timer = loop.call_later(patience.remaining_seconds() + GRACE_SECONDS, _give_up, future)
        try:
            return await future
        finally:
            timer.cancel()

    async def send(self) -> None:
        """Send what is asked for until cancelled."""
        pause = Pause()
        while True:
            await self._is_asked.wait()
            await self._gathered()
            self._is_asked.clear()
            calls = self._taken()
            again = await self._executed(calls) if calls else []
            self._asked.extendleft(reversed(again))
            if self._asked:
                self._is_asked.set()
            if again:
                clock = again[0].patience.clock
                await clock.sleep(pause.next())
                await self._link.find_anew(clock)
            else:
                pause = Pause()

    async def _gathered(self) -> None:
        """Let those ask who are ready to: all of this turn of the loop, and of a few more if this call is not alone."""
        await asyncio.sleep(0)
        turns = 1
        while 1 < len(self._asked) < MAX_CALLS and turns < MAX_TURNS:
            await asyncio.sleep(0)
            turns += 1

    def _taken(self) -> list[_Call]:
        calls: list[_Call] = []
        while self._asked and len(calls) < MAX_CALLS:
            call = self._asked.popleft()
            if not call.future.done():
                calls.append(call)
        return calls

    async def _executed(self, calls: list[_Call]) -> list[_Call]:
        """Execute calls; return those to be repeated, which nothing speaks against but an outage."""
        try:
            results = await self._link.once(lambda client: _pipeline(client, calls))
        except LIBRARY_ERRORS as error:
            results = [error] * len(calls)
        if NoScriptError in map(type, results):
            results = await self._after_loading(calls, results)
        return [call for call, result in zip(calls, results, strict=True) if not _settled(call, result)]

    async def _after_loading(self, calls: list[_Call], results: list[Any]) -> list[Any]:
        """Load what the server does not know, for example after its restart, and run that again."""
        unknown = [index for index, result in enumerate(results) if isinstance(result, NoScriptError)]
        missing = [calls[index] for index in unknown]
        try:
            for text in {call.script.text for call in missing}:
                await self._link.once(lambda client, text=text: client.script_load(text))  # type: ignore[misc]
            repeated = await self._link.once(lambda client: _pipeline(client, missing))
        except LIBRARY_ERRORS as error:
            repeated = [error] * len(missing)
        return [repeated[unknown.index(i)] if i in unknown else result for i, result in enumerate(results)]


async def run_script(client: Redis, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:
    """Run one script at once, on this client; one that the server does not know is loaded first."""
    commands: Any = client
    try:
        return await commands.execute_command("EVALSHA", script.sha, len(keys), *keys, *arguments)
    except NoScriptError:
        await client.script_load(script.text)
        return await commands.execute_command("EVALSHA", script.sha, len(keys), *keys, *arguments)


async def _pipeline(client: Redis, calls: list[_Call]) -> list[Any]:
    commands = [("EVALSHA", call.script.sha, *call.arguments) for call in calls]
    # The library's pipeline costs more than the one command.
    anything: Any = client
    if len(commands) == 1:
        return [await anything.execute_command(*commands[0])]
    if isinstance(anything, RedisCluster):
        pipeline: Any = anything.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        return list(await pipeline.execute(raise_on_error=False))
    return await _at_once(client.connection_pool, commands)


async def _at_once(pool: Any, commands: list[tuple[Argument, ...]]) -> list[Any]:
    """Write commands and read their replies under one time limit; the library's pipeline sets one for each reply."""
    connection: Any = await pool.get_connection()
    is_whole = False
    try:
        async with asyncio.timeout(connection.socket_timeout):
            await connection.send_packed_command(connection.pack_commands(commands))
            results = [await _reply(connection) for _ in commands]
        is_whole = True
    except TimeoutError as error:
        raise RedisTimeoutError("no reply in time") from error
    finally:
        if not is_whole:  # replies that still come would be taken for those of other commands
            await connection.disconnect(nowait=True)
        await pool.release(connection)
    return results


async def _reply(connection: Any) -> Any:
    try:
        return await connection.read_response(timeout=math.inf)
    except ResponseError as error:
        return error


def _give_up(future: asyncio.Future[Any]) -> None:
    if not future.done():
        future.set_exception(unavailable(RedisTimeoutError("no answer in time")))


def _settled(call: _Call, result: Any) -> bool:
    """Tell who waits what came of the call; return False when it is to be tried again."""
    if call.future.done():
        return True
    if not isinstance(result, BaseException):
        call.future.set_result(result)
    elif is_passing(result) or isinstance(result, NoScriptError):
        if not call.patience.is_expired:
            return False
        call.future.set_exception(unavailable(result))
    elif is_out_of_memory(result):
        call.future.set_exception(unavailable(result))
    else:
        call.future.set_exception(result)
    return True


@asynccontextmanager
async def script_batch(link: RedisLink) -> AsyncIterator[ScriptBatch]:
    """Send while the block runs."""
    batch = ScriptBatch(link)
    async with beside(scripts=batch.send()):
        yield batch
