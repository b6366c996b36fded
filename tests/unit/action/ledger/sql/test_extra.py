"""Without its library the ledger says which extra is missing."""

from __future__ import annotations

import importlib
import sys

import pytest

import taoloop.action.ledger.sql
from taoloop.core.errors import ConfigurationError


def test_a_missing_library_is_told_by_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(ConfigurationError, match="extra `action`"):
        importlib.reload(taoloop.action.ledger.sql)
