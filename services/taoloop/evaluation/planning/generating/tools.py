"""The tools of a generated catalogue: searches, records, changes and sums over one subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from taoloop.evaluation.planning.generating.attributes import ATTRIBUTES, Attribute
from taoloop.evaluation.planning.generating.sampling import schema
from taoloop.evaluation.planning.generating.subjects import Subject


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a generated tool.

    Attributes:
        path: Its place in the arguments, outer names first.
        attribute: What it holds; None for an identifier, an e-mail address, names or a list.
        special: `id`, `email`, `name`, `names`, `numbers`, `phone`, or empty.
        is_required: Whether the tool needs it.
    """

    path: tuple[str, ...]
    attribute: Attribute | None = None
    special: str = ""
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class Verb:
    """How one kind of tool is named, described and asked for."""

    name: str
    en: str
    zh: str
    asks_en: tuple[str, ...]
    asks_zh: tuple[str, ...]
    effect: str = "read"


VERBS: Final = (
    Verb("search", "Search for a {e} by its properties.", "按条件搜索{z}。",
         ("find a {e}", "search for a {e}", "look for a {e}", "show me a {e}", "is there a {e}", "any {e}"),
         ("搜索{z}", "查找{z}", "找一个{z}", "有没有{z}")),
    Verb("get", "Get the details of one {e} by its number.", "按编号查询{z}的详情。",
         ("get the details of {e}", "show the details of {e}", "look up {e}", "what do we know about {e}"),
         ("查询{z}的详情", "查看{z}详情", "了解一下{z}的信息")),
    Verb("book", "Book a {e} for a person.", "为联系人预订{z}。",
         ("book a {e}", "reserve a {e}", "arrange a {e}"), ("预订{z}", "订一个{z}", "预约{z}"), "write"),
    Verb("register", "Register a new {e} with its owner.", "登记新的{z}及其所有人。",
         ("register a new {e}", "register a {e}", "add a {e}"), ("登记一个新的{z}", "登记{z}", "录入{z}"), "write"),
    Verb("cancel", "Cancel a {e} by its number.", "按编号取消{z}。",
         ("cancel {e}", "call off {e}", "cancel the {e}"), ("取消{z}", "撤销{z}"), "write"),
    Verb("estimate", "Calculate the cost of a {e}.", "计算{z}的费用。",
         ("calculate the cost of a {e}", "what does a {e} cost", "estimate the cost of a {e}", "how much is a {e}"),
         ("计算{z}的费用", "估算{z}要多少钱", "算一下{z}的价格")),
    Verb("compare", "Compare several {e} records by their numbers.", "按编号比较多个{z}。",
         ("compare the {e} records", "compare {e} numbers", "compare"), ("比较{z}", "对比{z}")),
    Verb("notify", "Send a message about a {e} to an address.", "向邮箱发送关于{z}的通知。",
         ("send a notice about the {e}", "notify about the {e}", "send word about {e}"),
         ("发送{z}的通知", "通知{z}的情况"), "write"),
)  # fmt: skip


SNAKE_SHARE: Final = 0.8
"""What share of the tools is named in snake_case; the others in camelCase."""

_NAMES: Final = {
    "search": ("search", "find", "query"),
    "get": ("get", "fetch", "lookup"),
    "book": ("book", "create", "reserve"),
    "register": ("register", "add"),
    "estimate": ("estimate", "calculate", "quote"),
    "notify": ("notify", "send", "message"),
}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


@dataclass(frozen=True, slots=True)
class GeneratedTool:
    """One tool, and what its cases need to know of it."""

    verb: Verb
    subject: Subject
    parameters: tuple[Parameter, ...]
    definition: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the tool's name."""
        return str(self.definition["name"])


def catalogue(subject: Subject, rng: Random, *, is_chinese: bool) -> tuple[GeneratedTool, ...]:
    """Return the tools of a subject; which attributes are required is drawn."""
    return tuple(_tool(verb, subject, rng, is_chinese=is_chinese) for verb in VERBS)


