"""The probe: a handful of short questions that show what a server does, beside what its profile says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Protocol

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.models.ports import ChatReply, ChatRequest, ModelFailed, ModelFailureKind
from taoloop.models.profiles.model import ModelProfile, StructuredOutput
from taoloop.models.readiness import facts
from taoloop.models.readiness.listing import Listing, read_listing
from taoloop.models.readiness.model import Capability, Mismatch, ProbeReport

MIN_PROMPT_TOKENS: Final = 256
"""What the context must leave for a prompt beside the longest reply."""

_WAYS: Final = tuple(StructuredOutput)
_NOT_THE_SERVERS_WAY: Final = frozenset(
    {ModelFailureKind.CUT_OFF, ModelFailureKind.EMPTY, ModelFailureKind.MALFORMED, ModelFailureKind.TOO_LARGE}
)


class Probed(Protocol):
    """What a probe asks; `HttpChatModel` is one."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    async def asked(self, request: ChatRequest, seconds: float, profile: ModelProfile) -> ChatReply:
        """Ask as this profile says."""
        ...

    async def listed(self, seconds: float) -> bytes:
        """Return the body of the server's list of models."""
        ...


@dataclass(slots=True)
class _Answer:
    """What came back for one question: a reply, or why there is none that can be judged."""

    reply: ChatReply | None
    failed: ModelFailed | None = None
    seconds: float = 0.0

    @property
    def fits(self) -> bool:
        return self.reply is not None and facts.fits(self.reply.text)

    @property
    def is_cut_off(self) -> bool:
        return self.failed is not None and self.failed.kind is ModelFailureKind.CUT_OFF


class Probe:
    """Compares a server with its profile.

    Args:
        model: The server's model.
        profile: What the settings say of it.
        max_reply_tokens: Longest reply that the service will ask for.
        clock: Measures the speed.
    """

    def __init__(self, model: Probed, profile: ModelProfile, max_reply_tokens: int, clock: Clock) -> None:
        self._model = model
        self._expected = profile
        self._max_reply_tokens = max_reply_tokens
        self._clock = clock

    async def run(self, deadline: Deadline) -> ProbeReport:
        """Ask, and return what was found.

        Raises:
            ModelFailed: The server is away, overloaded or too slow: nothing is known of it.
        """
        found: list[Mismatch] = []
        profile = await self._named(self._expected, found, deadline)
        if any(one.is_fatal for one in found):
            return ProbeReport(profile=profile, mismatches=tuple(found))
        profile, answer = await self._formed(profile, found, deadline)
        profile = self._told(profile, answer, found)
        speed = self._speed(answer, found)
        profile = await self._seeded(profile, found, deadline)
        order = list(Capability)
        found.sort(key=lambda one: order.index(one.capability))
        return ProbeReport(profile=profile, mismatches=tuple(found), tokens_per_second=speed)

    async def _named(self, profile: ModelProfile, found: list[Mismatch], deadline: Deadline) -> ModelProfile:
        """Look for the model in the server's list; a server without such a list is asked all the same."""
        try:
            listing = read_listing(await self._model.listed(deadline.remaining_seconds()), self._model.name)
        except ModelFailed as failed:
            if failed.kind is ModelFailureKind.REFUSED and failed.status_code in {401, 403}:
                found.append(_credentials(failed.status_code))
                return profile
            if failed.is_retriable:
                raise
            listing = None
        if listing is None:
            return profile
        if self._model.name not in listing.names:
            found.append(_other_model(self._model.name, listing))
            return profile
        return self._within(profile, listing, found)

    def _within(self, profile: ModelProfile, listing: Listing, found: list[Mismatch]) -> ModelProfile:
        served, wanted = listing.context_tokens, profile.context_tokens
        context = min(served or profile.context, wanted or served or profile.context)
        least = self._max_reply_tokens + MIN_PROMPT_TOKENS
        if context < least:
            found.append(_small_context(context, least))
        elif served and wanted and served < wanted:
            found.append(_smaller_context(served, wanted))
        return replace(profile, context_tokens=context)

    async def _formed(
        self, profile: ModelProfile, found: list[Mismatch], deadline: Deadline
    ) -> tuple[ModelProfile, _Answer]:
        """Find the strictest way, from the profile's on, in which the server keeps to a form."""
        weaker = _WAYS[_WAYS.index(profile.structured_output) :]
        answer = _Answer(None)
        for way in weaker:
            tried = replace(profile, structured_output=way)
            tempted = await self._asked(facts.tempting_question(), tried, deadline) if way.is_enforced else None
            answer = await self._asked(facts.facts_question(min(1, profile.max_top_logprobs)), tried, deadline)
            # A small model that is made to keep to a form against its will may end in blanks: that shows the form, too.
            is_kept = answer.fits and (tempted is None or tempted.fits or tempted.is_cut_off)
            if not is_kept:
                continue
            if tempted is not None and tempted.is_cut_off:
                found.append(_BLANKS)
            if way is not profile.structured_output:
                found.append(_weaker(profile.structured_output, way))
            return tried, answer
        found.append(_formless(profile.structured_output))
        return replace(profile, structured_output=StructuredOutput.NONE), answer

    def _told(self, profile: ModelProfile, answer: _Answer, found: list[Mismatch]) -> ModelProfile:
        """Look at what came with the facts."""
        reply = answer.reply
        if reply is None or not answer.fits:
            return profile
        if not facts.states_the_facts(reply.text):
            found.append(_WRONG_FACTS)
        if not reply.usage.input_tokens:
            found.append(_UNCOUNTED)
        if profile.max_top_logprobs and not reply.logprobs:
            found.append(_UNTOLD)
            return replace(profile, max_top_logprobs=0)
        return profile

    def _speed(self, answer: _Answer, found: list[Mismatch]) -> float | None:
        reply = answer.reply
        if reply is None or reply.first_token_seconds is None or reply.usage.output_tokens < 2:
            return None
        seconds = max(answer.seconds - reply.first_token_seconds, 0.001)
        rate = (reply.usage.output_tokens - 1) / seconds
        usual = self._expected.speed
        if usual is not None and rate < usual.tokens_per_second / 2:
            found.append(_slow(usual.tokens_per_second, rate))
        return rate

    async def _seeded(self, profile: ModelProfile, found: list[Mismatch], deadline: Deadline) -> ModelProfile:
        if not profile.takes_seed:
            return profile
        texts = set()
        for _ in range(2):
            answer = await self._asked(facts.seeded_question(), profile, deadline)
            texts.add(answer.reply.text if answer.reply is not None else None)
        if len(texts) == 1 and None not in texts:
            return profile
        found.append(_UNREPEATABLE)
        return replace(profile, takes_seed=False)

    async def _asked(self, request: ChatRequest, profile: ModelProfile, deadline: Deadline) -> _Answer:
        """Ask one question; what is the server's way of not understanding it is an answer, too.

        Raises:
            ModelFailed: Anything else.
        """
        started = self._clock.monotonic()
        try:
            reply = await self._model.asked(request, deadline.remaining_seconds(), profile)
        except ModelFailed as failed:
            is_refused = failed.kind is ModelFailureKind.REFUSED and failed.status_code in {400, 404, 405, 422, 501}
            if is_refused or failed.kind in _NOT_THE_SERVERS_WAY:
                return _Answer(None, failed)
            raise
        return _Answer(reply, seconds=self._clock.monotonic() - started)


