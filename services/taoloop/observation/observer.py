"""The observer: finds the contract of a result's tool, compiled once, and judges the result by it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from taoloop.core.errors import CatalogueMismatch, FieldViolation, InvalidRequest
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import FaultCode
from taoloop.observation.judges import Judges
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.ports import CatalogueSource
from taoloop.observation.quick.judging import ContractJudge
from taoloop.observation.stages.model import Flaw, Outcome, Stage, flaw
from taoloop.observation.stages.step_schemas import StepSchemas
from taoloop.observation.verdict import Source, Trail, verdict
from taoloop.plan.acting import ActionResult
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.seen import Place
from taoloop.tools.signature import Trust

NOTHING_SEEN: Final[Mapping[str, Place]] = MappingProxyType({})


class Observer:
    """Judges results, with no I/O and no clock. Each contract is compiled once; threads may share an observer.

    Args:
        catalogues: Where the contracts come from.
        policy: What holds for every tool.
        seen: What was seen of the tools, by name; of a tool that is not there only its contract is known.
    """

    def __init__(
        self, catalogues: CatalogueSource, policy: ObservationPolicy, seen: Mapping[str, Place] = NOTHING_SEEN
    ) -> None:
        self._catalogues = catalogues
        self._policy = policy
        self._judges = Judges(policy, seen)
        self._step_schemas = StepSchemas()

    def observe(self, request: ObserveRequest) -> ObservationResult:
        """Return the verdict on one result; the same request always gives the same verdict.

        A result that the action service could not get (its status says so) is not judged again: the verdict carries
        its fault. A result that is pending is not valid and suggests to wait. `execution_permitted` is true only
        for a valid result in trusted words: when anything could not be checked, it stays false.

        Raises:
            InvalidRequest: INVALID_REQUEST, the request has no result, or a projection that its tool does not have.
            CatalogueMismatch: The run is pinned to another catalogue.
        """
        result = request.result
        if result is None:
            violation = FieldViolation("result", "must be set")
            raise InvalidRequest("There is no result to judge.", violations=(violation,), metadata={"field": "result"})
        catalogue = self._catalogues.current()
        if request.catalogue_digest and request.catalogue_digest != catalogue.digest:
            raise CatalogueMismatch.of(request.catalogue_digest, catalogue.digest)
        tool = self._judges.of(catalogue, result.served_by_tool or result.tool)
        if tool is None:
            return self._unknown_tool(result, catalogue)
        if not request.projection and request.output_schema is ABSENT and not result.served_by_tool:
            return tool.judge(request, result)
        return self._judge_more(tool, request, result, catalogue)

    def _judge_more(
        self, tool: ContractJudge, request: ObserveRequest, result: ActionResult, catalogue: Catalogue
    ) -> ObservationResult:
        """Judge a result of which more is asked than its own contract does."""
        if request.projection:
            self._check_projection(request.projection, result.tool, catalogue)
        expected = self._expected_schemas(request, result, catalogue)
        schemas = [schema for schema in expected if isinstance(schema, CompiledSchema)]
        return tool.judge(request, result, schemas, [refused for refused in expected if isinstance(refused, Flaw)])

    def _check_projection(self, name: str, tool: str, catalogue: Catalogue) -> None:
        """Refuse a goal that the planned tool does not know; another tool that stood in for it need not know it."""
        planned = self._judges.of(catalogue, tool)
        if planned is None or name in planned.checks.exposer.projections:
            return
        known = ", ".join(planned.checks.exposer.projections) or "none"
        violation = FieldViolation("projection", f"the tool {tool} has no projection {name!r}; it has {known}")
        message = f"The tool {tool} has no projection {name!r}."
        raise InvalidRequest(message, violations=(violation,), metadata={"field": "projection", "known": known})

    def _expected_schemas(
        self, request: ObserveRequest, result: ActionResult, catalogue: Catalogue
    ) -> list[CompiledSchema | Flaw]:
        """Return what the data must fit: the step's schema, and the planned tool's where another stood in."""
        expected: list[CompiledSchema | Flaw] = []
        if request.output_schema is not ABSENT and request.output_schema is not None:
            expected.append(self._step_schemas.of(request.output_schema))
        if result.served_by_tool not in {"", result.tool}:
            planned = self._judges.of(catalogue, result.tool)
            if planned is not None:
                expected.append(planned.checks.output_schema)
        return expected

    def _unknown_tool(self, result: ActionResult, catalogue: Catalogue) -> ObservationResult:
        tool = result.served_by_tool or result.tool
        found = flaw(
            Stage.STATUS,
            FaultCode.UNKNOWN_TOOL,
            "The catalogue has no tool of this name.",
            rule_id="tool",
            actual=tool,
            candidates=catalogue.near(tool),
        )
        trail = Trail()
        trail.add(Outcome(flaws=(found,)))
        # Nothing is known of the tool: it may be one that writes.
        source = Source(weight=0.0, trust=Trust.UNTRUSTED, is_write=True)
        return verdict(result, trail, source, self._policy.presentation)

    def __repr__(self) -> str:
        return f"Observer({self._judges!r})"
