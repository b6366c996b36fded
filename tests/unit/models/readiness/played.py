"""A probed server without a connection: bodies go in, and what a played server would answer comes out."""

from dataclasses import dataclass, field

from taoloop.core import exact_json
from taoloop.core.clock import Clock
from taoloop.models.chat_answer import ReplyInPieces, refusal
from taoloop.models.chat_wire import body_of
from taoloop.models.ports import ChatReply, ChatRequest, ModelFailed, ModelFailureKind
from taoloop.models.profiles import ModelProfile
from taoloop.testing.chat.probe import ServedModel, probe_answer


@dataclass
class PlayedModel:
    """Answers a probe; `failure` is raised in place of every answer."""

    served: ServedModel = field(default_factory=ServedModel)
    failure: ModelFailed | None = None
    name: str = "small"
    asked_by: list[ModelProfile] = field(default_factory=list)
    adopted: ModelProfile | None = None

    async def asked(self, request: ChatRequest, seconds: float, profile: ModelProfile) -> ChatReply:
        if self.failure is not None:
            raise self.failure
        self.asked_by.append(profile)
        body = exact_json.loads(body_of(request, self.name, profile))
        assert isinstance(body, dict)
        answer = probe_answer(body, self.served)
        assert answer is not None
        if answer.get("status", 200) != 200:
            raise refusal(answer["body"], answer["status"])
        pieces = ReplyInPieces()
        pieces.take(answer["body"])
        return pieces.reply()

    async def listed(self, seconds: float) -> bytes:
        if self.failure is not None:
            raise self.failure
        answer = self.served.listing()
        if answer.get("status", 200) != 200:
            raise refusal(b"{}", answer["status"])
        body: bytes = answer["body"]
        return body

    def adopt(self, profile: ModelProfile) -> None:
        self.adopted = profile


def away(clock: Clock | None = None) -> ModelFailed:
    """Return the failure of a server that nobody runs."""
    return ModelFailed(ModelFailureKind.UNREACHABLE, "No connection to the model's server could be made.")
