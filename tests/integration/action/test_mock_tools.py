"""The mock server as a client meets it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import aiohttp
import pytest

from taoloop.core import exact_json
from taoloop.testing.mock_tools import PROFILES, FaultProfile, MockTools, ScriptedReply
from taoloop.testing.tool_samples import ToolSample
from taoloop.tools.loading.samples import Sample
from tests.unit.action.contracts import catalogue

ID = {"X-Request-ID": "t1"}
JSON = {"Content-Type": "application/json"}
SAMPLES = {
    "look_up": (
        ToolSample(Sample({"key": "one"}, 200, JSON, {"id": 12345678901234567, "price": Decimal("0.10")})),
        ToolSample(Sample({"key": "none"}, 404, JSON, {"error": "no such thing"})),
        ToolSample(Sample({"key": "any"}, 200, JSON, {"key": "{{arguments.key}}", "is": "{{arguments.size}}"}), True),
    ),
    "change": (ToolSample(Sample({"key": "one"}, 200, JSON, {"ok": True})),),
}


async def get(mock: MockTools, path: str, headers: dict[str, str] = ID) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(mock.base_url + path, headers=headers) as response:
        return response.status, await response.text()


async def test_a_sample_with_equal_arguments_answers_with_its_numbers_as_they_are() -> None:
    async with MockTools(catalogue(), SAMPLES) as mock:
        assert await get(mock, "/things/one") == (200, '{"id":12345678901234567,"price":0.10}')
        assert await get(mock, "/things/none") == (404, '{"error":"no such thing"}')


async def test_the_default_sample_answers_other_arguments_and_quotes_them() -> None:
    async with MockTools(catalogue(), SAMPLES) as mock:
        assert await get(mock, "/things/abc?size=0.10") == (200, '{"key":"abc","is":0.10}')


async def test_a_request_needs_an_id() -> None:
    async with MockTools(catalogue(), SAMPLES) as mock:
        status, text = await get(mock, "/things/one", {})
        assert (status, mock.calls.total()) == (400, 0)
        assert "X-Request-ID" in text


async def test_parameters_are_checked_and_every_violation_told() -> None:
    async with MockTools(catalogue(), SAMPLES) as mock:
        status, text = await get(mock, "/things/a?colour=blue")
        found: Any = exact_json.loads(text)
        assert (status, mock.calls.total()) == (422, 0)
        assert {detail["pointer"] for detail in found["details"]} == {"/key", "/colour"}


async def test_unknown_paths_missing_samples_and_broken_bodies_are_refused() -> None:
    async with MockTools(catalogue(), SAMPLES) as mock, aiohttp.ClientSession(mock.base_url, headers=ID) as session:
        assert (await get(mock, "/nothing"))[0] == 404
        async with session.post("/things/other/changes") as response:
            assert response.status == 404
        async with session.post("/things/one/changes", data=b"{") as response:
            assert response.status == 400


async def test_calls_are_counted_and_requests_remembered() -> None:
    async with MockTools(catalogue(), SAMPLES) as mock:
        await get(mock, "/things/one?size=1", {**ID, "Traceparent": "tp"})
        assert mock.calls == {"look_up": 1}
        (seen,) = mock.requests
        assert (seen.tool, seen.method, seen.path) == ("look_up", "GET", "/things/one?size=1")
        assert (seen.headers["traceparent"], seen.arguments) == ("tp", {"key": "one", "size": 1})


async def statuses(profile: FaultProfile, seed: int, calls: int = 300) -> list[str]:
    async with MockTools(catalogue(), SAMPLES, profile, seed=seed) as mock:
        found = []
        for _ in range(calls):
            status, text = await get(mock, "/things/one")
            found.append("broken" if status == 200 and not text.endswith("}") else str(status))
        return found


async def test_the_flaky_profile_fails_in_its_shares_and_a_seed_repeats_it() -> None:
    first = await statuses(PROFILES["flaky"], seed=7)
    assert await statuses(PROFILES["flaky"], seed=7, calls=50) == first[:50]
    assert first.count("200") == pytest.approx(210, abs=30)
    assert first.count("504") == pytest.approx(60, abs=25)
    assert first.count("broken") == pytest.approx(30, abs=18)


def test_rates_are_shares() -> None:
    with pytest.raises(ValueError, match="shares"):
        FaultProfile(gateway_timeout_rate=0.8, broken_json_rate=0.3)


async def test_all_bases_of_the_catalogue_are_played() -> None:
    async with MockTools(catalogue(), SAMPLES) as mock:
        assert mock.bases == {"things": mock.base_url}


async def test_a_scripted_tool_answers_as_told_until_its_samples_play_again() -> None:
    async with MockTools(catalogue(), SAMPLES) as mock:
        mock.script("look_up", ScriptedReply(status=503, body={"error": "away"}))
        assert await get(mock, "/things/one") == (503, '{"error":"away"}')
        mock.script("look_up", None)
        assert (await get(mock, "/things/one"))[0] == 200
        assert mock.calls == {"look_up": 2}


async def test_a_hanging_tool_answers_nothing_and_does_not_hold_up_others() -> None:
    async with MockTools(catalogue(), SAMPLES) as mock, aiohttp.ClientSession(mock.base_url, headers=ID) as session:
        mock.script("look_up", ScriptedReply(is_hanging=True))
        with pytest.raises(TimeoutError):
            await session.get("/things/one", timeout=aiohttp.ClientTimeout(total=0.1))
        async with session.post("/things/one/changes") as response:
            assert response.status == 200
