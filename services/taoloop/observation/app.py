"""The observation service put together: settings to component."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from taoloop.core.clock import Clock
from taoloop.core.telemetry import Telemetry
from taoloop.observation.confidence import SourceWeights
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.metering import MeteredObserver
from taoloop.observation.observer import Observer
from taoloop.observation.ports import FixedCatalogue
from taoloop.observation.servicer import SERVICE_NAME, ObservationServicer, registrar
from taoloop.observation.settings import ObservationSettings
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.wire.component import Component


@asynccontextmanager
async def observation_component(
    settings: ObservationSettings, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[Component]:
    """Build the observation service; it holds nothing that must be closed, and is ready when it is built.

    Raises:
        CatalogueInvalid: The catalogue has faults.
    """
    catalogues = FixedCatalogue(await asyncio.to_thread(read_catalogue, settings.catalogue))
    policy = policy_of(settings)
    observer = MeteredObserver(Observer(catalogues, policy), catalogues, telemetry)
    servicer = ObservationServicer(observer, policy.max_body_bytes, clock)
    yield Component(name="observation", service_names=(SERVICE_NAME,), register=registrar(servicer))


def policy_of(settings: ObservationSettings) -> ObservationPolicy:
    """Return the policy that the settings state."""
    weights = settings.observation_weights
    return ObservationPolicy(
        max_body_bytes=settings.observation_max_body_bytes,
        weights=SourceWeights(fallback=weights.fallback, cache=weights.cache),
    )
