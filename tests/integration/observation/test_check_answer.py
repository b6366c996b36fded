"""CheckAnswer over real gRPC, with a validator over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import dumps, loads
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.observation.app import observation_component
from taoloop.observation.settings import AnswerSettings, ObservationSettings, ValidatorSettings
from taoloop.plan.answering import (
    CheckAnswerRequest,
    CheckAnswerResponse,
    ClaimReason,
    Evidence,
    RecoveryMode,
    SemanticStatus,
    Validation,
    ValidationOrigin,
)
from taoloop.testing.chat.server import ChatServer, ScriptedReply
from taoloop.testing.ports import free_ports
from taoloop.wire.channel import connect
from taoloop.wire.clients import ObservationClient
from taoloop.wire.server import serving

CATALOGUE = """\
apiVersion: taoloop.dev/v1
kind: Catalogue
metadata: {name: none}
spec:
  bases: {meters: "http://127.0.0.1:9"}
  tools: tools/*.yaml
"""
CONTRACT = """\
apiVersion: taoloop.dev/v1
kind: Tool
metadata: {name: read_meter}
spec:
  description: The reading of one meter.
  use_when: the user asks for a reading
  effect: read
  parameters: {type: object, additionalProperties: false, properties: {}}
  response: {type: object}
  transport:
    http: {method: GET, url: "{{base.meters}}/meters"}
"""
EVIDENCE = (Evidence(step_id="1.t1", exposed=loads('{"total":1234.50,"currency":"USD","paid_on":"2026-05-20"}')),)
GROUNDED = CheckAnswerRequest(
    text="You paid $1,234.5 on May 20.", evidence=EVIDENCE, locale="en-US", execution_permitted=True
)
UNGROUNDED = CheckAnswerRequest(text="You paid $1,235.", evidence=EVIDENCE, locale="en-US", execution_permitted=True)
VALID = dumps({"status": "valid", "reasonCodes": [], "unsupportedClaims": [], "missingEvidenceIds": [], "summary": ""})


@dataclass
class Running:
    client: ObservationClient
    telemetry: Telemetry
    spans: InMemorySpanExporter

    async def check(self, request: CheckAnswerRequest, seconds: float = 20.0) -> CheckAnswerResponse:
        return await self.client.check_answer(request, CallContext(deadline=Deadline.after(seconds, SystemClock())))


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "read_meter.yaml").write_text(CONTRACT, encoding="utf-8")
    (tmp_path / "catalogue.yaml").write_text(CATALOGUE, encoding="utf-8")
    return tmp_path


@asynccontextmanager
async def running(catalogue: Path, validator: ValidatorSettings | None = None) -> AsyncIterator[Running]:
    settings = ObservationSettings(
        catalogue=catalogue,
        observation_answer=AnswerSettings(max_characters=5000, max_claims=50, max_evidence_bytes=20_000),
        observation_validator=validator or ValidatorSettings(),
    )
    spans = InMemorySpanExporter()
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-observation", exporter=spans)
    async with (
        observation_component(settings, telemetry, SystemClock()) as component,
        serving([component], settings.grpc, "127.0.0.1:0", telemetry, SystemClock(), grace_seconds=1.0) as server,
        connect(server.address, settings.grpc, telemetry) as channel,
    ):
        yield Running(ObservationClient(channel), telemetry, spans)
    await telemetry.aclose()


@asynccontextmanager
async def validated(catalogue: Path, *replies: ScriptedReply) -> AsyncIterator[tuple[Running, ChatServer]]:
    async with ChatServer(replies) as server:
        settings = ValidatorSettings(url=server.url, model="small", timeout_seconds=2.0)
        async with running(catalogue, settings) as service:
            yield service, server


def validation(response: CheckAnswerResponse) -> Validation:
    assert response.validation is not None
    return response.validation


async def test_claims_come_with_their_places_in_the_text_and_in_the_evidence(catalogue: Path) -> None:
    async with running(catalogue) as service:
        response = await service.check(GROUNDED)
        shown = service.telemetry.metrics.exposition()

    assert (response.grounded, response.execution_permitted) == (True, True)
    assert [(one.text, one.start, one.step_id, one.pointer) for one in response.claims] == [
        ("$1,234.5", 9, "1.t1", "/total"),
        ("May 20", 21, "1.t1", "/paid_on"),
    ]
    assert all(GROUNDED.text[one.start : one.end] == one.text for one in response.claims)
    assert validation(response) == Validation(origin=ValidationOrigin.DETERMINISTIC)
    assert 'taoloop_answers_checked_total{grounded="true",origin="deterministic"} 1.0' in shown
    assert 'taoloop_answer_claims_total{kind="money",reason="same_value"} 1.0' in shown
    assert "check answer" in {span.name for span in service.spans.get_finished_spans()}


async def test_an_unsupported_value_comes_with_the_nearest_one(catalogue: Path) -> None:
    async with running(catalogue) as service:
        response = await service.check(UNGROUNDED)

    assert (response.grounded, response.execution_permitted) == (False, False)
    (claim,) = response.claims
    assert (claim.supported, claim.reason, claim.candidate, claim.candidate_pointer) == (
        False,
        ClaimReason.NOT_FOUND,
        "1234.50",
        "/total",
    )


@pytest.mark.parametrize(
    ("request_", "code", "limit"),
    [
        (CheckAnswerRequest(text="x" * 5001), "ANSWER_TOO_LARGE", "answer_too_large"),
        (CheckAnswerRequest(text="7 " * 60), "ANSWER_TOO_LARGE", "answer_too_large"),
        (
            CheckAnswerRequest(text="7", evidence=(Evidence(step_id="1.t1", exposed="y" * 20_001),)),
            "EVIDENCE_TOO_LARGE",
            "evidence_too_large",
        ),
    ],
    ids=["text", "claims", "evidence"],
)
async def test_above_a_limit_nothing_is_grounded(
    catalogue: Path, request_: CheckAnswerRequest, code: str, limit: str
) -> None:
    async with running(catalogue) as service:
        response = await service.check(request_)
        shown = service.telemetry.metrics.exposition()

    assert response.fault is not None
    assert (response.fault.code, response.fault.stage, response.grounded) == (code, "answer", False)
    assert f'taoloop_answer_refused_total{{limit="{limit}"}} 1.0' in shown


async def test_a_valid_verdict_keeps_the_answer(catalogue: Path) -> None:
    async with validated(catalogue, ScriptedReply(text=VALID)) as (service, server):
        response = await service.check(GROUNDED)
        shown = service.telemetry.metrics.exposition()

    assert (response.grounded, response.execution_permitted) == (True, True)
    assert validation(response).origin is ValidationOrigin.LLM_SEMANTIC
    assert validation(response).semantic_validation_attempts == 1
    assert 'taoloop_model_calls_total{outcome="replied",purpose="validator"} 1.0' in shown
    assert 'taoloop_model_tokens_total{direction="input",purpose="validator"} 12.0' in shown
    assert "response_format" in server.requests[0].body
    assert "chat small" in {span.name for span in service.spans.get_finished_spans()}


async def test_an_objection_makes_the_answer_ungrounded(catalogue: Path) -> None:
    objection = dumps(
        {
            "status": "invalid",
            "reasonCodes": ["misleading"],
            "unsupportedClaims": ["You paid"],
            "missingEvidenceIds": ["1.t1"],
            "summary": "Nothing says who paid.",
        }
    )
    async with validated(catalogue, ScriptedReply(text=objection)) as (service, _):
        response = await service.check(GROUNDED)

    assert (response.grounded, response.execution_permitted) == (False, False)
    verdict = validation(response).verdict
    assert verdict is not None
    assert (verdict.status, verdict.unsupported_claims) == (SemanticStatus.INVALID, ("You paid",))


async def test_an_unsupported_value_settles_it_without_the_validator(catalogue: Path) -> None:
    async with validated(catalogue, ScriptedReply(text=VALID)) as (service, server):
        response = await service.check(UNGROUNDED)
        assert not server.requests

    assert not response.grounded
    assert validation(response).origin is ValidationOrigin.DETERMINISTIC


async def test_a_reply_out_of_form_is_corrected_once_and_the_history_is_kept(catalogue: Path) -> None:
    async with validated(catalogue, ScriptedReply(text="It is fine."), ScriptedReply(text=VALID)) as (service, server):
        response = await service.check(GROUNDED)
        messages = server.requests[1].body["messages"]

    assert response.grounded
    assert [one.error_code for one in validation(response).attempts] == ["invalid_json", ""]
    assert isinstance(messages, list)
    assert "invalid_json" in dumps(messages[-1])
    assert "It is fine." not in dumps(messages)


async def test_corrections_come_to_an_end(catalogue: Path) -> None:
    async with validated(catalogue, ScriptedReply(text="{}")) as (service, server):
        response = await service.check(GROUNDED)
        assert len(server.requests) == 2

    assert validation(response).validation_error_code == "correction_exhausted"
    assert (response.grounded, response.execution_permitted) == (True, False)


async def test_a_validator_that_is_away_never_widens_permission(catalogue: Path) -> None:
    settings = ValidatorSettings(url=f"http://127.0.0.1:{free_ports(1)[0]}/v1")
    async with running(catalogue, settings) as service:
        response = await service.check(GROUNDED)
        shown = service.telemetry.metrics.exposition()

    assert (response.grounded, response.execution_permitted) == (True, False)
    assert validation(response).origin is ValidationOrigin.DETERMINISTIC_GROUNDED_FALLBACK
    assert validation(response).recovery_mode is RecoveryMode.MANUAL_REVIEW
    assert validation(response).validation_error_code == "provider_error"
    assert 'taoloop_validation_attempts_total{outcome="provider_error"} 1.0' in shown


async def test_a_validator_that_is_late_is_not_asked_again(catalogue: Path) -> None:
    async with validated(catalogue, ScriptedReply(text=VALID, delay_seconds=5.0)) as (service, server):
        response = await service.check(GROUNDED, seconds=1.0)
        assert len(server.requests) <= 1

    assert validation(response).validation_error_code == "timeout"
    assert not response.execution_permitted


async def test_neither_the_text_nor_the_evidence_nor_a_reply_is_in_the_spans(catalogue: Path) -> None:
    async with validated(catalogue, ScriptedReply(text="secret words")) as (service, _):
        await service.check(GROUNDED)
        told = str([(span.name, dict(span.attributes or {})) for span in service.spans.get_finished_spans()])

    assert not [word for word in ("1,234", "paid", "secret words") if word in told]
