"""Approvals and look-ups over gRPC, with a ledger in a real file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from taoloop.action.app import action_component
from taoloop.action.errors import EffectSettled, NoLookUp, UnknownApproval, UnknownEffect
from taoloop.action.settings import LedgerSettings
from taoloop.core.errors import InvalidRequest
from taoloop.core.faults import FaultCode
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.acting import ActionStatus, ServedBy
from taoloop.plan.effects import (
    ApprovalDecision,
    ApprovalState,
    DecideApprovalRequest,
    EffectState,
    ListApprovalsRequest,
    ListEffectsRequest,
    ReconcileEffectRequest,
    ResolveEffectRequest,
)
from taoloop.testing.mock_tools import FaultProfile, MockTools
from taoloop.testing.tool_samples import read_samples
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.wire.clients import ActionClient, action_client
from taoloop.wire.server import serving
from tests.integration.action.test_action_service import CLOCK, settings_for, write_catalogue
from tests.unit.action.contracts import context, request

GUARDED = """\
  approval: {when: {"===": [{"var": "arguments.key"}, "dear"]}, expires_in: 1h}
  reconcile: {tool: look_up, took_place: {"===": [{"var": "status_code"}, 200]}}
"""


class Service:
    """The mock tools and a client of the service in front of them."""

    def __init__(self, mock: MockTools, client: ActionClient) -> None:
        self.mock = mock
        self.client = client

    async def decide(self, approval_id: str, decision: ApprovalDecision, by: str = "ana") -> ApprovalDecision:
        wanted = DecideApprovalRequest(approval_id=approval_id, decision=decision, decided_by=by)
        return (await self.client.decide_approval(wanted, context(CLOCK))).decision


@pytest.fixture
def profile() -> FaultProfile:
    return FaultProfile()


@pytest.fixture
async def service(tmp_path: Path, profile: FaultProfile) -> AsyncIterator[Service]:
    root = write_catalogue(tmp_path / "catalogue")
    path = root / "tools" / "change.yaml"
    path.write_text(path.read_text() + GUARDED)
    catalogue = read_catalogue(root)
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-action")
    grpc = GrpcSettings()
    async with MockTools(catalogue, read_samples(root, catalogue), profile) as mock:
        settings = settings_for(root, mock.bases)
        ledger = LedgerSettings(url=settings.ledger.url, settle_seconds=0.001)
        settings = settings.model_copy(update={"ledger": ledger})
        async with (
            action_component(settings, telemetry, CLOCK) as component,
            serving([component], grpc, "127.0.0.1:0", telemetry, CLOCK) as server,
            action_client(server.address, grpc, telemetry) as client,
        ):
            yield Service(mock, client)
    await telemetry.aclose()


async def test_leave_is_asked_given_and_used_once(service: Service) -> None:
    dear = request("change", arguments={"key": "dear"})
    asked = await service.client.execute(dear, context(CLOCK))
    assert (asked.status, list(service.mock.requests)) == (ActionStatus.APPROVAL_REQUIRED, [])
    assert asked.approval_expires_at is not None
    assert 3590 < (asked.approval_expires_at - CLOCK.now()).total_seconds() <= 3600
    (listed,) = (await service.client.list_approvals(ListApprovalsRequest(), context(CLOCK))).approvals
    assert (listed.approval_id, listed.state, listed.arguments) == (
        asked.approval_id,
        ApprovalState.OPEN,
        {"key": "dear"},
    )
    assert await service.decide(asked.approval_id, ApprovalDecision.APPROVED) is ApprovalDecision.APPROVED
    assert await service.decide(asked.approval_id, ApprovalDecision.REJECTED, "bob") is ApprovalDecision.APPROVED

    made = await service.client.execute(dear, context(CLOCK))
    again = await service.client.execute(dear, context(CLOCK))
    assert (made.status, again.served_by, len(service.mock.requests)) == (
        ActionStatus.SUCCEEDED,
        ServedBy.DUPLICATE,
        1,
    )
    (effect,) = (await service.client.list_effects(ListEffectsRequest(), context(CLOCK))).effects
    assert (effect.approval_id, effect.state) == (asked.approval_id, EffectState.SUCCEEDED)
    assert len(effect.idempotency_key) == 64


async def test_what_is_rejected_is_not_called(service: Service) -> None:
    dear = request("change", arguments={"key": "dear"})
    asked = await service.client.execute(dear, context(CLOCK))
    await service.decide(asked.approval_id, ApprovalDecision.REJECTED)
    refused = await service.client.execute(dear, context(CLOCK))
    assert refused.status is ActionStatus.REJECTED
    assert refused.fault is not None
    assert refused.fault.code == FaultCode.APPROVAL_REJECTED
    assert not service.mock.requests


async def test_approvals_are_listed_by_page(service: Service) -> None:
    for number in range(3):
        await service.client.execute(
            request("change", step_id=f"1.t{number}", arguments={"key": "dear"}), context(CLOCK)
        )
    first = await service.client.list_approvals(ListApprovalsRequest(page_size=2), context(CLOCK))
    rest = await service.client.list_approvals(
        ListApprovalsRequest(page_size=2, page_token=first.next_page_token), context(CLOCK)
    )
    steps = [approval.step_id for approval in (*first.approvals, *rest.approvals)]
    assert (steps, rest.next_page_token) == (["1.t2", "1.t1", "1.t0"], "")


async def test_a_decision_that_nobody_can_make_is_refused(service: Service) -> None:
    with pytest.raises(UnknownApproval):
        await service.decide("0" * 32, ApprovalDecision.APPROVED)
    with pytest.raises(InvalidRequest, match="lapsed"):
        await service.decide("0" * 32, ApprovalDecision.EXPIRED)
    with pytest.raises(InvalidRequest, match="decided_by"):
        await service.decide("0" * 32, ApprovalDecision.APPROVED, "")


async def test_what_is_said_with_a_decision_is_bounded(service: Service) -> None:
    said = DecideApprovalRequest(
        approval_id="a", decision=ApprovalDecision.APPROVED, decided_by="b" * 257, comment="c" * 4097
    )
    with pytest.raises(InvalidRequest) as refused:
        await service.client.decide_approval(said, context(CLOCK))
    assert [violation.field for violation in refused.value.violations] == ["comment", "decided_by"]

    word = ResolveEffectRequest(effect_id="e", took_place=True, resolved_by="b", comment="c" * 4097)
    with pytest.raises(InvalidRequest, match="comment must have at most 4096 characters, not 4097"):
        await service.client.resolve_effect(word, context(CLOCK))


async def test_the_reply_to_a_decision_names_who_made_the_one_that_stands(service: Service) -> None:
    waiting = await service.client.execute(request("change", arguments={"key": "dear"}), context(CLOCK))
    said = DecideApprovalRequest(approval_id=waiting.approval_id, decision=ApprovalDecision.APPROVED, decided_by="ana")
    first = await service.client.decide_approval(said, context(CLOCK))
    second = await service.client.decide_approval(replace(said, decided_by="bo"), context(CLOCK))

    assert [first.decided_by, second.decided_by] == ["ana", "ana"]


@pytest.mark.parametrize("profile", [FaultProfile(gateway_timeout_rate=1.0)])
async def test_an_unknown_effect_is_looked_up_on_demand(service: Service, profile: FaultProfile) -> None:
    lost = await service.client.execute(request("change"), context(CLOCK))
    assert lost.status is ActionStatus.OUTCOME_UNKNOWN
    wanted = ReconcileEffectRequest(effect_id=lost.effect_id)
    early = await service.client.reconcile_effect(wanted, context(CLOCK))
    assert early.effect is not None
    assert (early.effect.state, early.finding) == (
        EffectState.UNKNOWN,
        "The call may still be under way; look again later.",
    )
    with pytest.raises(UnknownEffect):
        await service.client.reconcile_effect(ReconcileEffectRequest(effect_id="0" * 32), context(CLOCK))


async def test_what_is_known_or_cannot_be_looked_up_is_told(service: Service) -> None:
    done = await service.client.execute(request("change"), context(CLOCK))
    with pytest.raises(EffectSettled):
        await service.client.reconcile_effect(ReconcileEffectRequest(effect_id=done.effect_id), context(CLOCK))
    assert NoLookUp.of("e", "t").code == "FAILED_PRECONDITION"
