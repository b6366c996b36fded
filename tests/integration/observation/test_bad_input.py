"""What a hostile caller or tool may send: a verdict or a refusal in bounded time, while health is answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
import pytest_asyncio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from taoloop.api.v1 import action_pb2, observation_pb2_grpc, types_pb2
from taoloop.api.v1 import observation_pb2 as pb
from taoloop.core.clock import SystemClock
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.observation.app import observation_component
from taoloop.observation.settings import ObservationSettings
from taoloop.wire.server import serving

CATALOGUE = Path("examples/customer-service")
WEATHER = '{"city":"Beijing","date":"2026-03-11","code":"CLD","text_zh":"多云","low_c":3.0,"high_c":11.5}'
ANSWER_SECONDS = 30.0
"""How long the worst call may take here, where other tests may share the processor; alone it is a fraction of that."""

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Attacked:
    """A running service and what a stranger calls it by."""

    stub: Any
    health: Any

    async def observe(self, request: pb.ObserveRequest, seconds: float = ANSWER_SECONDS) -> pb.ObservationResult:
        reply = await self.stub.Observe(request, timeout=seconds)
        result: pb.ObservationResult = reply.result
        return result

    async def observe_batch(self, items: list[pb.ObserveRequest]) -> list[pb.ObservationResult]:
        reply = await self.stub.ObserveBatch(pb.ObserveBatchRequest(items=items), timeout=ANSWER_SECONDS)
        return list(reply.results)

    async def refused(self, request: pb.ObserveRequest) -> grpc.aio.AioRpcError:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.observe(request)
        return caught.value

    async def is_well(self) -> bool:
        reply = await self.health.Check(health_pb2.HealthCheckRequest(), timeout=ANSWER_SECONDS)
        return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)


@asynccontextmanager
async def attacked(**changes: Any) -> AsyncIterator[Attacked]:
    settings = ObservationSettings(catalogue=CATALOGUE, **changes)
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-observation")
    unlimited = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
    async with (
        observation_component(settings, telemetry, SystemClock()) as component,
        serving([component], settings.grpc, "127.0.0.1:0", telemetry, SystemClock(), grace_seconds=1.0) as server,
        grpc.aio.insecure_channel(server.address, options=unlimited) as channel,
    ):
        yield Attacked(observation_pb2_grpc.ObservationServiceStub(channel), health_pb2_grpc.HealthStub(channel))
    await telemetry.aclose()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def service() -> AsyncIterator[Attacked]:
    async with attacked() as running:
        yield running


def result_of(text: str | None = WEATHER, /, **fields: Any) -> action_pb2.ActionResult:
    given: dict[str, Any] = {"status": action_pb2.ACTION_STATUS_SUCCEEDED, "status_code": 200, **fields}
    if text is not None:
        given["parsed_json"] = text
    return action_pb2.ActionResult(step_id="1.t1", tool="get_weather", trust=types_pb2.TRUST_TRUSTED, **given)


def request_of(
    body: str | None = WEATHER, /, *, result: dict[str, Any] | None = None, **fields: Any
) -> pb.ObserveRequest:
    return pb.ObserveRequest(result=result_of(body, **(result or {})), **fields)


NO_JSON = {
    "cut off": "{",
    "nan": "NaN",
    "infinity": "[-Infinity]",
    "a key twice": '{"a":1,"a":2}',
    "lone surrogate": '"\\ud800"',
    "depth 10 000": "[" * 10_000 + "]" * 10_000,
    "objects 10 000 deep": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "only brackets": "[" * 900_000,
    "5 000 digits": "9" * 5_000,
    "byte-order mark": "\ufeff{}",
    "blank": " ",
    "two values": "{}{}",
}
UNUSUAL = {
    "400 digits": "9" * 400,
    "1e400": "1e400",
    "huge exponent": "1e999999999999999999",
    "tiny exponent": "1e-999999999999",
    "a million decimals": "0." + "1" * 1_000_000,
    "null": "null",
    "every plane": json.dumps([chr(plane * 0x10000 + 0x42) for plane in range(17)], ensure_ascii=False),
    "nul": '"\\u0000"',
    "half a million items": "[" + ",".join("1" * 500_000) + "]",
    "90 000 members": "{" + ",".join(f'"/k{number}":1' for number in range(80_000)) + "}",
}


@pytest.mark.parametrize("field", ["result.parsed_json", "arguments_json", "expect_json", "output_schema_json"])
@pytest.mark.parametrize("text", NO_JSON.values(), ids=NO_JSON)
async def test_what_is_no_json_is_refused_by_its_field(service: Attacked, field: str, text: str) -> None:
    fields: dict[str, Any] = {} if field == "result.parsed_json" else {field: text}
    request = request_of(**fields) if fields else request_of(text)

    error = await service.refused(request)

    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert field in str(error.details())
    assert len(str(error.details())) < 300


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL)
async def test_unusual_json_is_judged_wherever_it_stands(service: Attacked, text: str) -> None:
    assert not (await service.observe(request_of(text))).valid
    assert (await service.observe(request_of(arguments_json=text))).valid
    for expected in (request_of(expect_json=text), request_of(output_schema_json=text)):
        verdict = await service.observe(expected)
        assert verdict.valid or verdict.fault.code == "CONSISTENCY_BROKEN"
        assert len(verdict.failures) <= 22
    assert await service.is_well()


async def test_array_of_10_mb_is_too_large_for_a_message_and_for_a_verdict(service: Attacked) -> None:
    body = "[" + ",".join("1" * 5_200_000) + "]"

    error = await service.refused(request_of(body))

    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    async with attacked(grpc=GrpcSettings(max_message_bytes=16 << 20)) as roomy:
        verdict = await roomy.observe(request_of(body))
        assert verdict.fault.code == "RESPONSE_TOO_LARGE"
        assert verdict.failures[0].actual_json == str(len(body))
    assert await service.is_well()


@pytest.mark.timeout(120)
async def test_array_of_10_mb_that_is_let_in_is_judged_while_health_is_answered() -> None:
    body = "[" + ",".join("1" * 5_200_000) + "]"
    async with attacked(grpc=GrpcSettings(max_message_bytes=16 << 20), observation_max_body_bytes=16 << 20) as roomy:
        judging = asyncio.create_task(roomy.observe(request_of(body), 40.0), name="judging")
        assert await roomy.is_well()
        verdict = await judging
    assert verdict.fault.code == "SCHEMA_VIOLATION"
    assert len(verdict.SerializeToString()) < 5_000


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"raw": b"\xff\xfe\x00{" * 100}, "RESPONSE_MALFORMED"),
        ({"raw": b"<html>token=abc"}, "RESPONSE_MALFORMED"),
        ({"raw": b"[" * (7 << 20)}, "RESPONSE_TOO_LARGE"),
        ({"raw": b""}, "EMPTY_RESULT"),
        ({}, "EMPTY_RESULT"),
        ({"status_code": 999}, "STATUS_FAILED"),
        ({"status_code": -1}, "STATUS_FAILED"),
        ({"body": action_pb2.Body(size_bytes=2**62)}, "RESPONSE_TOO_LARGE"),
        ({"body": action_pb2.Body(truncated=True)}, "RESPONSE_INCOMPLETE"),
        ({"served_by_tool": "no_such_tool"}, "UNKNOWN_TOOL"),
        ({"fault": types_pb2.Fault(code="TOOL_TIMEOUT", stage="action", message="late")}, "TOOL_TIMEOUT"),
    ],
)
async def test_contradictory_envelope_ends_in_a_fault(service: Attacked, fields: dict[str, Any], code: str) -> None:
    verdict = await service.observe(request_of(None, result=fields))

    assert (verdict.valid, verdict.fault.code) == (False, code)
    assert "token" not in str(verdict)


@pytest.mark.parametrize(
    "request_",
    [
        pb.ObserveRequest(),
        request_of(result={"status": 99}),
        request_of(result={"status": 0}),
        request_of(projection="x" * 100_000),
        request_of(result={"fault": types_pb2.Fault(code="X", expected_json="{")}),
    ],
    ids=["no result", "unknown status", "no status", "unknown projection", "fault without json"],
)
async def test_request_out_of_form_is_refused_as_such(service: Attacked, request_: pb.ObserveRequest) -> None:
    assert (await service.refused(request_)).code() is grpc.StatusCode.INVALID_ARGUMENT


def _doubling(keyword: str) -> Any:
    defs: Any = {f"s{n}": {keyword: [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(40)}
    return {"$ref": "#/$defs/s0", "$defs": {**defs, "s40": {"type": "string"}}}


HOSTILE_SCHEMAS: dict[str, Any] = {
    "remote reference": {"$ref": "http://127.0.0.1:9/schema"},
    "reference to a file": {"$ref": "file:///etc/passwd"},
    "itself": {"$ref": "#"},
    "2^40 by allOf": _doubling("allOf"),
    "2^40 by anyOf": _doubling("anyOf"),
    "5 000 patterns": {"properties": {f"p{n}": {"pattern": f"(\\w{{50}}|{n})+"} for n in range(5_000)}},
    "40 patterns": {"properties": {f"p{n}": {"pattern": f"(\\w{{50}}|{n})+"} for n in range(40)}},
    "a pattern too large": {"additionalProperties": {"pattern": "(((a{50}){50}){50}){50}"}},
    "40 000 members": {"properties": {f"p{n}": True for n in range(40_000)}},
    "a wrong type": {"type": "strin"},
    "a list": [1, 2],
    "backtracking patterns": {"additionalProperties": {"pattern": "^(a+)+$"}},
}


@pytest.mark.parametrize("schema", HOSTILE_SCHEMAS.values(), ids=HOSTILE_SCHEMAS)
async def test_hostile_output_schema_breaks_the_consistency_and_nothing_else(service: Attacked, schema: Any) -> None:
    verdict = await service.observe(request_of(output_schema_json=json.dumps(schema)))

    assert verdict.fault.code == "CONSISTENCY_BROKEN"
    assert all(len(failure.message) < 500 for failure in verdict.failures)
    assert await service.is_well()


@pytest.mark.parametrize("field", ["arguments_json", "expect_json", "output_schema_json"])
async def test_what_comes_with_a_result_and_is_larger_than_a_body_is_refused_by_its_field(
    service: Attacked, field: str
) -> None:
    request = request_of()
    setattr(request, field, "[" + ",".join("1" * 600_000) + "]")

    error = await service.refused(request)

    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert f"{field} has 1200001 characters" in str(error.details())


async def test_many_distinct_schemas_are_forgotten_again(service: Attacked) -> None:
    schemas = [json.dumps({"properties": {f"p{n}_{m}": {"pattern": f"{n}"} for m in range(20)}}) for n in range(256)]

    verdicts = await service.observe_batch([request_of(output_schema_json=schema) for schema in schemas])

    assert [verdict.valid for verdict in verdicts] == [True] * 256
    assert await service.is_well()


async def test_batch_of_256_bodies_as_large_as_a_message_holds_gives_way_to_others(service: Attacked) -> None:
    body = "[" + ",".join("1" * 15_500) + "]"
    answers = 0

    async with asyncio.TaskGroup() as group:
        judging = group.create_task(service.observe_batch([request_of(body)] * 256), name="judging")
        while not judging.done():
            assert await service.is_well()
            answers += 1

    assert len(judging.result()) == 256
    assert answers > 4  # without a pause it would be two


async def test_batch_with_an_item_that_is_no_json_names_it(service: Attacked) -> None:
    batch = pb.ObserveBatchRequest(items=[request_of(), request_of("{"), request_of()])

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await service.stub.ObserveBatch(batch, timeout=ANSWER_SECONDS)

    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "Item 1" in str(caught.value.details())


HOSTILE_ANSWERS = {
    "only digits": "1" * 32_000,
    "numbers": "1 " * 16_000,
    "numerals": "一千二百三十亿" * 4_000,
    "quotation marks": "“" * 32_000,
    "addresses": "a@" * 16_000,
    "dates": "1/1/1/1/" * 4_000,
    "separators": "1," * 16_000,
    "capitals": "Aa " * 10_000,
    "marks": "e" + "\u0301" * 31_000,
    "nul": "\x00" * 30_000,
    "exponents": "1e999999999 and 1E-99999999999",
    "too long": "1 " * 3_000_000,
}


@pytest.mark.parametrize("text", HOSTILE_ANSWERS.values(), ids=HOSTILE_ANSWERS)
async def test_hostile_answer_is_never_grounded_by_what_is_not_there(service: Attacked, text: str) -> None:
    evidence = [pb.Evidence(step_id="1.t1", exposed_json='{"n":17,"e":1e999999999}')]

    reply = await service.stub.CheckAnswer(pb.CheckAnswerRequest(text=text, evidence=evidence), timeout=ANSWER_SECONDS)

    assert not any(claim.supported for claim in reply.claims) or "1e999999999" in text
    assert not reply.execution_permitted
    assert await service.is_well()


@pytest.mark.parametrize("text", [NO_JSON["nan"], NO_JSON["depth 10 000"], NO_JSON["a key twice"]])
async def test_evidence_that_is_no_json_is_refused_by_its_field(service: Attacked, text: str) -> None:
    request = pb.CheckAnswerRequest(text="It is 5.", evidence=[pb.Evidence(step_id="1.t1", exposed_json=text)])

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await service.stub.CheckAnswer(request, timeout=ANSWER_SECONDS)

    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "evidence[0].exposed_json" in str(caught.value.details())


@pytest.mark.parametrize(
    "evidence",
    [
        "[" + ",".join(["17"] * 250_000) + "]",
        json.dumps([f"A{n} 4{n},000" for n in range(12_000)]),
        '"' + "1" * 400_000 + '"',
    ],
    ids=["numbers", "texts", "digits"],
)
async def test_more_evidence_than_is_read_is_a_verdict(service: Attacked, evidence: str) -> None:
    request = pb.CheckAnswerRequest(text="It is 18.", evidence=[pb.Evidence(step_id="1.t1", exposed_json=evidence)])

    reply = await service.stub.CheckAnswer(request, timeout=ANSWER_SECONDS)

    assert not reply.grounded
    assert await service.is_well()
