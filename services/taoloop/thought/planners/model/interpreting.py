"""A server's message interpreted: read, expanded and checked, or refused with faults that a model can be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from taoloop.core.exact_json import JsonValue, equal
from taoloop.core.faults import FaultCode
from taoloop.plan.check import check_plan
from taoloop.plan.check_context import CheckContext, plan_fault
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.parsing import ChatMessageText, ReplyRefused, TextCall, read_message
from taoloop.thought.planners.model.expansion import Checker, Expansion, SkeletonRefused, expand
from taoloop.thought.planners.model.offer import Mode, Offer
from taoloop.thought.planners.model.parameters import Parameter, ParameterKind


def interpret(
    message: ChatMessageText,
    offer: Offer,
    request: ThinkRequest,
    context: CheckContext | None = None,
    check: Checker = check_plan,
) -> Expansion:
    """Return what a message comes to; a plan has passed the check.

    Calls in another format count as a plan whose arguments are quotes: what the user did not say is asked for.

    Raises:
        SkeletonRefused: PARSE_FAILED when the message cannot be read, `actual` says why; else the faults of `expand`.
    """
    try:
        reply = read_message(message)
    except ReplyRefused as refused:
        raise SkeletonRefused(
            (plan_fault(FaultCode.PARSE_FAILED, "", str(refused), actual=refused.fault),)
        ) from refused
    skeleton = skeleton_of_calls(reply.calls, offer) if reply.calls else reply.value
    expansion = expand(skeleton, offer, request, context, reply.reasoning, check)
    return replace(expansion, repairs=reply.repairs)


def skeleton_of_calls(calls: Sequence[TextCall], offer: Offer) -> JsonValue:
    """Return calls with named arguments as a skeleton: values that the schema lists are chosen, others are quotes.

    Raises:
        SkeletonRefused: UNKNOWN_TOOL or UNKNOWN_PARAMETER, all at once; `field` is the place in the list of calls.
    """
    faults = []
    steps: list[JsonValue] = []
    for index, call in enumerate(calls):
        number = offer.number(call.name)
        if number is None:
            names = tuple(tool.name for tool in offer.tools)[:20]
            message = f"There is no tool {call.name[:60]!r}."
            faults.append(plan_fault(FaultCode.UNKNOWN_TOOL, f"/calls/{index}", message, candidates=names))
            continue
        parameters = offer.tools[number - 1].parameters
        known = [parameter.name for parameter in parameters]
        for name in call.args.keys() - set(known):
            message = f"{call.name!r} has no parameter {name[:60]!r}."
            at = f"/calls/{index}"
            faults.append(plan_fault(FaultCode.UNKNOWN_PARAMETER, at, message, candidates=tuple(known)[:20]))
        steps.append([number, *(_value(parameter, call.args.get(parameter.name)) for parameter in parameters)])
    if faults:
        raise SkeletonRefused(tuple(faults))
    return {Mode.PLAN.value: steps}


def _value(parameter: Parameter, given: Any) -> JsonValue:
    chosen = next((choice.number for choice in parameter.choices if equal(choice.value, given)), None)
    if chosen is not None:
        return chosen
    if parameter.kind is ParameterKind.OBJECT and isinstance(given, dict):
        return [_value(member, given.get(member.name)) for member in parameter.members]
    if parameter.kind is ParameterKind.LIST and isinstance(given, list):
        return [_value(parameter.members[0], item) for item in given]
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)  # a bare number would choose a value of the schema
    return given if not isinstance(given, dict) else str(given)
