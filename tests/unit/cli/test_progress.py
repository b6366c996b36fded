"""Progress is told now and then, on standard error, and not at all for short work."""

from __future__ import annotations

import re

import pytest

from taoloop.cli.batch.progress import Progress
from taoloop.testing.clock import FakeClock


def test_short_work_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("replayed", 100, FakeClock()) as progress:
        for _ in range(1000):
            progress.advance(1)
    assert capsys.readouterr() == ("", "")


def test_long_work_says_how_much_is_done_a_line_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    clock = FakeClock()
    with Progress("replayed", 1000, clock) as progress:
        for count in range(1, 1001):
            clock.advance(0.1)
            progress.advance(count)
    lines = capsys.readouterr().err.splitlines()
    assert 8 <= len(lines) <= 10
    assert re.fullmatch(r"replayed 10[01] \(10 %\)", lines[0])


def test_input_of_unknown_size_has_no_share(capsys: pytest.CaptureFixture[str]) -> None:
    clock = FakeClock()
    with Progress("replayed", 0, clock) as progress:
        progress.advance(5)
        clock.advance(11)
        progress.advance(5)
    assert capsys.readouterr().err == "replayed 2\n"
