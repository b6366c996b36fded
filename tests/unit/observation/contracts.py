"""Contracts, results and requests that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from taoloop.core.exact_json import ABSENT
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.observer import Observer
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import NormaliseAs, NormaliseRule, Observe, ObserveRule, RuleSeverity, ToolContract
from taoloop.tools.signature import Effect, Trust

PARCEL_RESPONSE: Mapping[str, Any] = {
    "type": "object",
    "required": ["state"],
    "properties": {
        "state": {"type": "string"},
        "eta": {"type": "string", "format": "date-time"},
        "fee": {"type": "number"},
        "number": {"type": "integer"},
        "depot": {"type": "string"},
    },
}

PARCEL = ToolContract(
    name="track_parcel",
    description="Where one parcel is.",
    parameters={"type": "object"},
    response=PARCEL_RESPONSE,
    effect=Effect.READ,
    trust=Trust.TRUSTED,
    observe=Observe(
        normalise=(
            NormaliseRule(field="/state", to="/parcel_state", enum={"on_the_road": "moving"}),
            NormaliseRule(field="/eta", to="/eta", convert=NormaliseAs.DATETIME),
        ),
        rules=(
            ObserveRule(id="has_state", severity=RuleSeverity.HARD, when={"!!": [{"var": "data.parcel_state"}]}),
            ObserveRule(id="cheap", severity=RuleSeverity.SOFT, when={"<": [{"var": "body.fee"}, 10]}),
        ),
        known={"/parcel_state": ("moving", "delivered")},
        expose=("/parcel_state", "/eta"),
    ),
    document={"name": "track_parcel"},
)
GOOD: Any = {"state": "on_the_road", "eta": "2024-05-20T22:30:00+08:00", "fee": 3, "depot": "Ulm"}
"""A body of it with which nothing is wrong."""


@dataclass(frozen=True)
class OneCatalogue:
    """A source that always gives this catalogue."""

    catalogue: Catalogue

    def current(self) -> Catalogue:
        return self.catalogue


def observer_of(*contracts: ToolContract, policy: ObservationPolicy | None = None) -> Observer:
    return Observer(OneCatalogue(Catalogue.of(contracts)), policy or ObservationPolicy())


def result_of(body: Any = ABSENT, /, *, tool: str = "track_parcel", **fields: Any) -> ActionResult:
    given: dict[str, Any] = {"status": ActionStatus.SUCCEEDED, "status_code": 200, "trust": Trust.TRUSTED, **fields}
    return ActionResult(step_id="1.t1", tool=tool, parsed=body, **given)


def observed(
    body: Any = ABSENT, contract: ToolContract = PARCEL, /, *, request: Mapping[str, Any] | None = None, **fields: Any
) -> ObservationResult:
    """Judge one result of the contract's tool."""
    result = result_of(body, tool=contract.name, **fields)
    return observer_of(contract).observe(ObserveRequest(result=result, **(request or {})))


def bare(**changes: Any) -> ToolContract:
    """A contract that takes any body, with these changes."""
    plain = ToolContract(
        name="ask_anything",
        description="Anything.",
        parameters={"type": "object"},
        response=True,
        effect=Effect.READ,
        document={"changes": sorted(changes)},
    )
    return replace(plain, **changes)
