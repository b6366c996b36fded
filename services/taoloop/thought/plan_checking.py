"""Checks plans by the same rules as the service's own thoughts, for `CheckPlan`."""

from __future__ import annotations

from taoloop.core.errors import CatalogueMismatch, FieldViolation, InvalidRequest
from taoloop.core.faults import Fault
from taoloop.core.telemetry import Metrics
from taoloop.plan.check import check_plan
from taoloop.plan.check_context import DEFAULT_LIMITS, CheckContext, PlanLimits
from taoloop.plan.form.json_form import PlanFormInvalid, plan_from_text
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.sourcing import source_literals
from taoloop.plan.task import Permissions
from taoloop.plan.thinking import CheckPlanRequest, CheckPlanResponse
from taoloop.thought.plan_metering import count_too_large
from taoloop.tools.catalogue import Catalogue


class PlanChecking:
    """Checks plans against one catalogue.

    Args:
        catalogue: The tools that plans may use.
        limits: How large a plan may be; the defaults when left out.
        metrics: Where the plans that are too large are counted; None outside a service.
    """

    def __init__(
        self, catalogue: Catalogue, limits: PlanLimits = DEFAULT_LIMITS, metrics: Metrics | None = None
    ) -> None:
        self._catalogue = catalogue
        self._limits = limits
        self._metrics = metrics
        self._tools = {signature.name: signature for signature in catalogue.signatures()}

    def check(self, request: CheckPlanRequest) -> CheckPlanResponse:
        """Return the verdict on a plan; a bad plan is a reply with faults.

        Raises:
            InvalidRequest: The request holds no plan.
            CatalogueMismatch: The plan is to be checked against another catalogue.
        """
        if request.catalogue_digest not in ("", self._catalogue.digest):
            raise CatalogueMismatch.of(request.catalogue_digest, self._catalogue.digest)
        plan, faults = _read(request)
        if plan is None:
            return CheckPlanResponse(valid=False, faults=faults)
        verdict = check_plan(source_literals(plan, self._tools, request.turns), self._context(request))
        if self._metrics is not None:
            count_too_large(verdict.faults, self._metrics)
        every = (*faults, *verdict.faults)
        return CheckPlanResponse(valid=not every, faults=every, order=verdict.order if not every else ())

    def _context(self, request: CheckPlanRequest) -> CheckContext:
        return CheckContext(
            tools=self._tools,
            catalogue_digest=self._catalogue.digest,
            permissions=request.permissions or Permissions(),
            turns=request.turns or None,
            state=request.state,
            completed=request.completed,
            inputs=request.inputs,
            limits=self._limits,
        )


def _read(request: CheckPlanRequest) -> tuple[ThoughtPlan | None, tuple[Fault, ...]]:
    if request.plan is not None:
        return request.plan, ()
    if request.plan_text is None:
        raise InvalidRequest("The request holds no plan.", violations=[FieldViolation("plan", "is missing")])
    try:
        return plan_from_text(request.plan_text, request.turns or None), ()
    except PlanFormInvalid as invalid:
        return None, invalid.faults
