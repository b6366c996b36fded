"""Transcripts in pages are what the commands print."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging import pages, transcripts


@pytest.mark.parametrize("page", transcripts.PAGES, ids=pages.name_of)
def test_transcripts_are_what_the_commands_print(page: Path) -> None:
    shown = list(transcripts.blocks(page))
    assert shown
    for command, output in shown:
        assert transcripts.printed(command) == output, (
            f"write it anew: python -m tests.packaging.transcripts\n{command}"
        )
