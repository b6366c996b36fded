"""The action service put together: settings to component."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from taoloop.action.executor import Executor
from taoloop.action.ledger.sql_ledger import sql_ledger
from taoloop.action.ports import EffectLedger
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.servicer import SERVICE_NAME, ActionServicer, registrar
from taoloop.action.settings import ActionSettings
from taoloop.action.transports.http import http_transport
from taoloop.core.clock import Clock
from taoloop.core.errors import ConfigurationError
from taoloop.core.telemetry import Telemetry
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.tools.signature import Effect
from taoloop.wire.component import Component


@asynccontextmanager
async def action_component(settings: ActionSettings, telemetry: Telemetry, clock: Clock) -> AsyncIterator[Component]:
    """Build the action service and close its ledger and connections at the end.

    Raises:
        CatalogueInvalid: The catalogue has faults.
        ConfigurationError: The ledger cannot promise durability and the catalogue has tools that write.
        BackendUnavailable: The ledger does not answer.
    """
    catalogue = await asyncio.to_thread(read_catalogue, settings.catalogue, settings.bases)
    secrets = ConfiguredSecrets(settings.secrets, settings.secrets_dir)
    async with (
        sql_ledger(settings.ledger.url.get_secret_value(), clock) as ledger,
        http_transport(settings.tool_http, catalogue.bases, secrets, telemetry) as transport,
    ):
        refuse_forgetful_ledger(catalogue, ledger, is_waived=settings.ledger.is_durability_waived)
        executor = Executor(catalogue, transport, ledger, telemetry, clock)
        servicer = ActionServicer(catalogue, executor, ledger)
        yield Component(
            name="action",
            service_names=(SERVICE_NAME,),
            register=registrar(servicer),
            is_ready=ledger.is_available,
        )


def refuse_forgetful_ledger(catalogue: Catalogue, ledger: EffectLedger, *, is_waived: bool) -> None:
    """Refuse to serve tools with the effect `write` on a ledger that may forget what it acknowledged.

    Raises:
        ConfigurationError: There are such tools, and nobody waived the promise.
    """
    writers = [tool.contract.name for tool in catalogue if tool.contract.effect is Effect.WRITE]
    if writers and not ledger.is_durable and not is_waived:
        raise ConfigurationError(
            f"The effect ledger cannot promise durability, which {', '.join(writers[:5])} "
            "needs; use a file or PostgreSQL in TAOLOOP_LEDGER__URL, or set "
            "TAOLOOP_LEDGER__IS_DURABILITY_WAIVED if a repeated write does no harm.",
            metadata={"tools": ",".join(writers), "setting": "TAOLOOP_LEDGER__URL"},
        )
