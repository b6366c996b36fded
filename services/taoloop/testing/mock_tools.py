"""A real HTTP server that plays every tool of a catalogue from its samples, faults included."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from aiohttp import web

from taoloop.core import exact_json
from taoloop.core.exact_json import ABSENT, Json, JsonSyntaxError, JsonValue
from taoloop.testing.tool_routes import SentCall, ToolRoute, match, routes_of
from taoloop.testing.tool_samples import ToolSample, choose_sample
from taoloop.tools.catalogue import Catalogue

REMEMBERED_REQUESTS: Final = 1000
"""How many received requests are kept for a test to look at."""

_MAX_BODY_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultProfile:
    """How often a call that is in order gets a bad answer; the rest is answered well.

    Attributes:
        gateway_timeout_rate: Share of calls that get 504, 0 to 1.
        broken_json_rate: Share of calls that get 200 with JSON that breaks off, 0 to 1.
        latency_seconds: Pause before every answer.
    """

    gateway_timeout_rate: float = 0.0
    broken_json_rate: float = 0.0
    latency_seconds: float = 0.0

    def __post_init__(self) -> None:
        """Refuse rates that are no shares."""
        rates = (self.gateway_timeout_rate, self.broken_json_rate)
        if min(rates) < 0 or sum(rates) > 1:
            raise ValueError("the rates of a fault profile are shares, and together at most 1")


PROFILES: Final[Mapping[str, FaultProfile]] = {
    "ok": FaultProfile(),
    "flaky": FaultProfile(gateway_timeout_rate=0.2, broken_json_rate=0.1),
}
"""The profiles that have a name: `ok` always answers well; `flaky` does in 70 % of the calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """What one tool answers in place of its samples.

    Attributes:
        status: The HTTP status.
        body: The JSON body.
        is_hanging: Whether nothing is ever answered; the connection stays open until the caller leaves.
    """

    status: int = 200
    body: JsonValue = None
    is_hanging: bool = False


class _Play(StrEnum):
    WELL = "well"
    GATEWAY_TIMEOUT = "gateway_timeout"
    BROKEN_JSON = "broken_json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedRequest:
    """One request as it came in."""

    tool: str
    """The tool it was for; empty when it fitted none."""
    method: str
    path: str
    """Encoded, with the query."""
    headers: Mapping[str, str]
    """Lower-case names."""
    arguments: Mapping[str, JsonValue]


