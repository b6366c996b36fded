"""Requests on catalogues of hundreds of tools, with the tools that a plan needs, also those that nobody names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Any, Final

from taoloop.evaluation.planning.generating.requests import call_text, drawn, opened
from taoloop.evaluation.planning.generating.subjects import SUBJECTS, Subject
from taoloop.evaluation.planning.generating.tools import GeneratedTool, catalogue
from taoloop.evaluation.planning.predicting import signatures
from taoloop.plan.task import Permissions, Role, Turn
from taoloop.plan.thinking import ThinkRequest
from taoloop.tools.signature import Effect, ToolSignature

_KINDS: Final = (("", ""), ("rented ", "租用的"), ("public ", "公共"), ("spare ", "备用"), ("historic ", "历史"))
"""Words that make further subjects of one: their tools look much alike."""
_KEYS: Final = tuple(
    f"{first}_{second}"
    for first, second in product(
        ("folio", "docket", "tally", "cipher", "token", "stub", "marker", "badge", "seal", "crest"),
        ("key", "mark", "handle", "stamp", "slip", "sign", "ref", "grip", "knot", "note"),
    )
)
"""Names of inner keys: no user ever says one, and each belongs to one subject."""


@dataclass(frozen=True, slots=True)
class SelectionCase:
    """One request and what a plan for it needs.

    Attributes:
        kind: `named`, where every tool has words of the request, or `chain`, where two tools in between have none.
        request: The request.
        needed: Names of the tools that a plan needs.
        hidden: Those of them that only the closure can find.
    """

    kind: str
    request: ThinkRequest
    needed: frozenset[str]
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scene:
    """The tools of one subject.

    Attributes:
        subject: The subject.
        tools: What its users speak of.
        inner: The tool that finds the subject's number by an inner key, and the one that finds the key by a telephone.
    """

    subject: Subject
    tools: tuple[GeneratedTool, ...]
    inner: tuple[dict[str, Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Market:
    """One large catalogue with requests to it."""

    tools: tuple[ToolSignature, ...]
    cases: tuple[SelectionCase, ...]


def market(seed: int, size: int, count: int, *, is_chinese: bool) -> Market:
    """Return a catalogue with at least `size` tools, at most 2 000, and `count` requests to it, half of each kind.

    The same arguments give the same market.
    """
    rng = Random(f"{seed}-{size}-{is_chinese}")
    scenes: list[Scene] = []
    for subject in _subjects():
        if sum(len(scene.tools) + 2 for scene in scenes) >= size:
            break
        scenes.append(_scene(subject, len(scenes), rng, is_chinese=is_chinese))
    definitions = [
        definition for scene in scenes for definition in (*(tool.definition for tool in scene.tools), *scene.inner)
    ]
    makers = (_named, _chain)
    cases = [makers[number % 2](rng.choice(scenes), rng, is_chinese) for number in range(count)]
    return Market(signatures(definitions), tuple(cases))


def _subjects() -> Iterator[Subject]:
    for (en, zh), subject in product(_KINDS, SUBJECTS):
        yield replace(
            subject,
            en=en + subject.en,
            zh=zh + subject.zh,
            other_en=en + subject.other_en,
            other_zh=zh + subject.other_zh,
        )


def _scene(subject: Subject, number: int, rng: Random, *, is_chinese: bool) -> Scene:
    key, own = _KEYS[number % len(_KEYS)] + ("" if number < len(_KEYS) else "_b"), f"{subject.token}_id"
    ledger = {
        "name": f"read_{key}",
        "description": "返回当前登记项。" if is_chinese else "Returns the current entry of a holder.",
        "parameters": _object({f"{key}_id": {"type": "string"}}),
        "returns": _result(own, subject, rng),
    }
    directory = {
        "name": f"resolve_{number}",
        "description": "按电话返回内部标识。" if is_chinese else "Resolves a phone number to the inner handle.",
        "parameters": _object({"phone": {"type": "string", "description": "电话" if is_chinese else "phone number"}}),
        "returns": _object({f"{key}_id": {"type": "string"}}),
    }
    return Scene(subject, catalogue(subject, rng, is_chinese=is_chinese), (ledger, directory))


def _result(own: str, subject: Subject, rng: Random) -> dict[str, Any]:
    """Return a result that holds the number: by its name, in camel case, as the id of the thing, or in a list."""
    text = {"type": "string"}
    camel = "".join(part.capitalize() if place else part for place, part in enumerate(own.split("_")))
    return rng.choice(
        (
            _object({own: text, "status": {"type": "string"}}),
            _object({camel: text}),
            _object({subject.token: _object({"id": text, "label": {"type": "string"}})}),
            _object({"entries": {"type": "array", "items": _object({own: text, "since": {"type": "string"}})}}),
        )
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _named(scene: Scene, rng: Random, is_chinese: bool) -> SelectionCase:
    tool = rng.choice(scene.tools)
    call = call_text(tool, drawn(tool, rng, is_chinese=is_chinese), rng, is_chinese=is_chinese)
    query = opened(call.text, rng, is_chinese=is_chinese)
    return SelectionCase("named", _request(query, is_chinese=is_chinese), frozenset({tool.name}))


def _chain(scene: Scene, rng: Random, is_chinese: bool) -> SelectionCase:
    verb = rng.choice(("get", "cancel", "notify"))
    tool = next(item for item in scene.tools if item.verb.name == verb)
    ask = rng.choice(tool.verb.asks_zh if is_chinese else tool.verb.asks_en)
    said = ask.format(e=scene.subject.en, z=scene.subject.zh)
    digits = f"555-01{rng.randrange(100):02}"
    text = f"{said}，联系人的电话是{digits}" if is_chinese else f"{said} of the person with the phone {digits}"
    hidden = frozenset(str(inner["name"]) for inner in scene.inner)
    request = _request(opened(text, rng, is_chinese=is_chinese), is_chinese=is_chinese)
    return SelectionCase("chain", request, hidden | {tool.name}, hidden)


def _request(query: str, *, is_chinese: bool) -> ThinkRequest:
    return ThinkRequest(
        run_id="0" * 32,
        iteration=1,
        turns=(Turn(role=Role.USER, text=query),),
        locale="zh-CN" if is_chinese else "en-US",
        permissions=Permissions(max_effect=Effect.WRITE),
    )
