"""A catalogue with fifty faults: all of them at once for a person, and no start of a service."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from taoloop.action.app import action_component
from taoloop.action.settings import ActionSettings
from taoloop.cli.main import app
from taoloop.core.clock import SystemClock
from taoloop.core.errors import CatalogueInvalid
from taoloop.core.exact_json import loads
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from tests.unit.tools.contracts import document, write_catalogue

TOOLS = 25


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    """Twenty-five contracts, each with an effect that there is not and a field that there is not."""
    broken = [document(f"tool_{number}", spec__effect="perhaps", spec__colour="red") for number in range(TOOLS)]
    return write_catalogue(tmp_path, *broken)


def test_every_fault_is_told_with_its_place_its_cause_and_its_remedy(catalogue: Path) -> None:
    result = CliRunner().invoke(app, ["tools", "check", str(catalogue), "--json"])

    lines = [loads(line) for line in result.stdout.splitlines()]
    faults = [line for line in lines if isinstance(line, dict) and line.get("severity") == "error"]
    assert result.exit_code == 1
    assert len(faults) == 2 * TOOLS
    assert len({fault["file"] for fault in faults}) == TOOLS
    assert {fault["pointer"] for fault in faults} == {"/spec/effect", "/spec/colour"}
    assert all(fault["line"] and fault["cause"] and fault["remedy"] for fault in faults)


async def test_a_service_does_not_start_on_it_and_says_how_many_there_are(catalogue: Path, tmp_path: Path) -> None:
    settings = ActionSettings(catalogue=catalogue)
    telemetry = Telemetry.build(TelemetrySettings(), "test")

    with pytest.raises(CatalogueInvalid, match=f"{2 * TOOLS} faults"):
        async with action_component(settings, telemetry, SystemClock()):
            pass