class MockTools:
    """Serves the tools of a catalogue over their contracts' own methods and paths.

    A request without `X-Request-ID` gets 400, an unknown path 404, arguments that break the contract's schema
    422 with every violation. Then the fault profile decides; a good answer is the sample whose arguments are
    equal, else `default.json`, else 404.

    ```python
    async with MockTools(catalogue, read_samples(root, catalogue), PROFILES["flaky"], seed=1) as mock:
        settings = ActionSettings(bases=mock.bases)
    ```

    Args:
        catalogue: The tools.
        samples: Tool name → recorded replies.
        profile: How often calls fail.
        seed: Makes the sequence of faults repeatable; None takes a new one.
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one.

    Attributes:
        calls: Tool name → calls that were in order, however they were answered.
        requests: The latest requests, oldest first.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        samples: Mapping[str, Sequence[ToolSample]],
        profile: FaultProfile = PROFILES["ok"],
        *,
        seed: int | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self._routes = routes_of(catalogue)
        self._base_names = tuple(catalogue.bases)
        self._samples = samples
        self._profile = profile
        self._random = random.Random(seed)
        self._host, self._port = host, port
        self._runner: web.AppRunner | None = None
        self.calls: Counter[str] = Counter()
        self.requests: deque[ReceivedRequest] = deque(maxlen=REMEMBERED_REQUESTS)
        self._scripts: dict[str, ScriptedReply] = {}

    def script(self, tool: str, reply: ScriptedReply | None) -> None:
        """Have every call of one tool answered like this from now on; None plays its samples again."""
        if reply is None:
            self._scripts.pop(tool, None)
        else:
            self._scripts[tool] = reply

    @property
    def base_url(self) -> str:
        """Return the server's address, such as `http://127.0.0.1:40123`; only while it serves."""
        return f"http://{self._host}:{self._port}"

    @property
    def bases(self) -> dict[str, str]:
        """Return the catalogue's bases, all pointing at this server."""
        return dict.fromkeys(self._base_names, self.base_url)

    async def __aenter__(self) -> Self:
        """Start serving.

        Raises:
            OSError: The address cannot be taken.
        """
        application = web.Application(client_max_size=_MAX_BODY_BYTES)
        application.router.add_route("*", "/{path:.*}", self._serve)
        # A played latency of minutes is no reason to wait for them at the end.
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, self._port).start()
        except OSError:
            await runner.cleanup()
            raise
        self._runner = runner
        self._port = runner.addresses[0][1]
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        """Stop serving."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        try:
            body: Json = exact_json.loads(text) if (text := await request.read()) else ABSENT
        except JsonSyntaxError as error:
            return _answer(400, {"error": "the body is not JSON", "detail": str(error)})
        sent = SentCall(
            method=request.method,
            path=request.rel_url.raw_path,
            query=tuple(request.rel_url.query.items()),
            headers=headers,
            body=body,
        )
        candidates = list(match(self._routes, sent))
        valid = [found for found in candidates if found[0].tool.parameters.is_valid(found[1])]
        route, arguments = next(iter(valid or candidates), (None, {}))
        self.requests.append(
            ReceivedRequest(
                tool=route.tool.contract.name if route else "",
                method=request.method,
                path=str(request.rel_url),
                headers=headers,
                arguments=arguments,
            )
        )
        return _objection(headers, route, arguments) or await self._play(route, arguments)

    async def _play(self, route: ToolRoute | None, arguments: dict[str, JsonValue]) -> web.Response:
        assert route is not None
        tool = route.tool.contract.name
        self.calls[tool] += 1
        if self._profile.latency_seconds:
            await asyncio.sleep(self._profile.latency_seconds)
        scripted = self._scripts.get(tool)
        if scripted is not None:
            if scripted.is_hanging:
                await asyncio.Event().wait()  # ends with the server
            return _answer(scripted.status, scripted.body)
        play = self._drawn()
        if play is _Play.GATEWAY_TIMEOUT:
            return _answer(504, {"error": "gateway timeout"})
        found = choose_sample(self._samples.get(tool, ()), arguments)
        if found is None:
            return _answer(404, {"error": "there is no sample for these arguments"})
        return _sample_answer(found, arguments, is_broken=play is _Play.BROKEN_JSON)

    def _drawn(self) -> _Play:
        drawn = self._random.random()
        if drawn < self._profile.gateway_timeout_rate:
            return _Play.GATEWAY_TIMEOUT
        if drawn < self._profile.gateway_timeout_rate + self._profile.broken_json_rate:
            return _Play.BROKEN_JSON
        return _Play.WELL

    def __repr__(self) -> str:
        where = self.base_url if self._runner is not None else "not serving"
        return f"MockTools({where}, tools={len(self._routes)}, calls={self.calls.total()})"


def _objection(
    headers: Mapping[str, str], route: ToolRoute | None, arguments: dict[str, JsonValue]
) -> web.Response | None:
    if not headers.get("x-request-id"):
        return _answer(400, {"error": "the header X-Request-ID is required"})
    if route is None:
        return _answer(404, {"error": "no tool of the catalogue has this method and path"})
    violations = route.tool.parameters.violations(arguments)
    if not violations:
        return None
    details: list[JsonValue] = [{"pointer": found.pointer, "message": found.message} for found in violations]
    return _answer(422, {"error": "the arguments break the contract", "details": details})


def _sample_answer(found: ToolSample, arguments: Mapping[str, JsonValue], *, is_broken: bool) -> web.Response:
    headers = {"Content-Type": "application/json", **found.sample.headers}
    body = found.body_for(arguments)
    is_text = isinstance(body, str) and "json" not in headers["Content-Type"]
    text = str(body) if is_text else exact_json.dumps(body)
    if is_broken:
        return web.Response(status=200, body=text[: max(1, len(text) // 2)].encode(), headers=headers)
    return web.Response(status=found.sample.status, body=text.encode(), headers=headers)


def _answer(status: int, body: JsonValue) -> web.Response:
    headers = {"Content-Type": "application/json"}
    return web.Response(status=status, body=exact_json.dumps(body).encode(), headers=headers)
