"""Memory put together from its settings: stores by line of business, the summariser, and what goes between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from pydantic import SecretStr

from taoloop.core.clock import Clock
from taoloop.core.errors import ConfigurationError
from taoloop.core.settings import RedisSettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.memory.distillation.distilling import Distiller
from taoloop.loop.memory.distillation.recalling import Recall, RecallOptions
from taoloop.loop.memory.distillation.summarising import ChatSummariser
from taoloop.loop.memory.late_warm_memory import LateWarmMemory
from taoloop.loop.memory.layered_memory import LayeredMemory, MemoryOptions
from taoloop.loop.memory.ports import HotMemory, WarmMemory
from taoloop.loop.memory.redis_hot_memory import RedisHotMemory
from taoloop.loop.memory.settings import MemorySettings
from taoloop.loop.memory.tiers import Tier, TierPatience, Tiers
from taoloop.models.opening import open_chat_model
from taoloop.wire.redis.redis_link import RedisLink, redis_link


@asynccontextmanager
async def open_memory(
    settings: MemorySettings, redis: RedisSettings, link: RedisLink, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[LayeredMemory | None]:
    """Open memory; None where it is switched off. A store that is away is no error, and is asked again.

    Args:
        settings: What is remembered, and where.
        redis: How Redis is reached, apart from the address of a line's own.
        link: Where sessions are kept of lines without stores of their own.
        telemetry: Where it is counted.
        clock: Dates what is kept.

    Raises:
        ConfigurationError: A URL cannot be used, or a library is not installed.
    """
    if not settings.enabled:
        yield None
        return
    async with AsyncExitStack() as stack:
        opener = _Opener(settings, redis, telemetry, clock, stack)
        shared = None if settings.strict_lines else await opener.tiers(link, settings.warm.url)
        lines = {
            name: await opener.tiers(await opener.link(line.redis_url), line.warm_url)
            for name, line in settings.lines.items()
        }
        model = await stack.enter_async_context(open_chat_model(settings.summariser, "summariser", telemetry, clock))
        redactor = settings.redactor()
        distiller = Distiller(redactor, settings.max_turns, settings.max_state_bytes)
        memory = LayeredMemory(
            shared,
            lines,
            distiller=distiller,
            recall=Recall(_recall_options(settings), distiller, telemetry),
            redactor=redactor,
            options=_options(settings),
            telemetry=telemetry,
            clock=clock,
            summariser=None if model is None else ChatSummariser(model),
        )
        yield await stack.enter_async_context(memory)


@asynccontextmanager
async def open_stores(
    settings: MemorySettings, redis: RedisSettings, line: str, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[tuple[HotMemory | None, WarmMemory | None]]:
    """Open the stores of one line of business for whoever works on them; None for one that there is not.

    Raises:
        ConfigurationError: A URL cannot be used, names no file, or the line has no stores of its own and needs them.
        BackendUnavailable: Warm memory does not answer.
    """
    own = settings.lines.get(line)
    if own is None and settings.strict_lines:
        raise ConfigurationError(
            f"The line of business {line!r} has no stores in TAOLOOP_MEMORY__LINES, and lines are strict.",
            metadata={"line": line},
        )
    redis_url, warm_url = (redis.url, settings.warm.url) if own is None else (own.redis_url, own.warm_url)
    async with AsyncExitStack() as stack:
        link = await _Opener(settings, redis, telemetry, clock, stack).link(redis_url)
        hot = RedisHotMemory(link, redis.key_prefix, settings.hot.ttl_seconds) if link is not None else None
        warm: WarmMemory | None = None
        if warm_url is not None:
            from taoloop.loop.memory.sql.sql_warm_memory import sql_warm_memory

            url = warm_url.get_secret_value()
            warm = await stack.enter_async_context(
                sql_warm_memory(url, clock, settings.warm.ttl_seconds, must_exist=True)
            )
        yield hot, warm


class _Opener:
    def __init__(
        self,
        settings: MemorySettings,
        redis: RedisSettings,
        telemetry: Telemetry,
        clock: Clock,
        stack: AsyncExitStack,
    ) -> None:
        self._settings = settings
        self._redis = redis
        self._telemetry = telemetry
        self._clock = clock
        self._stack = stack
        self._patience = TierPatience(
            read_seconds=settings.read_timeout_seconds,
            write_seconds=settings.write_timeout_seconds,
            pause_seconds=settings.retry_after_seconds,
        )

    async def link(self, url: SecretStr | None) -> RedisLink | None:
        """Open the connections to a line's own Redis, which connect when they are used."""
        if url is None or not self._settings.hot.enabled:
            return None
        settings = self._redis.model_copy(update={"url": url})
        return await self._stack.enter_async_context(redis_link(settings, self._telemetry))

    async def tiers(self, link: RedisLink | None, warm_url: SecretStr | None) -> Tiers:
        """Open the stores of one line of business, or of those that share them."""
        hot: Tier[HotMemory] | None = None
        warm: Tier[WarmMemory] | None = None
        if link is not None and self._settings.hot.enabled:
            store = RedisHotMemory(link, self._redis.key_prefix, self._settings.hot.ttl_seconds)
            hot = Tier("hot", store, self._patience, self._telemetry, self._clock)
        if warm_url is not None:
            warm = Tier("warm", await self._warm(warm_url), self._patience, self._telemetry, self._clock)
        return Tiers(hot, warm)

    async def _warm(self, url: SecretStr) -> LateWarmMemory:
        # Imported here: an image without the library serves runs with hot memory alone.
        from taoloop.loop.memory.sql.sql_warm_memory import sql_warm_memory

        settings = self._settings
        opener = partial(
            sql_warm_memory,
            url.get_secret_value(),
            self._clock,
            settings.warm.ttl_seconds,
            # No step of a transaction is left in its middle, so that each has to be as short as a read may take.
            min(settings.read_timeout_seconds, settings.write_timeout_seconds),
        )
        return await self._stack.enter_async_context(LateWarmMemory(opener))


def _recall_options(settings: MemorySettings) -> RecallOptions:
    recall = settings.recall
    return RecallOptions(
        min_score=recall.min_score,
        max_items=recall.max_items,
        max_tokens=recall.max_tokens,
        max_summary_tokens=recall.max_summary_tokens,
    )


def _options(settings: MemorySettings) -> MemoryOptions:
    return MemoryOptions(
        restores_state=settings.recall.restores_state,
        tells=settings.recall.enabled,
        entry_seconds=settings.warm.ttl_seconds,
        max_candidates=settings.warm.max_candidates,
        unknown_seconds=settings.warm.unknown_seconds,
        sweep_seconds=settings.warm.sweep_seconds,
        summary_tokens=settings.recall.max_summary_tokens,
        summary_seconds=settings.summariser.timeout_seconds,
        max_summaries=settings.max_summaries_in_flight,
    )
