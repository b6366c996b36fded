"""Every line of the JsonLogic suites says what json-logic-js says, or is listed with a reason."""

import json
import subprocess
import sys

import pytest

from tests.jsonlogic import suites


@pytest.mark.parametrize("suite", suites.SUITES)
def test_suite_does_what_it_should(suite: str) -> None:
    report = suites.run(suite)

    assert report.passed > 0
    assert report.unexpected_failures == ()
    assert report.unexpected_passes == ()


def test_nothing_of_the_compatible_suite_is_expected_to_fail() -> None:
    report = suites.run("compatible")

    assert (report.passed, report.failed) == (278, 0)


def test_an_expected_failure_that_passes_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "_expected_failures", lambda _suite: {"no such failure"})

    report = suites.run("corners")

    assert report.unexpected_passes == ("no such failure",)
    assert not report.is_as_expected


def test_the_runner_prints_one_json_object_and_ends_with_zero() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.jsonlogic", "--json", "compatible"], capture_output=True, text=True, check=True
    )

    assert [suite["passed"] for suite in json.loads(done.stdout)["suites"]] == [278]
