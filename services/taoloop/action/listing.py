"""What the service shows of its catalogue: summaries by page, and whole contracts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Final, TypeVar, cast

from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.core.exact_json import JsonValue
from taoloop.plan.acting import GetToolResponse, ListToolsResponse, ToolSummary
from taoloop.plan.task import ToolAvailability
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.compiled import CompiledTool

DEFAULT_PAGE_SIZE: Final = 100
MAX_PAGE_SIZE: Final = 1000

ItemT = TypeVar("ItemT")


def page_limit(page_size: int) -> int:
    """Return how many items a page holds: the size wanted, 100 for 0, at most 1 000.

    Raises:
        InvalidRequest: The size is negative.
    """
    if page_size < 0:
        violation = FieldViolation("page_size", "must not be negative")
        raise InvalidRequest("The page size is negative.", violations=(violation,))
    return min(page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


def cut_page(items: Sequence[ItemT], limit: int) -> tuple[tuple[ItemT, ...], ItemT | None]:
    """Return the first `limit` items, and the last of them if more follow."""
    page = tuple(islice(items, limit))
    return page, page[-1] if len(items) > limit else None


def list_tools(
    catalogue: Catalogue, page_size: int, page_token: str, availability: Callable[[str], ToolAvailability]
) -> ListToolsResponse:
    """Return one page of the tools, by name; the token is the last name of the page before.

    Raises:
        InvalidRequest: The page size is negative.
    """
    later: Iterable[CompiledTool] = (tool for tool in catalogue if tool.contract.name > page_token)
    limit = page_limit(page_size)
    page, last = cut_page(tuple(islice(later, limit + 1)), limit)
    return ListToolsResponse(
        tools=tuple(summary(tool, availability(tool.contract.name)) for tool in page),
        catalogue_digest=catalogue.digest,
        next_page_token=last.contract.name if last is not None else "",
    )


def get_tool(catalogue: Catalogue, name: str, availability: Callable[[str], ToolAvailability]) -> GetToolResponse:
    """Return one tool with its whole contract.

    Raises:
        UnknownTool: There is none of this name.
    """
    tool = catalogue.compiled(name)
    return GetToolResponse(
        tool=summary(tool, availability(name)), contract=cast("JsonValue", _plain(tool.contract.document))
    )


def summary(tool: CompiledTool, availability: ToolAvailability) -> ToolSummary:
    """Return what a planner needs to know of a tool."""
    contract = tool.contract
    return ToolSummary(
        name=contract.name,
        description=contract.description,
        use_when=contract.use_when,
        avoid_when=contract.avoid_when,
        effect=contract.effect,
        reach=contract.reach,
        trust=contract.trust,
        parameters=_plain(contract.parameters),
        output_schema=_plain(tool.output_schema),
        contract_digest=contract.digest,
        availability=availability,
        timeout_seconds=contract.timeout_seconds,
        answer=dict(contract.answer),
        fallback_tool=contract.fallback.tool if contract.fallback is not None else "",
    )


def _plain(document: Any) -> Any:
    return document if isinstance(document, dict | bool) else dict(document)
