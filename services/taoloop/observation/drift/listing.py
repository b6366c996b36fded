"""One page of the drift that is remembered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.core.exact_json import JsonSyntaxError, dumps, loads
from taoloop.plan.observing import DriftRecord, ListDriftRequest, ListDriftResponse

DEFAULT_PAGE: Final = 100
MAX_PAGE: Final = 1000

_Order = tuple[str, str, str, str, bool]


def page(records: Iterable[DriftRecord], request: ListDriftRequest, *, is_local: bool) -> ListDriftResponse:
    """Return the page that is asked for, in the order of tool, place, kind and value.

    Raises:
        InvalidRequest: INVALID_REQUEST, the page's size or its token cannot be used.
    """
    size = _size(request.page_size)
    after = _after(request.page_token)
    wanted = sorted((record for record in records if _is_wanted(record, request)), key=_order)
    rest = [record for record in wanted if after is None or _order(record) > after]
    shown = rest[:size]
    token = dumps(list(_order(shown[-1]))) if len(rest) > size else ""
    return ListDriftResponse(records=tuple(shown), next_page_token=token, is_local=is_local)


def _is_wanted(record: DriftRecord, request: ListDriftRequest) -> bool:
    if record.drift is None or record.last_seen is None:
        return False
    return request.since is None or record.last_seen >= request.since


def _order(record: DriftRecord) -> _Order:
    drift = record.drift
    assert drift is not None
    return record.tool, drift.pointer, drift.kind.value, dumps(drift.value), drift.in_data


def _size(asked: int) -> int:
    if not 0 <= asked <= MAX_PAGE:
        raise _unusable("page_size", f"must be 0 to {MAX_PAGE}")
    return asked or DEFAULT_PAGE


def _after(token: str) -> _Order | None:
    if not token:
        return None
    try:
        value: Any = loads(token)
        tool, pointer, kind, shown, in_data = value
    except (JsonSyntaxError, TypeError, ValueError):
        raise _unusable("page_token", "is not one that this service gave") from None
    return str(tool), str(pointer), str(kind), str(shown), in_data is True


def _unusable(field: str, cause: str) -> InvalidRequest:
    return InvalidRequest(f"{field} {cause}.", violations=(FieldViolation(field, cause),), metadata={"field": field})
