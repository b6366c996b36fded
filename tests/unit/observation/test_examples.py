"""Every recorded reply of the example catalogue is judged as its recording says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, loads
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.observer import Observer
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.observing import ObserveRequest
from taoloop.tools.loading import load_catalogue
from tests.unit.observation.contracts import OneCatalogue

EXAMPLE = Path(__file__).parents[3] / "examples" / "customer-service"


def recordings() -> Iterator[Any]:
    for path in sorted(EXAMPLE.glob("samples/*/*.json")):
        text = path.read_text(encoding="utf-8")
        if "{{" not in text:  # a template that the mock server fills
            yield pytest.param(path.parent.name, loads(text), id=f"{path.parent.name}/{path.stem}")


@pytest.fixture(scope="module")
def observer() -> Observer:
    loaded = load_catalogue(EXAMPLE)
    assert loaded.catalogue is not None, loaded.findings
    return Observer(OneCatalogue(loaded.catalogue), ObservationPolicy())


@pytest.mark.parametrize(("tool", "recorded"), [*recordings()])
def test_recorded_success_is_valid_and_recorded_error_is_not(observer: Observer, tool: str, recorded: Any) -> None:
    response = recorded["response"]
    result = ActionResult(
        step_id="1.t1",
        tool=tool,
        status=ActionStatus.SUCCEEDED,
        status_code=response["status"],
        parsed=response.get("body", ABSENT),
        response_time_seconds=0.1,
    )

    verdict = observer.observe(ObserveRequest(result=result, arguments=recorded["request"]["arguments"]))

    body = response.get("body")
    says_no = isinstance(body, dict) and body.get("ok") is False  # a refusal inside a 200
    is_claimed = 200 <= response["status"] < 300 and not says_no
    is_success = recorded.get("expect", {}).get("valid", is_claimed)
    assert verdict.valid is is_success, verdict.failures
    assert is_success or verdict.fault is not None
    if says_no and response["status"] == 200:
        assert verdict.failures[0].stage == "success"
