"""The observation service put together: settings to component."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from taoloop.core.clock import Clock
from taoloop.core.telemetry import Telemetry
from taoloop.models.opening import open_chat_model
from taoloop.observation.confidence import ConfidenceLevels, SourceWeights
from taoloop.observation.drift.local_drift_log import LocalDriftLog
from taoloop.observation.drift.notebook import DriftNotebook, handing_over
from taoloop.observation.drift.ports import DriftLog
from taoloop.observation.drift.reading import DriftReader
from taoloop.observation.grounding.model import GroundingLimits
from taoloop.observation.heavy_work import HeavyBounds, heavy_work
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.metering import MeteredObserver
from taoloop.observation.observer import Observer
from taoloop.observation.ports import FixedCatalogue
from taoloop.observation.semantic.answer_checker import AnswerChecker
from taoloop.observation.semantic.chat_validator import ChatSemanticValidator
from taoloop.observation.semantic.correcting import CorrectionPolicy
from taoloop.observation.semantic.metering import MeteredAnswerChecker
from taoloop.observation.semantic.ports import SemanticValidator
from taoloop.observation.servicer import SERVICE_NAME, ObservationServicer, registrar
from taoloop.observation.settings import DriftSettings, ObservationSettings, ValidatorSettings
from taoloop.observation.soft.checking import SoftCheck
from taoloop.observation.soft.lexicon_classifier import LexiconClassifier
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.seen import Place, read_seen
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.wire.component import Component


@asynccontextmanager
async def observation_component(
    settings: ObservationSettings, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[Component]:
    """Build the observation service, ready when it is built; what it noted of drift is handed over at the end.

    Raises:
        CatalogueInvalid: The catalogue has faults.
    """
    catalogue, seen = await asyncio.to_thread(_read, settings.catalogue)
    catalogues = FixedCatalogue(catalogue)
    policy = policy_of(settings)
    bounds = HeavyBounds(slots=settings.observation_heavy.slots, max_waiting=settings.observation_heavy.max_waiting)
    async with (
        _drift(settings.observation_drift, telemetry, clock) as notebook,
        heavy_work(bounds, telemetry.metrics) as heavy,
        _validator(settings.observation_validator, telemetry, clock) as validator,
    ):
        observer = MeteredObserver(Observer(catalogues, policy, seen), catalogues, telemetry, notebook)
        shared = DriftReader(catalogues, notebook)
        answers = MeteredAnswerChecker(AnswerChecker(limits_of(settings), heavy, validator), telemetry, clock)
        servicer = ObservationServicer(observer, policy.max_body_bytes, clock, heavy, shared, answers)
        yield Component(name="observation", service_names=(SERVICE_NAME,), register=registrar(servicer))


def policy_of(settings: ObservationSettings) -> ObservationPolicy:
    """Return the policy that the settings state."""
    weights, levels = settings.observation_weights, settings.observation_confidence
    return ObservationPolicy(
        max_body_bytes=settings.observation_max_body_bytes,
        max_exposed_bytes=settings.observation_max_exposed_bytes,
        weights=SourceWeights(fallback=weights.fallback, cache=weights.cache, untrusted=weights.untrusted),
        levels=ConfidenceLevels(preferred=levels.preferred, doubtful=levels.doubtful),
        soft=SoftCheck(LexiconClassifier(), settings.observation_min_certainty),
    )


def limits_of(settings: ObservationSettings) -> GroundingLimits:
    """Return what one check of an answer may cost."""
    answer = settings.observation_answer
    return GroundingLimits(
        max_characters=answer.max_characters,
        max_claims=answer.max_claims,
        max_evidence_bytes=answer.max_evidence_bytes,
        max_evidence_values=answer.max_evidence_values,
    )


@asynccontextmanager
async def _validator(
    settings: ValidatorSettings, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[SemanticValidator | None]:
    """Open the connection to the language model that validates answers, if one is set up."""
    async with open_chat_model(settings, "validator", telemetry, clock) as model:
        if model is None:
            yield None
            return
        corrections = CorrectionPolicy(
            max_corrections=settings.max_corrections, timeout_seconds=settings.timeout_seconds, model=settings.model
        )
        yield ChatSemanticValidator(model, corrections, settings.max_reply_tokens, clock)


def _read(path: Path) -> tuple[Catalogue, Mapping[str, Place]]:
    catalogue = read_catalogue(path)
    return catalogue, read_seen(path, catalogue)


@asynccontextmanager
async def _drift(settings: DriftSettings, telemetry: Telemetry, clock: Clock) -> AsyncIterator[DriftNotebook]:
    """Open the log that the replicas share, or that of a single one, and hand over to it in the background."""
    async with AsyncExitStack() as stack:
        log: DriftLog = LocalDriftLog(settings.max_records)
        if settings.redis is not None:
            from taoloop.observation.drift.redis_drift_log import RedisDriftLog
            from taoloop.wire.redis.redis_link import redis_link

            link = await stack.enter_async_context(redis_link(settings.redis, telemetry))
            log = RedisDriftLog(
                link,
                settings.redis.key_prefix,
                max_records=settings.max_records,
                retention_seconds=settings.retention_days * 86_400,
            )
        notebook = DriftNotebook(log, settings.max_records, telemetry.metrics, clock, settings.every_seconds)
        yield await stack.enter_async_context(handing_over(notebook))
