"""Has the result of a step's call judged."""

from __future__ import annotations

from taoloop.core.calls import CallContext
from taoloop.core.errors import TaoError
from taoloop.core.exact_json import JsonValue
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.steps.services import StepServices, service_fault
from taoloop.plan.acting import ActionResult
from taoloop.plan.model import PlanStep
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.plan.rules.snapshot import used_entries


class ResultJudge:
    """Has results judged by the observation service.

    Args:
        services: The services to call.
        writer: Its state is the run so far.
        call: Tenant, deadline and the thought's id, sent along with every call.
    """

    def __init__(self, services: StepServices, writer: RunWriter, call: CallContext) -> None:
        self._services = services
        self._writer = writer
        self._call = call

    async def observe(self, step: PlanStep, arguments: JsonValue, result: ActionResult) -> ObservationResult:
        """Return the verdict on a result; one that nobody judged is not valid, and no permission follows from it."""
        state = self._writer.state
        request = ObserveRequest(
            result=result,
            arguments=arguments,
            expect=step.expect,
            output_schema=step.output_schema,
            catalogue_digest=state.catalogue_digest,
            reference_time=state.task.reference_time,
            projection=step.projection,
            state_snapshot=used_entries(state.plan, step),
        )

        async def attempt() -> ObservationResult:
            return await self._services.observation.observe(request, self._call)

        try:
            return await self._services.patience.with_service(attempt, self._call.deadline)
        except TaoError as error:
            fault = service_fault("observation", error)
            return ObservationResult(step_id=step.step_id, tool=step.tool, valid=False, fault=fault)
