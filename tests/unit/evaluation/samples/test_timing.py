"""What a result costs is told for the whole verdict and for each check that can be timed by itself."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.exact_json import dumps
from taoloop.evaluation.samples.timing import REPEATS, check_times
from taoloop.observation.files import ObservedFiles, judged_files
from tests.unit.evaluation.samples.orders import GOOD, observer, sample, write


@dataclass
class TickingClock(SystemClock):
    """A clock that goes on by so much each time it is read."""

    seconds: float
    ticks: itertools.count[int] = field(default_factory=itertools.count)

    def monotonic(self) -> float:
        return next(self.ticks) * self.seconds


def timed(directory: Path, body: Any) -> dict[str, float]:
    write(directory, sample(GOOD))
    path = directory / "response.json"
    path.write_text(body if isinstance(body, str) else dumps(body), encoding="utf-8")
    files = ObservedFiles(action_response=path, tool="get_order")
    response = judged_files(files, observer(directory).catalogue)
    times = check_times(response.tool, response.request, response.verdict, TickingClock(REPEATS * 0.001))
    return {time.check: time.seconds for time in times}


def test_the_whole_verdict_comes_first_and_then_each_check_in_its_order(tmp_path: Path) -> None:
    times = timed(tmp_path, GOOD)
    names = list(times)
    assert names[:3] == ["verdict", "schema", "normalise"]
    assert {"shipped_has_eta", "cheap"} <= set(names)
    assert list(times.values()) == pytest.approx([0.001] * len(names))


def test_a_body_without_data_has_no_rules_to_time(tmp_path: Path) -> None:
    assert "cheap" not in timed(tmp_path, {"state": 5})


def test_what_is_no_json_has_the_whole_verdict_alone(tmp_path: Path) -> None:
    assert list(timed(tmp_path, "<html>")) == ["verdict"]
