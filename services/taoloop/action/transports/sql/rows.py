"""The rows of a result as JSON: within limits, each column once, masked where the contract says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from taoloop.action.transports.exact_values import NotJson, json_value
from taoloop.core import exact_json
from taoloop.core.faults import FaultCode
from taoloop.core.redaction import MASK


class RowsRefused(Exception):
    """A result that may not be passed on.

    Attributes:
        code: A `FaultCode`.
        limit: The limit that bit; empty for none.
    """

    def __init__(self, code: FaultCode, message: str, limit: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.limit = limit


class Rows:
    """A result that grows row by row.

    Args:
        columns: Their names in order; empty for a statement that returns no rows.
        max_rows: Most rows.
        max_bytes: Most bytes of all rows as JSON.
        mask: Columns whose values are replaced; upper and lower case are one, as they are for databases.

    Raises:
        RowsRefused: A column occurs twice, or a masked one not at all: a mask that is misspelt must not show what it
            should hide.
    """

    def __init__(self, columns: Sequence[str], *, max_rows: int, max_bytes: int, mask: Collection[str] = ()) -> None:
        self._columns = tuple(columns)
        self._max_rows = max_rows
        self._max_bytes = max_bytes
        self._masked = {name.casefold() for name in mask}
        self._texts: list[str] = []
        self._size = 0
        self.changed = 0
        """Rows that a statement without a result changed."""
        twice = [name for name, count in Counter(columns).items() if count > 1]
        if twice:
            message = f"The result has the column {twice[0]} twice; the statement renames one with AS."
            raise RowsRefused(FaultCode.RESPONSE_MALFORMED, message)
        absent = self._masked - {name.casefold() for name in columns}
        if absent:
            message = f"The result has no column {min(absent)}, which the contract masks."
            raise RowsRefused(FaultCode.RESPONSE_MALFORMED, message)

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, values: Sequence[Any]) -> None:
        """Take one more row.

        Raises:
            RowsRefused: There are too many rows or bytes, or a value has no JSON form.
        """
        if len(self._texts) >= self._max_rows:
            message = f"The result has more than {self._max_rows} rows."
            raise RowsRefused(FaultCode.RESPONSE_TOO_LARGE, message, limit="max_rows")
        text = exact_json.dumps(dict(zip(self._columns, map(self._shown, self._columns, values), strict=True)))
        self._size += len(text.encode()) + 1
        if self._size > self._max_bytes:
            message = f"The result has more than {self._max_bytes} bytes."
            raise RowsRefused(FaultCode.RESPONSE_TOO_LARGE, message, limit="max_bytes")
        self._texts.append(text)

    def _shown(self, column: str, value: Any) -> exact_json.JsonValue:
        if column.casefold() in self._masked:
            return MASK
        try:
            shown = json_value(value)
            exact_json.dumps(shown)
        except (NotJson, exact_json.JsonEncodeError) as exc:
            kind = exc.kind if isinstance(exc, NotJson) else "value"
            message = f"The column {column} holds a {kind}, which has no exact JSON form; the statement casts it."
            raise RowsRefused(FaultCode.RESPONSE_MALFORMED, message) from exc
        return shown

    def body(self) -> bytes:
        """Return `{"rows": [{column: value}], "row_count": n}`, n being the rows returned or changed."""
        count = len(self._texts) if self._columns else self.changed
        return f'{{"rows":[{",".join(self._texts)}],"row_count":{count}}}'.encode()
