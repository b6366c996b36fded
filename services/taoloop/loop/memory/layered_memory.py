"""The memory of runs: hot and warm together, asked before a run and written after it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Self, TypeVar

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import JsonValue, equal
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import Telemetry, names
from taoloop.loop.memory.distillation.distilling import Distiller
from taoloop.loop.memory.distillation.recalling import Recall, Recalled
from taoloop.loop.memory.distillation.redacting import MemoryRedactor
from taoloop.loop.memory.model import DEFAULT_LINE, Forgotten, KnowledgeEntry, MemorySpace, SessionMemory
from taoloop.loop.memory.ports import HotMemory, Summariser, WarmMemory
from taoloop.loop.memory.tiers import Tier, Tiers
from taoloop.loop.state import RunState
from taoloop.models.ports import ModelFailed
from taoloop.plan.task import Role, Task
from taoloop.plan.thinking import MemoryContext

MAX_RECALLED: Final = 1024
"""Most runs whose recall is kept while they go on, and most lines of business of which nothing is known."""
_WRITES: Final = 3
"""How often a session is written anew when another run of it was faster."""

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")

_log = EventLog(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions:
    """How memory is used.

    Attributes:
        restores_state: Whether a run begins with its session's last state.
        tells: Whether thoughts are told anything.
        entry_seconds: How long runs and preferences are kept.
        max_candidates: Most pieces of knowledge that a thought's are chosen from.
        unknown_seconds: How long a line of business of which nothing is known is not asked about again.
        sweep_seconds: Pause between two rounds in which what has expired is deleted.
        summary_tokens: Most tokens of a summary.
        summary_seconds: How long a language model may take for a summary.
        max_summaries: Most summaries that are made at the same time.
    """

    restores_state: bool = True
    tells: bool = True
    entry_seconds: float = 86_400.0
    max_candidates: int = 200
    unknown_seconds: float = 5.0
    sweep_seconds: float = 600.0
    summary_tokens: int = 128
    summary_seconds: float = 10.0
    max_summaries: int = 8


class LayeredMemory:
    """A `RunMemory` on stores that may be away. Use it as an asynchronous context manager.

    Args:
        shared: The stores of all lines of business without stores of their own; None remembers nothing of those.
        lines: The stores of the others, by line.
        distiller: Makes of a run what is remembered of it.
        recall: Chooses what a thought is told.
        redactor: Goes over what a language model summarised.
        options: How it is used.
        telemetry: Where it is counted.
        clock: Dates what is kept.
        summariser: Summarises in the background; None leaves it at the extract.
    """

    def __init__(  # noqa: PLR0913 - the parts that the composition root puts together
        self,
        shared: Tiers | None,
        lines: Mapping[str, Tiers],
        *,
        distiller: Distiller,
        recall: Recall,
        redactor: MemoryRedactor,
        options: MemoryOptions,
        telemetry: Telemetry,
        clock: Clock,
        summariser: Summariser | None = None,
    ) -> None:
        self._shared = shared
        self._lines = lines
        self._distiller = distiller
        self._recall = recall
        self._redactor = redactor
        self._options = options
        self._metrics = telemetry.metrics
        self._clock = clock
        self._summariser = summariser
        self._restored: OrderedDict[MemorySpace, SessionMemory] = OrderedDict()
        self._unknown_until: OrderedDict[MemorySpace, float] = OrderedDict()
        """Until when nothing is known of a line of business, on the monotonic clock."""
        self._recalled: OrderedDict[tuple[MemorySpace, str], Recalled] = OrderedDict()
        self._group = asyncio.TaskGroup()
        self._sweeping: asyncio.Task[None] | None = None
        self._summaries: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        lines = ", ".join(f"{name}: {tiers!r}" for name, tiers in self._lines.items())
        return f"<LayeredMemory {self._shared!r} {{{lines}}} {self._summariser!r} {len(self._summaries)} summaries>"

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        self._sweeping = self._group.create_task(self._sweep(), name="memory sweep")
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        for task in (*self._summaries, *([self._sweeping] if self._sweeping is not None else [])):
            task.cancel()
        await self._group.__aexit__(None, None, None)

    async def restored(self, tenant: str, task: Task) -> Task:
        """See `RunMemory.restored`."""
        space = _space(tenant, task)
        tiers = self._tiers(space)
        if tiers is None or not space.session_id:
            return task
        given = task.state if isinstance(task.state, dict) else {}
        session = await self._load(tiers, space)
        if not task.tainted_context:
            session = _overridden(session, given)
        if self._options.tells:
            _put_newest(self._restored, space, session)  # the run's first thought needs it in a moment
        if session.has_tainted_answers and any(turn.role is Role.ASSISTANT for turn in task.turns):
            task = replace(task, tainted_context=True)
        known = {**session.state, **session.snapshot}
        if not known or not self._options.restores_state:
            return task
        return replace(task, state={**known, **given})

    async def recall(self, tenant: str, state: RunState, call: CallContext) -> MemoryContext | None:
        """See `RunMemory.recall`."""
        del call  # each read has a time of its own, far below any run's
        space = _space(tenant, state.task)
        tiers = self._tiers(space)
        if tiers is None or not self._options.tells:
            return None
        key = space, state.run_id
        recalled = self._recalled.pop(key, None) or await self._recalled_for(tiers, space, state)
        _put_newest(self._recalled, key, recalled)
        return self._recall.context(recalled, state)

    async def remember(self, tenant: str, state: RunState) -> None:
        """See `RunMemory.remember`."""
        space = _space(tenant, state.task)
        recalled = self._recalled.pop((space, state.run_id), None)
        tiers = self._tiers(space)
        if tiers is None:
            return
        if state.is_tainted and state.answer is not None:
            self._leave_out("tainted")
        if space.session_id:
            await self._remember_session(tiers, space, state, recalled.session if recalled is not None else None)
        await self._keep(tiers, space, tuple(self._distiller.knowledge(state)))

    async def _recalled_for(self, tiers: Tiers, space: MemorySpace, state: RunState) -> Recalled:
        session = self._restored.pop(space, None)
        if session is None:
            session = await self._load(tiers, space) if space.session_id else SessionMemory()
        entries = await self._known(tiers.warm, space) if tiers.warm is not None else ()
        if len(entries) == self._options.max_candidates:
            self._leave_out("candidates")
        return self._recall.recalled(session, entries, state)

    async def _known(self, warm: Tier[WarmMemory], space: MemorySpace) -> tuple[KnowledgeEntry, ...]:
        """Return what is known of a run's user and line of business.

        Of a line alone nothing is known as a rule, and each run without a user would ask in vain.
        """
        line, limit = replace(space, session_id=""), self._options.max_candidates
        if self._clock.monotonic() < self._unknown_until.get(line, 0.0):
            return ()
        found = await warm.read(lambda store, deadline: store.known(space, limit, deadline))
        if found == () and not space.user_id:
            _put_newest(self._unknown_until, line, self._clock.monotonic() + self._options.unknown_seconds)
        return found or ()

    async def _load(self, tiers: Tiers, space: MemorySpace) -> SessionMemory:
        """Return the newest copy of a session: one store may have missed the last run, and Redis forgets soon.

        Both are asked at once, so that two that hang cost no more than one.
        """
        async with asyncio.TaskGroup() as group:
            reads = [
                group.create_task(tier.read(lambda store, deadline: store.load(space, deadline)))
                for tier in _both(tiers)
            ]
        copies = [copy for read in reads if (copy := read.result()) is not None]
        return max(copies, key=lambda copy: copy.version, default=SessionMemory())

    async def _remember_session(
        self, tiers: Tiers, space: MemorySpace, state: RunState, known: SessionMemory | None
    ) -> None:
        """Write a session; what was known of it when the run began serves unless another run wrote since."""
        for _ in range(_WRITES):
            before = known or await self._load(tiers, space)
            known = None
            after = self._distiller.session(before, state)
            if state.task.state and not after.state:
                self._leave_out("state_size")
            after = replace(after, summary=self._recall.summary_of(after))
            if await self._save(tiers, space, after, before.version):
                self._summarise_later(tiers, space, after)
                return
        _log.warning("session_not_remembered", reason="CONFLICT")

    async def _save(self, tiers: Tiers, space: MemorySpace, session: SessionMemory, expected: int) -> bool:
        """Write a session to every store; False where one of them knows a newer one."""
        for tier in _both(tiers):
            is_written = await tier.write(lambda store, deadline: store.save(space, session, expected, deadline))
            if is_written is False:
                return False
        return True

    async def _keep(self, tiers: Tiers, space: MemorySpace, entries: tuple[KnowledgeEntry, ...]) -> None:
        if tiers.warm is None or not entries:
            return
        until = self._clock.now() + timedelta(seconds=self._options.entry_seconds)
        dated = [replace(entry, expires_at=until) for entry in entries]
        await tiers.warm.write(lambda store, deadline: store.keep(space, dated, deadline))

    def _summarise_later(self, tiers: Tiers, space: MemorySpace, session: SessionMemory) -> None:
        """Let the language model summarise once the run is out of the way; until then the extract stands."""
        if self._summariser is None or not session.turns:
            self._count_summary("extract")
        elif len(self._summaries) >= self._options.max_summaries:
            self._count_summary("too_many")
        else:
            work = self._summarise(self._summariser, tiers, space, session)
            task = self._group.create_task(work, name="memory summary")
            self._summaries.add(task)
            task.add_done_callback(self._summaries.discard)

    async def _summarise(self, by: Summariser, tiers: Tiers, space: MemorySpace, session: SessionMemory) -> None:
        try:
            is_current = await self._replace_summary(by, tiers, space, session)
        except (ModelFailed, TimeoutError):
            self._count_summary("model_failed")
        except Exception:  # noqa: BLE001 - a fault of ours must not end the process with all its runs
            _log.exception("summary_failed_unexpectedly")
            self._count_summary("model_failed")
        else:
            self._count_summary("model" if is_current else "outdated")

    async def _replace_summary(self, by: Summariser, tiers: Tiers, space: MemorySpace, session: SessionMemory) -> bool:
        """Write a session anew with the model's summary; False where it has gone on or was forgotten meanwhile."""
        deadline = Deadline.after(self._options.summary_seconds, self._clock)
        async with asyncio.timeout(self._options.summary_seconds):
            text = await by.summarise(session.turns, self._options.summary_tokens, deadline)
        summary = self._recall.cut_summary(self._redactor.beginning(text))
        summed = replace(session, summary=summary or session.summary, version=session.version + 1)
        # Looked up anew: a session that was forgotten meanwhile must not come back by its summary.
        is_current = (await self._load(tiers, space)).version == session.version
        return is_current and await self._save(tiers, space, summed, session.version)

    async def _sweep(self) -> None:
        """Delete what has expired, again and again; every process does, and finds little."""
        while True:
            await self._clock.sleep(self._options.sweep_seconds)
            for tiers in (self._shared, *self._lines.values()):
                if tiers is None or tiers.warm is None:
                    continue
                try:
                    await self._sweep_one(tiers.warm)
                except Exception:  # noqa: BLE001 - a fault of ours must not end the process with all its runs
                    _log.exception("sweep_failed_unexpectedly")

    async def _sweep_one(self, tier: Tier[WarmMemory]) -> None:
        while (gone := await tier.write(lambda store, deadline: store.sweep(self._clock.now(), deadline))) is not None:
            self._metrics.counter(names.MEMORY_EXPIRED).inc(gone.sessions + gone.entries)
            if gone == Forgotten():
                return

    def tiers_of(self, business_line: str) -> Tiers:
        """Return the stores of a line of business; none for one that remembers nothing."""
        return self._lines.get(business_line, self._shared) or Tiers()

    def _tiers(self, space: MemorySpace) -> Tiers | None:
        tiers = self._lines.get(space.business_line, self._shared)
        if tiers is None:
            self._leave_out("line")
        return tiers

    def _leave_out(self, reason: str) -> None:
        self._metrics.counter(names.MEMORY_LEFT_OUT).labels(reason=reason).inc()

    def _count_summary(self, by: str) -> None:
        self._metrics.counter(names.MEMORY_SUMMARIES).labels(by=by).inc()


def _put_newest(kept: OrderedDict[KeyT, ValueT], key: KeyT, value: ValueT) -> None:
    """Keep a value as the newest, and no more than `MAX_RECALLED`."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > MAX_RECALLED:
        kept.popitem(last=False)


def _overridden(session: SessionMemory, given: Mapping[str, JsonValue]) -> SessionMemory:
    """Return a session without what its caller now says otherwise: it must not come back with the next run."""
    snapshot = {name: value for name, value in session.snapshot.items() if equal(given.get(name, value), value)}
    return replace(session, snapshot=snapshot)


def _space(tenant: str, task: Task) -> MemorySpace:
    return MemorySpace(
        tenant=tenant,
        business_line=task.business_line or DEFAULT_LINE,
        session_id=task.session_id,
        user_id=task.user_id,
    )


def _both(tiers: Tiers) -> tuple[Tier[HotMemory] | Tier[WarmMemory], ...]:
    return tuple(tier for tier in (tiers.hot, tiers.warm) if tier is not None)