def _credentials(status_code: int) -> Mismatch:
    return Mismatch(
        capability=Capability.CREDENTIALS,
        expected="a key that the server takes",
        found=f"status {status_code}",
        remedy="Correct API_KEY.",
        is_fatal=True,
    )


def _other_model(name: str, listing: Listing) -> Mismatch:
    return Mismatch(
        capability=Capability.MODEL,
        expected=repr(name),
        found=listing.some_names,
        remedy="Correct MODEL, or serve the model under that name.",
        is_fatal=True,
    )


def _small_context(context: int, least: int) -> Mismatch:
    return Mismatch(
        capability=Capability.CONTEXT,
        expected=f"at least {least} tokens, for the longest reply and a prompt",
        found=str(context),
        remedy="Lower MAX_REPLY_TOKENS, or serve the model with a longer context.",
        is_fatal=True,
    )


def _smaller_context(served: int, wanted: int) -> Mismatch:
    return Mismatch(
        capability=Capability.CONTEXT,
        expected=f"{wanted} tokens",
        found=str(served),
        remedy="Lower CONTEXT_TOKENS, or serve the model with a longer context; the smaller one is counted with.",
    )


def _weaker(wanted: StructuredOutput, way: StructuredOutput) -> Mismatch:
    return Mismatch(
        capability=Capability.STRUCTURED_OUTPUT,
        expected=wanted.value,
        found=way.value,
        remedy=f"Choose a profile with {way.value}, or a server that keeps to schemas; {way.value} is used.",
    )


def _formless(wanted: StructuredOutput) -> Mismatch:
    return Mismatch(
        capability=Capability.STRUCTURED_OUTPUT,
        expected=wanted.value,
        found="no reply in the form that was asked for, in any way",
        remedy="Choose a larger model, or a server that keeps to schemas; most replies will be refused.",
    )


def _slow(usual: float, rate: float) -> Mismatch:
    return Mismatch(
        capability=Capability.SPEED,
        expected=f"about {usual:g} tokens a second",
        found=f"{rate:.1f}",
        remedy="Look at the server's load and hardware, or correct the profile's speed.",
    )


_BLANKS: Final = Mismatch(
    capability=Capability.COMPACT,
    expected="replies that end",
    found="a form that is filled with blanks up to the longest reply",
    remedy="Serve with compact JSON; for vLLM: --structured-outputs-config.disable_any_whitespace true.",
)
_WRONG_FACTS: Final = Mismatch(
    capability=Capability.FACTS,
    expected="the facts of the prompt",
    found="other ones",
    remedy="Choose a larger model: this one will misread requests, too.",
)
_UNCOUNTED: Final = Mismatch(
    capability=Capability.USAGE,
    expected="counts of tokens",
    found="none",
    remedy="Budgets of tokens and costs do not hold for this server; set stream_usage if it can count.",
)
_UNTOLD: Final = Mismatch(
    capability=Capability.LOGPROBS,
    expected="likelihoods of tokens",
    found="none",
    remedy="Set max_top_logprobs to 0 in the profile; none are asked for.",
)
_UNREPEATABLE: Final = Mismatch(
    capability=Capability.SEED,
    expected="the same reply for the same seed",
    found="another one",
    remedy="Set seed to false in the profile; replays of runs will differ.",
)
