"""A chat model that is asked only while its server is what the settings say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.logs import EventLog
from taoloop.core.tasks import beside
from taoloop.core.telemetry import Telemetry
from taoloop.core.telemetry.names import MODEL_DEGRADED, MODEL_PROBES, MODEL_READY
from taoloop.models.ports import ChatModel, ChatReply, ChatRequest, ModelFailed, ModelFailureKind
from taoloop.models.profiles.model import ModelProfile
from taoloop.models.readiness.model import Capability, Mismatch, ProbeReport
from taoloop.models.readiness.probing import Probe

FAILURES_BEFORE_PROBE: Final = 3
"""So many calls in a row that end by the server's fault make it suspect; a connection that is refused does so alone."""

_log: Final = EventLog(__name__)


class Standing(StrEnum):
    """How a model's server stands."""

    UNKNOWN = "unknown"
    """No probe has ended yet."""
    READY = "ready"
    """The last probe got its answers, and they will do."""
    AWAY = "away"
    """The last probe got no answers."""
    MISMATCHED = "mismatched"
    """The server is there, and not what the settings say."""


class Adopting(Protocol):
    """Takes over what a probe found."""

    def adopt(self, profile: ModelProfile) -> None:
        """Ask by this profile from now on."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """How a server is watched.

    Attributes:
        purpose: What the model is used for, a fixed word; the label of the counters.
        probe_seconds: Longest time of one probe.
        again_seconds: Pause before a server that did not pass is probed again.
    """

    purpose: str
    probe_seconds: float = 60.0
    again_seconds: float = 10.0


class ReadyChatModel:
    """Refuses at once while the server is away or another one than the settings say, so that callers fall back.

    Args:
        model: Asks the server.
        inner: Takes over the profile that a probe found.
        probe: Finds it.
        options: How the server is watched.
        telemetry: Where its standing is told.
        clock: Paces the probes.
    """

    def __init__(
        self,
        model: ChatModel,
        inner: Adopting,
        probe: Probe,
        options: GateOptions,
        telemetry: Telemetry,
        clock: Clock,
    ) -> None:
        self._model = model
        self._inner = inner
        self._probe = probe
        self._options = options
        self._clock = clock
        self._standing = Standing.UNKNOWN
        self._mismatches: tuple[Mismatch, ...] = ()
        self._failures = 0
        self._is_suspect = asyncio.Event()
        self._has_looked = asyncio.Event()
        self._ready = telemetry.metrics.gauge(MODEL_READY).labels(options.purpose)
        self._degraded = telemetry.metrics.gauge(MODEL_DEGRADED)
        self._probes = telemetry.metrics.counter(MODEL_PROBES)
        self._ready.set(0)

    @property
    def name(self) -> str:
        """See `ChatModel.name`."""
        return self._model.name

    @property
    def profile(self) -> ModelProfile:
        """See `ChatModel.profile`."""
        return self._model.profile

    @property
    def standing(self) -> Standing:
        """How the server stands."""
        return self._standing

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        """In what the server differed from its profile at the last probe that got its answers."""
        return self._mismatches

    async def complete(self, request: ChatRequest, deadline: Deadline) -> ChatReply:
        """See `ChatModel.complete`."""
        if self._standing is not Standing.READY:
            message = f"The model's server is {self._standing.value}; it is probed again until it is ready."
            raise ModelFailed(ModelFailureKind.NOT_READY, message, retry_after_seconds=self._options.again_seconds)
        try:
            reply = await self._model.complete(request, deadline)
        except ModelFailed as failed:
            self._note(failed)
            raise
        self._failures = 0
        return reply

    async def first_look(self, seconds: float) -> None:
        """Wait until a probe has ended, at most so long; `keep_looking` runs beside it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._has_looked.wait()

    async def look(self) -> ProbeReport | None:
        """Probe the server once and act on what is found; None when it gave no answers."""
        options = self._options
        try:
            report = await self._probe.run(Deadline.after(options.probe_seconds, self._clock))
        except ModelFailed as failed:
            self._stand(Standing.AWAY, failed.kind.value)
            _log.warning("model_probe_failed", **self._fields(), failure=failed.kind.value, cause=failed.message)
            return None
        self._inner.adopt(report.profile)
        self._take(report)
        return report

    async def keep_looking(self) -> None:
        """Probe again whenever the server has not passed, or calls failed by its fault; runs until it is cancelled."""
        while True:
            if self._standing is Standing.READY:
                await self._is_suspect.wait()
            elif self._standing is not Standing.UNKNOWN:
                await self._clock.sleep(self._options.again_seconds)
            await self.look()
            if self._standing is Standing.READY:  # one that passes and fails by turns is not probed without end
                await self._clock.sleep(self._options.again_seconds)

    def _note(self, failed: ModelFailed) -> None:
        is_servers_fault = failed.is_retriable and failed.status_code != 429
        self._failures = self._failures + 1 if is_servers_fault else 0
        is_gone = failed.kind is ModelFailureKind.UNREACHABLE and failed.status_code == 0
        if is_gone or self._failures >= FAILURES_BEFORE_PROBE:
            self._is_suspect.set()

    def _take(self, report: ProbeReport) -> None:
        self._mismatches = report.mismatches
        lacking = {one.capability for one in report.mismatches}
        for capability in Capability:
            self._degraded.labels(self._options.purpose, capability.value).set(capability in lacking)
        for one in report.mismatches:
            tell = _log.error if one.is_fatal else _log.warning
            told = {"expected": one.expected, "found": one.found, "remedy": one.remedy}
            tell("model_mismatch_found", **self._fields(), capability=one.capability.value, **told)
        if not report.is_usable:
            self._stand(Standing.MISMATCHED, "mismatch")
            return
        self._stand(Standing.READY, "degraded" if report.mismatches else "ready")
        profile = report.profile
        _log.info(
            "model_probe_passed",
            **self._fields(),
            structured_output=profile.structured_output.value,
            context_tokens=profile.context,
            tokens_per_second=report.tokens_per_second,
        )

    def _stand(self, standing: Standing, outcome: str) -> None:
        self._standing = standing
        self._failures = 0
        self._is_suspect.clear()
        self._has_looked.set()
        self._ready.set(standing is Standing.READY)
        self._probes.labels(self._options.purpose, outcome).inc()

    def _fields(self) -> dict[str, str]:
        return {"purpose": self._options.purpose, "model": self.name}

    def __repr__(self) -> str:
        return f"<ReadyChatModel {self.name} {self._standing.value} failures={self._failures}>"


def can_be_asked(model: ChatModel) -> bool:
    """Tell whether a model's server passed its last probe; one that is not probed is believed."""
    return not isinstance(model, ReadyChatModel) or model.standing is Standing.READY


@asynccontextmanager
async def watched(model: ReadyChatModel) -> AsyncIterator[ReadyChatModel]:
    """Keep looking at the server while the block runs."""
    async with beside(model_readiness=model.keep_looking()):
        yield model
