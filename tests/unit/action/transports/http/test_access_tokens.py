"""Rules by which access tokens are fetched, shared and dropped."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from taoloop.action.ports import TransportFault
from taoloop.action.transports.http.access_tokens import AccessToken, AccessTokens, read_token, token_fault
from taoloop.core.faults import FaultCode
from taoloop.testing.clock import FakeClock

KEY = ("orders", "https://auth.test/token", "client", "read")


class Endpoint:
    """Counts and answers requests for tokens."""

    def __init__(self, lifetime_seconds: float = 100.0) -> None:
        self.asked = 0
        self.lifetime_seconds = lifetime_seconds
        self.opened = asyncio.Event()
        self.opened.set()
        self.fault: TransportFault | None = None

    async def fetch(self) -> AccessToken:
        self.asked += 1
        await asyncio.sleep(0)
        await self.opened.wait()
        if self.fault is not None:
            raise self.fault
        return AccessToken(f"token-{self.asked}", self.lifetime_seconds)


async def test_a_token_is_kept_until_shortly_before_its_end() -> None:
    clock, endpoint = FakeClock(), Endpoint(lifetime_seconds=100.0)
    tokens = AccessTokens(clock)
    assert await tokens.token(KEY, endpoint.fetch) == "token-1"
    clock.advance(79.9)
    assert await tokens.token(KEY, endpoint.fetch) == "token-1"
    assert repr(tokens) == "<AccessTokens 1 fresh of 1>"
    clock.advance(0.2)
    assert repr(tokens) == "<AccessTokens 0 fresh of 1>"
    assert await tokens.token(KEY, endpoint.fetch) == "token-2"


async def test_each_scope_has_a_token_of_its_own() -> None:
    tokens, endpoint = AccessTokens(FakeClock()), Endpoint()
    assert await tokens.token(KEY, endpoint.fetch) != await tokens.token((*KEY[:3], "write"), endpoint.fetch)


async def gathered(tokens: AccessTokens, fetch: Callable[[], Awaitable[AccessToken]]) -> list[object]:
    return await asyncio.gather(*(tokens.token(KEY, fetch) for _ in range(50)), return_exceptions=True)


async def test_one_request_serves_all_who_wait() -> None:
    tokens, endpoint = AccessTokens(FakeClock()), Endpoint()
    assert await gathered(tokens, endpoint.fetch) == ["token-1"] * 50
    assert endpoint.asked == 1


async def test_a_failure_is_shared_by_all_who_waited_and_by_nobody_later() -> None:
    tokens, endpoint = AccessTokens(FakeClock()), Endpoint()
    endpoint.fault = token_fault("it answered 503", is_retriable=True)
    got = await gathered(tokens, endpoint.fetch)
    assert {(type(each), str(each), each.is_retriable) for each in got} == {  # type: ignore[attr-defined]
        (TransportFault, "The token endpoint gave no access token: it answered 503.", True)
    }
    assert endpoint.asked == 1
    endpoint.fault = None
    assert await tokens.token(KEY, endpoint.fetch) == "token-2"


async def test_a_cancelled_fetch_leaves_the_next_waiter_to_fetch() -> None:
    tokens, endpoint = AccessTokens(FakeClock()), Endpoint()
    endpoint.opened.clear()
    async with asyncio.TaskGroup() as group:
        first = group.create_task(tokens.token(KEY, endpoint.fetch))
        second = group.create_task(tokens.token(KEY, endpoint.fetch))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        endpoint.opened.set()
    assert second.result() == "token-2"


async def test_a_refused_token_is_dropped_and_a_newer_one_is_not() -> None:
    tokens, endpoint = AccessTokens(FakeClock()), Endpoint()
    tokens.forget(KEY, "token-1")
    await tokens.token(KEY, endpoint.fetch)
    tokens.forget(KEY, "older")
    assert await tokens.token(KEY, endpoint.fetch) == "token-1"
    tokens.forget(KEY, "token-1")
    assert await tokens.token(KEY, endpoint.fetch) == "token-2"


@pytest.mark.parametrize(
    ("body", "lifetime"),
    [
        (b'{"access_token":"t","token_type":"bearer","expires_in":60}', 60.0),
        (b'{"access_token":"t","expires_in":59.5}', 59.5),
        (b'{"access_token":"t","expires_in":-1}', 0.0),
        (b'{"access_token":"t","expires_in":1e30}', 86_400.0),
        (b'{"access_token":"t","expires_in":"60"}', 300.0),
        (b'{"access_token":"t","expires_in":true}', 300.0),
        (b'{"access_token":"t"}', 300.0),
    ],
)
def test_a_token_is_read_with_its_lifetime(body: bytes, lifetime: float) -> None:
    token = read_token(200, body)
    assert (token.text, token.lifetime_seconds) == ("t", lifetime)
    assert "'t'" not in repr(token)


@pytest.mark.parametrize(
    ("status", "body", "cause", "is_retriable"),
    [
        (401, b'{"error":"invalid_client"}', "it answered 401 (invalid_client)", False),
        (400, b'{"error":"s3cret"}', "it answered 400", False),
        (503, b"<html>", "it answered 503", True),
        (429, b"", "it answered 429", True),
        (302, b"", "it answered 302", False),
        (200, b"", "its answer holds no token", False),
        (200, b"[]", "its answer holds no token", False),
        (200, b'{"access_token":""}', "its answer holds no token", False),
        (200, b'{"access_token":"a\\nb"}', "its answer holds no token", False),
        (200, b'{"access_token":"t","token_type":"mac"}', "its token is no bearer token", False),
        (200, b'{"access_token":"t","token_type":1}', "its token is no bearer token", False),
    ],
)
def test_an_answer_without_a_token_is_a_clear_fault(status: int, body: bytes, cause: str, is_retriable: bool) -> None:
    with pytest.raises(TransportFault) as refused:
        read_token(status, body)
    assert refused.value.code == FaultCode.CREDENTIAL_REFUSED
    assert refused.value.message == f"The token endpoint gave no access token: {cause}."
    assert refused.value.is_retriable is is_retriable
    assert not refused.value.may_have_left
