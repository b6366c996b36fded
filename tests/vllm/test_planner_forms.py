"""The planner's forms on a real engine: it takes them, and what it writes in them is a skeleton."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from taoloop.core import exact_json
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.models.http_chat_model import HttpChatModel, ModelServer
from taoloop.models.ports import ChatRequest, JsonForm
from taoloop.models.profiles.loading import load_profile
from taoloop.plan.check_context import PlanLimits
from taoloop.plan.task import Role, Turn
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.planners.model.grammar import skeleton_schema
from taoloop.thought.planners.model.offer import Offer, OfferedTool, Reason
from taoloop.thought.planners.model.prompts import build_prompt, load_prompts
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.served_catalogue import read_catalogue
from tests.vllm.server import NAME, VllmServer

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

CATALOGUE = Path(__file__).parents[2] / "examples" / "customer-service"
NEAR_ENOUGH = ("find_order", "get_shipment", "get_weather", "check_stock")
ASKED = (
    ("订单 20260308000012345 的快递到哪里了？", Reason.OFF),
    ("What is the weather in Beijing tomorrow?", Reason.OFF),
    ("Write me a poem about the sea.", Reason.BRIEF),
)


@pytest.fixture
async def model(vllm_server: VllmServer) -> AsyncIterator[HttpChatModel]:
    server = ModelServer(
        url=vllm_server.url, model=NAME, timeout_seconds=300.0, silence_seconds=300.0, profile=load_profile("vllm")
    )
    async with HttpChatModel(server) as opened:
        yield opened


def offer_for(request: ThinkRequest) -> Offer:
    signatures = read_catalogue(CATALOGUE).signatures()
    tools = [OfferedTool.of(each) for each in signatures if each.name in NEAR_ENOUGH]
    return Offer.of(tools, request, limits=PlanLimits(max_steps=2))


@pytest.mark.parametrize(("text", "reason"), ASKED)
async def test_what_the_engine_writes_in_the_planners_form_fits_it(
    model: HttpChatModel, text: str, reason: Reason
) -> None:
    request = ThinkRequest(run_id="0" * 32, iteration=1, turns=(Turn(role=Role.USER, text=text),))
    offer = offer_for(request)
    schema = skeleton_schema(offer, reason)
    prompt = build_prompt(load_prompts(), offer, request, reason)
    asked = ChatRequest(messages=prompt.messages, max_tokens=400, form=JsonForm("skeleton", schema))
    reply = await model.complete(asked, Deadline.after(300.0, SystemClock()))
    assert CompiledSchema.compile(schema).violations(exact_json.loads(reply.text)) == (), reply.text
