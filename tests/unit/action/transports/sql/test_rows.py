"""Results within their limits."""

from __future__ import annotations

import pytest

from taoloop.action.transports.sql.rows import Rows, RowsRefused
from taoloop.core.faults import FaultCode


def rows(*columns: str, max_rows: int = 2, max_bytes: int = 40, mask: tuple[str, ...] = ()) -> Rows:
    return Rows(columns, max_rows=max_rows, max_bytes=max_bytes, mask=mask)


def test_rows_are_objects_in_the_order_of_columns() -> None:
    under_test = rows("b", "a", mask=("A",))
    under_test.add((1, None))
    assert (under_test.body(), len(under_test)) == (b'{"rows":[{"b":1,"a":"***"}],"row_count":1}', 1)


def test_without_columns_the_changed_rows_are_told() -> None:
    under_test = rows()
    under_test.changed = 3
    assert under_test.body() == b'{"rows":[],"row_count":3}'


def test_limits_name_themselves() -> None:
    few, short = rows("a"), rows("a", max_rows=9)
    for _ in range(2):
        few.add((1,))
    with pytest.raises(RowsRefused) as caught:
        few.add((1,))
    assert (caught.value.code, caught.value.limit) == (FaultCode.RESPONSE_TOO_LARGE, "max_rows")
    with pytest.raises(RowsRefused) as caught:
        short.add(("x" * 40,))
    assert caught.value.limit == "max_bytes"


@pytest.mark.parametrize("value", [b"x", float("nan"), "\ud800"])
def test_a_value_without_json_names_its_column(value: object) -> None:
    with pytest.raises(RowsRefused, match="column a") as caught:
        rows("a").add((value,))
    assert caught.value.code == FaultCode.RESPONSE_MALFORMED


def test_columns_occur_once_and_masks_are_not_misspelt() -> None:
    for columns, mask in ((("a", "a"), ()), (("a",), ("b",))):
        with pytest.raises(RowsRefused):
            rows(*columns, mask=mask)