def _tool(verb: Verb, subject: Subject, rng: Random, *, is_chinese: bool) -> GeneratedTool:
    parameters = _parameters(verb.name, subject, rng)
    text = (verb.zh if is_chinese else verb.en).format(e=subject.en, z=subject.zh)
    name = f"{rng.choice(_NAMES.get(verb.name, (verb.name,)))}_{subject.token}"
    definition = {
        "name": name if rng.random() < SNAKE_SHARE else _camel(name),
        "description": text,
        "effect": verb.effect,
        "parameters": _schema_of(parameters, subject, rng, is_chinese=is_chinese),
        "returns": _returns(verb.name, subject, is_chinese=is_chinese),
    }
    return GeneratedTool(verb, subject, parameters, definition)


def _parameters(verb: str, subject: Subject, rng: Random) -> tuple[Parameter, ...]:
    chosen = [ATTRIBUTES[name] for name in subject.attributes]
    own = (f"{subject.token}_id",)
    match verb:
        case "search":
            return _attributes(chosen, rng, required=rng.choice((1, 2)))
        case "get" | "cancel":
            return (Parameter(own, special="id"),)
        case "book":
            contact = (Parameter(("contact", "name"), special="name"), Parameter(("contact", "email"), special="email"))
            return (*_attributes(chosen[:3], rng, required=2), *contact)
        case "register":
            inside = _attributes(chosen, rng, required=2, above=("details",))
            return (Parameter(("owner",), special="name"), *inside)
        case "estimate":
            return _attributes([item for item in chosen if _is_number(item)] or chosen[:2], rng, required=2)
        case "compare":
            return (Parameter((f"{subject.token}_ids",), special="ids"),)
        case _:
            return (Parameter(own, special="id"), Parameter(("recipient_email",), special="email"))


def _attributes(
    chosen: Sequence[Attribute], rng: Random, *, required: int, above: tuple[str, ...] = ()
) -> tuple[Parameter, ...]:
    needed = [item for item in chosen if not item.kind.startswith("flag")][:required]
    rest = [item for item in chosen if item not in needed and rng.random() < 0.8]
    return tuple(Parameter((*above, item.name), item, is_required=item in needed) for item in (*needed, *rest))


def _is_number(attribute: Attribute) -> bool:
    return attribute.kind.partition(":")[0] in {"number", "integer", "money", "percent", "fraction"}


_SPECIAL: Final[dict[str, tuple[dict[str, Any], str, str]]] = {
    "name": ({"type": "string"}, "full name of the {e}'s contact", "姓名"),
    "email": ({"type": "string", "format": "email"}, "e-mail address", "邮箱"),
}


def _schema_of(parameters: Sequence[Parameter], subject: Subject, rng: Random, *, is_chinese: bool) -> dict[str, Any]:
    root: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    for parameter in parameters:
        node = root
        for name in parameter.path[:-1]:
            node["properties"].setdefault(name, {"type": "object", "properties": {}, "required": []})
            if name not in node["required"]:
                node["required"].append(name)
            node = node["properties"][name]
        node["properties"][parameter.path[-1]] = _member(parameter, subject, rng, is_chinese=is_chinese)
        if parameter.is_required:
            node["required"].append(parameter.path[-1])
    return root


def _member(parameter: Parameter, subject: Subject, rng: Random, *, is_chinese: bool) -> dict[str, Any]:
    if parameter.attribute is not None:
        return schema(parameter.attribute, is_chinese=is_chinese)
    if parameter.special in {"id", "ids"}:
        single: dict[str, Any] = {"type": "string"}
        if rng.random() < 0.5:
            single["pattern"] = f"^{subject.code}-[0-9]{{5}}$"
        if parameter.special == "ids":
            text = f"要比较的{subject.zh}编号" if is_chinese else f"numbers of the {subject.en} records"
            return {"type": "array", "items": single, "description": text}
        return {**single, "description": f"{subject.zh}编号" if is_chinese else f"number of the {subject.en}"}
    made, english, chinese = _SPECIAL[parameter.special]
    return {**made, "description": chinese if is_chinese else english.format(e=subject.en)}


def _returns(verb: str, subject: Subject, *, is_chinese: bool) -> dict[str, Any]:
    text = f"{subject.zh}编号" if is_chinese else f"number of the {subject.en}"
    own = {f"{subject.token}_id": {"type": "string", "description": text}}
    more: dict[str, Any] = {
        "search": own,
        "book": {"booking_reference": {"type": "string"}},
        "register": own,
        "estimate": {"total_cost": {"type": "number"}},
    }.get(verb, {"status": {"type": "string"}})
    return {"type": "object", "properties": more}
