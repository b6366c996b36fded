"""The messages for one thought: what is the same for every request first, so that a server can keep it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any, Final

from taoloop.core.exact_json import Absent, dumps
from taoloop.core.faults import Fault
from taoloop.core.untrusted_text import wrap_untrusted
from taoloop.models.ports import ChatMessage, Role
from taoloop.plan.check_context import estimate_tokens
from taoloop.plan.memory.fitting import fitted
from taoloop.plan.memory.texts import knowledge_text, last_error_text, summary_text
from taoloop.plan.task import Turn
from taoloop.plan.thinking import CompletedStep, MemoryContext, ThinkRequest
from taoloop.thought.planners.model.offer import Mode, Offer, Reason
from taoloop.thought.planners.model.prompts.prompt_set import PromptSet
from taoloop.thought.planners.model.signatures import plain, tool_lines
from taoloop.tools.signature import Trust

MAX_RESULT_CHARACTERS: Final = 1500
"""Longest result of a completed step that a prompt shows; the rest can be pointed at all the same."""
MAX_TURN_CHARACTERS: Final = 8000
"""Longest turn that a prompt shows; of a longer one beginning and end."""
MAX_EARLIER_TURNS: Final = 8
"""Most turns before the request that a prompt shows, the latest ones."""
MAX_NOTES: Final = 3
"""Most notes of persons that a prompt shows, the latest ones."""
MAX_FAULTS: Final = 8
"""Most faults that a model is told at once."""
ENOUGH: Final = "That is enough: plan no more calls, answer with the completed steps."
"""What a model is told that may not plan any more."""
STRICT: Final = (
    "The reply before could not be used. Write one JSON object of the form above and nothing else: no words around it, "
    "only tools, places and quotes that stand here."
)
"""The last line for a model whose thought before was malformed."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages for one thought.

    Attributes:
        messages: System and user message.
        stable_characters: How many characters at the front are the same for every request to the same tools.
        version: Version of the prompts.
        digest: Hash of the prompts.
        reason: How much the model says about its choice.
    """

    messages: tuple[ChatMessage, ...]
    stable_characters: int
    version: str
    digest: str
    reason: Reason

    @property
    def stable_share(self) -> float:
        """The share of the characters that is the same for every request to the same tools, 0 to 1."""
        return self.stable_characters / sum(len(message.content) for message in self.messages)

    @property
    def estimated_tokens(self) -> int:
        """An estimate of its tokens; see `estimate_tokens`."""
        return sum(estimate_tokens(message.content) for message in self.messages)


def build_prompt(
    prompts: PromptSet, offer: Offer, request: ThinkRequest, reason: Reason = Reason.OFF, system: str = ""
) -> Prompt:
    """Return the messages for a request.

    Args:
        prompts: The texts.
        offer: What may be pointed at.
        request: What is asked for.
        reason: How much the model says about its choice.
        system: What `system_text` gave for the same prompts, tools and reasoning, where it is at hand.
    """
    system = system or system_text(prompts, offer, reason)
    # Fitted again, since a caller of Thought is not always the loop.
    memory = (fitted(request.memory).memory if request.memory is not None else None) or MemoryContext()
    summary = summary_text(memory)
    whole = f"{system}\n\n{summary}" if summary else system  # behind what stays the same
    messages = (ChatMessage(Role.SYSTEM, whole), ChatMessage(Role.USER, _user(offer, request, memory)))
    return Prompt(messages, len(system), prompts.version, prompts.digest, reason)


def repair_message(prompts: PromptSet, faults: Sequence[Fault]) -> ChatMessage:
    """Return what is said to a model whose reply was refused: each fault with its place and what would be right."""
    lines = [_fault_line(fault) for fault in faults[:MAX_FAULTS]]
    return ChatMessage(Role.USER, _filled(prompts.texts["repair.txt"], {"faults": "\n".join(lines)}))


def system_text(prompts: PromptSet, offer: Offer, reason: Reason) -> str:
    """Return the system message; it depends on prompts, reasoning, limit of steps and offered tools alone."""
    parts = [_filled(prompts.texts["system.txt"], {"max_steps": str(offer.limits.max_steps)})]
    if reason is not Reason.OFF:
        parts.append(prompts.texts[f"reasoning_{reason.value}.txt"])
    parts.append(_examples(prompts, reason))
    parts.append(f"Now the real tools. Forget the tools of the examples.\n{tool_lines(offer.tools)}")
    return "\n\n".join(part.strip() for part in parts)


def _examples(prompts: PromptSet, reason: Reason) -> str:
    shown = prompts.examples
    lines = ["Examples, with these tools:", *map(str, shown["tools"])]
    for example in shown["examples"]:
        lines.append("")
        if "completed" in example:
            lines.append(f"Completed: {example['completed']}")
        reasoning = _reasoning(example.get("reasoning", {}), reason)
        lines += [f"User: {example['user']}", f"Right: {dumps({**reasoning, **example['right']})}"]
        if "wrong" in example:
            lines += [f"Wrong: {dumps({**reasoning, **example['wrong']})}", f"Because: {example.get('because', '')}"]
    return "\n".join(lines)


def _reasoning(fields: Mapping[str, Any], reason: Reason) -> dict[str, Any]:
    if reason is Reason.OFF:
        return {}
    return dict(fields) if reason is Reason.FULL else {"why": fields.get("why", "")}


def _user(offer: Offer, request: ThinkRequest, memory: MemoryContext) -> str:
    """Return what is known of this request, and the request itself last, but for what failed last."""
    lines: list[str] = []
    if request.reference_time is not None:
        moment = request.reference_time.isoformat(timespec="minutes")
        lines.append(f"Time: {moment} {request.time_zone}".rstrip())
    if offer.state:
        lines.append(f"State: {', '.join(plain(place.name, 80) for place in offer.state)}")
    if offer.inputs:
        lines.append(f"Inputs: {', '.join(plain(name, 80) for name in offer.inputs)}")
    for letter, (step, _) in offer.completed.items():
        lines.append(f"Completed: {letter} {plain(step.tool, 100)}: {_result(step)}")
    failed = [step for step in request.completed if step.fault is not None]
    lines += [f"Failed: {plain(step.tool, 100)}: {_failure(step)}" for step in failed]
    lines += [f"Note by a person who let the run go on: {plain(note, 500)}" for note in request.notes[-MAX_NOTES:]]
    if request.step_count:
        enough = "" if Mode.PLAN in offer.modes else f" {ENOUGH}"
        lines.append(f"Calls made so far: {request.step_count}.{enough}")
    lines += filter(None, [knowledge_text(memory)])
    *earlier, last = request.turns or (None,)
    for turn in earlier[-MAX_EARLIER_TURNS:]:
        lines.append(_said(turn))
    lines.append("User: " if last is None else _said(last))
    lines += filter(None, [last_error_text(memory), STRICT if request.strict else ""])
    return "\n".join(lines)


def _said(turn: Turn | None) -> str:
    if turn is None:
        return ""
    text = turn.text
    if len(text) > MAX_TURN_CHARACTERS:
        half = MAX_TURN_CHARACTERS // 2
        text = f"{text[:half]} … {text[-half:]}"
    # Pasted words must not begin a line as the prompt's own lines begin, such as `Completed: `; quotes are found
    # whatever blanks they have.
    indented = text.replace("\n", "\n  ")
    return f"{turn.role.value.capitalize()}: {indented}"


def _result(step: CompletedStep) -> str:
    if isinstance(step.exposed, Absent):
        return "nothing to be shown"
    text = dumps(step.exposed)
    if len(text) > MAX_RESULT_CHARACTERS:
        text = f"{text[:MAX_RESULT_CHARACTERS]}…"
    return text if step.trust is Trust.TRUSTED else wrap_untrusted(text)


def _failure(step: CompletedStep) -> str:
    assert step.fault is not None
    return plain(f"{step.fault.code} {step.fault.message} {step.fault.suggestion}", 300)


def _fault_line(fault: Fault) -> str:
    place = f"{fault.field}: " if fault.field else ""
    right = f" Right would be: {', '.join(fault.candidates[:8])}." if fault.candidates else ""
    return plain(f"- {place}{fault.message}{right} {fault.suggestion}", 500)


def _filled(text: str, values: Mapping[str, str]) -> str:
    return Template(text).safe_substitute(values)
