"""Runs commands in this process, as the unit tests do."""

from tests.unit.cli.conftest import invoke

__all__ = ["invoke"]
