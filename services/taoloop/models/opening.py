"""A language model put together from its settings: profile, connections, metering, and the watch over its server."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, ConfigurationError
from taoloop.core.telemetry import Telemetry
from taoloop.models.metering import MeteredChatModel
from taoloop.models.ports import ChatModel, ModelFailed
from taoloop.models.profiles.loading import load_profile
from taoloop.models.profiles.model import ModelProfile
from taoloop.models.readiness.gate import GateOptions, ReadyChatModel, watched
from taoloop.models.readiness.model import ProbeReport
from taoloop.models.readiness.probing import Probe
from taoloop.models.seeding import SeededChatModel
from taoloop.models.settings import ChatModelSettings, ProbeMode

if TYPE_CHECKING:
    from taoloop.models.http_chat_model import HttpChatModel
    from taoloop.models.http_prompt_counter import HttpPromptCounter

_SEED_BITS: Final = 31
"""Seeds fit into the signed 32 bits that every server takes."""


@asynccontextmanager
async def open_chat_model(
    settings: ChatModelSettings,
    purpose: str,
    telemetry: Telemetry,
    clock: Clock,
    *,
    seeds: Callable[[], int] | None = None,
) -> AsyncIterator[ChatModel | None]:
    """Open the model of the settings, probed before traffic; None when none is set up.

    A server that is away does not keep the process from starting, and one that hangs for `probe_start_seconds` at
    most, unless it is required: calls are refused at once, and it is probed until it is there.

    Args:
        settings: Where the model is and what it can do.
        purpose: What it is used for, a fixed word such as `validator` or `planner`; the label of its metrics.
        telemetry: Where it is told.
        clock: Measures, and paces the probes.
        seeds: Draws seeds for requests that sample and have none; by chance when left out.

    Raises:
        ConfigurationError: The profile cannot be used, the library for HTTP is not installed, or, with
            `probe: require`, the server is not what the settings say.
    """
    if settings.url is None:
        yield None
        return
    async with _connected(settings, settings.url, clock) as http:
        seeded = SeededChatModel(MeteredChatModel(http, purpose, telemetry, clock), seeds or _by_chance)
        if settings.probe is ProbeMode.OFF:
            yield seeded
            return
        probe = Probe(http, http.profile, settings.max_reply_tokens, clock)
        options = GateOptions(
            purpose=purpose, probe_seconds=settings.probe_seconds, again_seconds=settings.probe_again_seconds
        )
        model = ReadyChatModel(seeded, http, probe, options, telemetry, clock)
        if settings.probe is ProbeMode.REQUIRE:
            report = await model.look()
            if report is not None and report.mismatches:
                raise _mismatched(settings, report)
        async with watched(model):
            await model.first_look(settings.probe_start_seconds)
            yield model


@asynccontextmanager
async def open_prompt_counter(
    settings: ChatModelSettings, profile: ModelProfile, clock: Clock
) -> AsyncIterator[HttpPromptCounter | None]:
    """Open the counter of a model's server; None where there is no server, or its profile says that it cannot count."""
    if settings.url is None or not profile.counts_prompts:
        yield None
        return
    from taoloop.models.http_prompt_counter import HttpPromptCounter

    key = settings.api_key.get_secret_value()
    async with HttpPromptCounter(settings.url, settings.model, key, profile, clock) as counter:
        yield counter


async def probe_chat_model(settings: ChatModelSettings, clock: Clock) -> ProbeReport:
    """Probe the server of the settings once, for a person.

    Raises:
        ConfigurationError: There is no URL, or the profile cannot be used.
        BackendUnavailable: The server gave no answers; the metadata have the kind of failure.
    """
    if settings.url is None:
        raise ConfigurationError("There is no URL of a model's server; set TAOLOOP_MODEL__URL or give one.")
    async with _connected(settings, settings.url, clock) as http:
        probe = Probe(http, http.profile, settings.max_reply_tokens, clock)
        try:
            return await probe.run(Deadline.after(settings.probe_seconds, clock))
        except ModelFailed as failed:
            raise BackendUnavailable(failed.message, metadata={"failure": failed.kind.value}) from failed


@asynccontextmanager
async def _connected(settings: ChatModelSettings, url: str, clock: Clock) -> AsyncIterator[HttpChatModel]:
    profile = profile_of(settings)
    try:
        from taoloop.models.http_chat_model import HttpChatModel, ModelServer
    except ModuleNotFoundError as exc:
        raise ConfigurationError(
            f"A language model needs {exc.name}, which is not installed; install the extra of this deployable.",
            metadata={"module": exc.name or ""},
        ) from exc
    server = ModelServer(
        url=url,
        model=settings.model,
        api_key=settings.api_key.get_secret_value(),
        timeout_seconds=settings.timeout_seconds,
        silence_seconds=settings.silence_seconds,
        max_reply_bytes=settings.max_reply_bytes,
        max_in_flight=settings.max_in_flight,
        profile=profile,
    )
    async with HttpChatModel(server, clock) as http:
        yield http


def profile_of(settings: ChatModelSettings) -> ModelProfile:
    """Return the profile of the settings, with what they say in its place.

    Raises:
        ConfigurationError: There is no such profile, or it has faults.
    """
    profile = load_profile(settings.profile)
    return replace(
        profile,
        structured_output=settings.structured_output or profile.structured_output,
        context_tokens=settings.context_tokens or profile.context_tokens,
    )


def _by_chance() -> int:
    return random.getrandbits(_SEED_BITS)


def _mismatched(settings: ChatModelSettings, report: ProbeReport) -> ConfigurationError:
    told = " ".join(str(one) for one in report.mismatches)
    return ConfigurationError(
        f"The server of the model {settings.model!r} is not what the profile {settings.profile} says. {told}",
        metadata={
            "model": settings.model,
            "profile": settings.profile,
            "capabilities": ",".join(one.capability.value for one in report.mismatches),
        },
    )
