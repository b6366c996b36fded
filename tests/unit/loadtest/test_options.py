"""The command line: what it takes, and what it refuses with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadtest.options import read_options
from loadtest.schedule import Arrivals

NEEDED = ["run", "--address", "127.0.0.1:7701", "--tasks", "mix.yaml", "--rate", "5", "--duration", "10"]


def test_defaults() -> None:
    options = read_options(NEEDED)

    assert (options.target.address, options.tasks) == ("127.0.0.1:7701", Path("mix.yaml"))
    assert (options.schedule.rate_per_second, options.schedule.total_seconds) == (5.0, 10.0)
    assert options.schedule.arrivals is Arrivals.CONSTANT
    assert options.thresholds.max_p99_seconds is None


def test_limits_are_read_in_their_units() -> None:
    options = read_options([*NEEDED, "--max-p99", "420", "--max-error-share", "0.0017", "--seed", "3"])

    assert options.thresholds.max_p99_seconds == pytest.approx(0.42)
    assert options.thresholds.max_error_share == pytest.approx(0.0017)
    assert options.schedule.seed == 3


@pytest.mark.parametrize(
    "wrong",
    [
        ("--rate", "0"),
        ("--rate", "-1"),
        ("--rate", "nan"),
        ("--rate", "inf"),
        ("--rate", "fast"),
        ("--duration", "0"),
        ("--warm-up", "-1"),
        ("--max-in-flight", "0"),
        ("--max-in-flight", "1.5"),
        ("--max-error-share", "1.1"),
        ("--max-p99", "0"),
        ("--address", "7701"),
        ("--address", "host:0"),
        ("--address", ":7701"),
        ("--arrivals", "bursts"),
        ("--timeout", "0"),
    ],
)
def test_wrong_value_is_refused_and_named(wrong: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_options([*NEEDED, *wrong])

    assert ended.value.code == 2
    assert wrong[0] in capsys.readouterr().err
