"""The lock is deterministic, exact and read back whole."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from taoloop.tools.compatibility import compare
from taoloop.tools.compatibility.lock import Lock, LockRefused, lock_of, read_lock, read_lock_file, write_lock
from taoloop.tools.served_catalogue import read_catalogue

EXAMPLE = Path("examples/customer-service")


def test_the_lock_of_a_catalogue_reads_back_and_has_no_changes() -> None:
    lock = lock_of(read_catalogue(EXAMPLE))
    text = write_lock(lock)
    again = read_lock(text)
    assert again.digest == lock.digest
    assert compare(again.surfaces, lock.surfaces) == ()
    assert write_lock(again) == text


def test_one_member_stands_on_a_line_and_numbers_stay_exact() -> None:
    catalogue = lock_of(read_catalogue(EXAMPLE))
    name, surface = next(iter(catalogue.surfaces.items()))
    exact = type(surface)(
        effect=surface.effect,
        reach=surface.reach,
        trust=surface.trust,
        parameters={"minimum": Decimal("0.1"), "maximum": 10**17 + 1},
        output=True,
        contract_digest=surface.contract_digest,
    )
    text = write_lock(Lock(catalogue.digest, {name: exact}))
    assert '        "maximum": 100000000000000001,\n        "minimum": 0.1\n' in text


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"apiVersion": "taoloop.dev/v1", "kind": "CatalogueBundle"}'])
def test_what_is_no_lock_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(LockRefused):
        read_lock(text)


def test_a_lock_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LockRefused, match="cannot be read"):
        read_lock_file(tmp_path / "none")
