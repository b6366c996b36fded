"""Answers what changed upstream, from what all replicas remember."""

from __future__ import annotations

from taoloop.core.calls import CallContext
from taoloop.core.errors import UnknownTool
from taoloop.observation.drift.listing import page
from taoloop.observation.drift.notebook import DriftNotebook
from taoloop.observation.ports import CatalogueSource
from taoloop.plan.observing import ListDriftRequest, ListDriftResponse


class DriftReader:
    """Lists drift of the tools that the catalogue has.

    Args:
        catalogues: Says which tools there are.
        notebook: Where drift is noted and remembered.
    """

    def __init__(self, catalogues: CatalogueSource, notebook: DriftNotebook) -> None:
        self._catalogues = catalogues
        self._notebook = notebook

    def __repr__(self) -> str:
        return f"DriftReader({self._notebook!r})"

    async def list_drift(self, request: ListDriftRequest, call: CallContext) -> ListDriftResponse:
        """Return one page of drift, with what was seen until now.

        Raises:
            UnknownTool: UNKNOWN_TOOL, the catalogue has no such tool.
            InvalidRequest: INVALID_REQUEST, the page cannot be used.
            BackendUnavailable: The log of the replicas does not answer.
        """
        catalogue = self._catalogues.current()
        if request.tool and request.tool not in catalogue:
            raise UnknownTool.of(request.tool)
        tools = (request.tool,) if request.tool else tuple(catalogue.tools)
        records = await self._notebook.read(tools, call.deadline)
        return page(records, request, is_local=not self._notebook.is_shared)
