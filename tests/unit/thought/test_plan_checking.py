"""`CheckPlan` judges by the service's own limits."""

from taoloop.core.faults import FaultCode
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.check_context import PlanLimits
from taoloop.plan.thinking import CheckPlanRequest
from taoloop.thought.plan_checking import PlanChecking
from taoloop.thought.settings import PlanSettings
from taoloop.tools.catalogue import Catalogue

TWO_STEPS = '{"steps": [{"id": "t1", "tool": "a"}, {"id": "t2", "tool": "a"}]}'


def test_a_plan_above_the_configured_size_is_refused_and_counted() -> None:
    metrics = Telemetry.build(TelemetrySettings(), "taoloop-test").metrics
    checking = PlanChecking(Catalogue(()), PlanLimits(max_steps=1), metrics)

    reply = checking.check(CheckPlanRequest(plan_text=TWO_STEPS))

    assert not reply.valid
    assert FaultCode.PLAN_TOO_LARGE in [fault.code for fault in reply.faults]
    assert "taoloop_plan_too_large_total 1.0" in metrics.exposition()


def test_a_plan_within_it_moves_no_counter() -> None:
    metrics = Telemetry.build(TelemetrySettings(), "taoloop-test").metrics

    PlanChecking(Catalogue(()), PlanLimits(max_steps=2), metrics).check(CheckPlanRequest(plan_text=TWO_STEPS))

    assert "taoloop_plan_too_large_total 1.0" not in metrics.exposition()


def test_the_settings_are_the_limits() -> None:
    assert PlanSettings(max_steps=3, max_tokens=100).limits() == PlanLimits(max_steps=3, max_tokens=100)
