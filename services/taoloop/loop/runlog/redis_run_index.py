"""The list of each tenant's runs on Redis: where each of them stands, without its events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import FieldViolation, InvalidRequest, RequestIdReused
from taoloop.loop.ports import NewRun, RunsWanted
from taoloop.loop.runlog.event_form import RunCodec
from taoloop.loop.runlog.retention import Retention
from taoloop.loop.runlog.run_keys import RunKeys
from taoloop.loop.runlog.run_scripts import run_script
from taoloop.plan.running import RunSummary
from taoloop.plan.task import Outcome
from taoloop.wire.redis.redis_link import RedisLink
from taoloop.wire.redis.script_batch import Argument, ScriptBatch

_FIRST_OUTCOME_KEY: Final = 5
"""Where the keys of the outcomes begin in the scripts."""
_TOKEN: Final = re.compile(r"([0-9]{1,15})\.([0-9A-Za-z_-]{1,64})")


class RedisRunIndex:
    """What is known of a tenant's runs beside their logs.

    It is written after the log and in another slot of a cluster, so that it may be a moment late; who reads it compares
    it with the log's position.

    Args:
        link: The connection.
        scripts: Sends scripts on it.
        codec: Summary to bytes and back.
        keys: Where.
        retention: For how long.
        clock: For how long runs wait.
    """

    def __init__(
        self,
        link: RedisLink,
        scripts: ScriptBatch,
        codec: RunCodec,
        keys: RunKeys,
        retention: Retention,
        clock: Clock,
    ) -> None:
        self._link = link
        self._scripts = scripts
        self._codec = codec
        self._keys = keys
        self._retention = retention
        self._clock = clock

    async def create(self, run: NewRun, deadline: Deadline) -> str:
        """See `RunLog.create`."""
        summary = RunSummary(run_id=run.run_id, request_id=run.request_id, started_at=run.created_at)
        arguments: list[Argument] = [
            run.run_id,
            run.task_digest,
            _milliseconds(run.created_at),
            int(self._retention.open_seconds * 1000),
            self._codec.encode_summary(summary),
        ]
        keys = self._script_keys(run.tenant, run.run_id, run.request_id)
        known = str((await self._scripts.run(run_script("create_run"), keys, arguments, deadline)).decode())
        if known == "reused":
            raise RequestIdReused.of(run.request_id)
        return known

    async def note(self, tenant: str, summary: RunSummary, deadline: Deadline) -> float:
        """Enter where a run stands unless more is known, and return for how long it is kept, in seconds."""
        kept_seconds = self._retention.of(summary, self._clock.now())
        outcomes = tuple(Outcome)
        arguments: list[Argument] = [
            summary.run_id,
            _milliseconds(summary.started_at or self._clock.now()),
            int(kept_seconds * 1000),
            self._codec.encode_summary(summary),
            0 if summary.outcome is None else _FIRST_OUTCOME_KEY + outcomes.index(summary.outcome),
            summary.last_sequence,
        ]
        keys = self._script_keys(tenant, summary.run_id, summary.request_id)
        await self._scripts.run(run_script("note_run"), keys, arguments, deadline)
        return kept_seconds

    async def page(
        self, tenant: str, wanted: RunsWanted, deadline: Deadline
    ) -> tuple[tuple[tuple[str, RunSummary | None], ...], str]:
        """Return run ids with what is known of each, newest first, and where the next page starts."""
        created, run_id = _position(wanted.page_token)
        key = self._lists(tenant, wanted.outcome)
        reply: Any = await self._scripts.run(run_script("list_runs"), [key], [wanted.most, created, run_id], deadline)
        run_ids = [each.decode() for each in reply[::2]]
        if not run_ids:
            return (), ""
        places = [self._summary(tenant, each) for each in run_ids]
        found: Any = await self._link.run(lambda client: client.mget(places), deadline)
        known = (None if each is None else self._codec.decode_summary(each.partition(b" ")[2]) for each in found)
        token = f"{reply[-1].decode()}.{run_ids[-1]}" if len(run_ids) == wanted.most else ""
        return tuple(zip(run_ids, known, strict=True)), token

    async def forget(self, tenant: str, run_ids: Sequence[str], deadline: Deadline) -> None:
        """Take runs off the list whose log is gone."""
        keys = (self._lists(tenant), self._until(tenant), *(self._lists(tenant, outcome) for outcome in Outcome))
        for key in keys:
            await self._link.run(lambda client, key=key: client.zrem(key, *run_ids), deadline)  # type: ignore[misc]

    def _script_keys(self, tenant: str, run_id: str, request_id: str) -> tuple[str, ...]:
        return (
            f"{self._keys.tenant(tenant)}:request:{request_id}",
            self._summary(tenant, run_id),
            self._lists(tenant),
            self._until(tenant),
            *(self._lists(tenant, outcome) for outcome in Outcome),
        )

    def _summary(self, tenant: str, run_id: str) -> str:
        return f"{self._keys.tenant(tenant)}:run:{run_id}"

    def _until(self, tenant: str) -> str:
        return f"{self._keys.tenant(tenant)}:until"

    def _lists(self, tenant: str, outcome: Outcome | None = None) -> str:
        name = "runs" if outcome is None else f"runs:{outcome}"
        return f"{self._keys.tenant(tenant)}:{name}"


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _position(token: str) -> tuple[str, str]:
    """Return time of creation and id of the last run of the page before."""
    if not token:
        return "+inf", ""
    found = _TOKEN.fullmatch(token)
    if found is None:
        raise InvalidRequest(
            "The page token is none that this list gave out.",
            violations=[FieldViolation("page_token", "must be the next_page_token of the page before")],
        )
    return found[1], found[2]
