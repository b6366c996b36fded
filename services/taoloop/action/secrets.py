"""Secrets from settings and from files, as contracts name them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import SecretStr

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


class ConfiguredSecrets:
    """A `SecretSource`: a file of the directory first, so that a mounted secret can be renewed, then the settings.

    Args:
        values: Name → secret; names are compared without regard to case, since environments fold it.
        directory: Holds one file for each secret, a final line end being no part of it; None for none.
    """

    def __init__(self, values: Mapping[str, SecretStr], directory: Path | None = None) -> None:
        self._values = {name.lower(): value for name, value in values.items()}
        self._directory = directory

    async def secret(self, name: str) -> str | None:
        """Return the secret's value, or None when it is not configured or empty."""
        if not _NAME.fullmatch(name):
            return None
        from_file = await asyncio.to_thread(self._read, name)
        if from_file:
            return from_file
        value = self._values.get(name.lower())
        return (value.get_secret_value() or None) if value is not None else None

    def _read(self, name: str) -> str | None:
        if self._directory is None:
            return None
        try:
            return (self._directory / name).read_text(encoding="utf-8").removesuffix("\n")
        except (OSError, UnicodeDecodeError):
            return None

    def __repr__(self) -> str:
        return f"ConfiguredSecrets(names={sorted(self._values)}, directory={self._directory})"
