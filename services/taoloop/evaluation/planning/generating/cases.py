"""Generated cases of the six categories, each with a paired negative where a tool or a value is taken away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from taoloop.evaluation.planning.generating.requests import CallText, Said, call_text, drawn, opened
from taoloop.evaluation.planning.generating.subjects import HELD_OUT, SUBJECTS, Subject
from taoloop.evaluation.planning.generating.tools import GeneratedTool, catalogue

FORM: Final = "generated/1"
CHINESE_SHARE: Final = 0.35

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scene:
    """What the cases of one draw share."""

    subject: Subject
    tools: tuple[GeneratedTool, ...]
    is_chinese: bool

    def tool(self, verb: str) -> GeneratedTool:
        """Return the tool of a verb."""
        return next(tool for tool in self.tools if tool.verb.name == verb)


def generate(seed: int, count: int, *, is_held_out: bool | None = None) -> Iterator[Record]:
    """Yield cases; the same seed gives the same cases.

    Args:
        seed: Of all that is drawn.
        count: How many cases.
        is_held_out: Only the subjects that are kept for judging, only the others, or all.
    """
    rng = Random(seed)
    subjects = SUBJECTS if is_held_out is None else SUBJECTS[-HELD_OUT:] if is_held_out else SUBJECTS[:-HELD_OUT]
    number = 0
    while number < count:
        subject = rng.choice(subjects)
        is_chinese = rng.random() < CHINESE_SHARE
        scene = Scene(subject, catalogue(subject, rng, is_chinese=is_chinese), is_chinese)
        others = catalogue(rng.choice([item for item in subjects if item is not subject]), rng, is_chinese=is_chinese)
        for record in _records(scene, others, rng):
            if number < count:
                number += 1
                yield {"id": f"g{seed}-{number:05}", **record}


def _records(scene: Scene, others: Sequence[GeneratedTool], rng: Random) -> Iterator[Record]:
    tool = rng.choice(scene.tools)
    said = drawn(tool, rng, is_chinese=scene.is_chinese)
    call = call_text(tool, said, rng, is_chinese=scene.is_chinese)
    query = opened(call.text, rng, is_chinese=scene.is_chinese)
    near = [item for item in scene.tools if item is not tool]
    yield _case("simple", scene, query, [tool], [_step("s1", call)])
    yield _case("choose", scene, query, [tool, *rng.sample([*near, *others], rng.randrange(2, 7))], [_step("s1", call)])
    if rng.random() < 0.7:
        away = [item for item in near if item.verb.effect != tool.verb.effect][: rng.choice((0, 1))]
        offered = [*away, *rng.sample(list(others), rng.randrange(1, 4))]
        yield _case("none", scene, query, offered, [])
    yield from _asks(scene, tool, said, near, rng)
    yield from _parallel(scene, rng)
    yield from _chains(scene, rng)


def _asks(
    scene: Scene, tool: GeneratedTool, said: Sequence[Said], near: Sequence[GeneratedTool], rng: Random
) -> Iterator[Record]:
    required = [item for item in said if item.parameter.is_required]
    if not required:
        return
    gone = rng.choice(required)
    rest = [item for item in said if item is not gone]
    text = call_text(tool, rest, rng, is_chinese=scene.is_chinese).text
    offered = [tool, *rng.sample(list(near), rng.choice((0, 2)))]
    names = [".".join(gone.parameter.path), gone.parameter.path[0]]
    yield _case("ask", scene, opened(text, rng, is_chinese=scene.is_chinese), offered, [], names)
    broken = _broken(gone)
    if broken is not None:
        text = call_text(tool, [*rest, broken], rng, is_chinese=scene.is_chinese).text
        yield _case("ask", scene, opened(text, rng, is_chinese=scene.is_chinese), offered, [], names)


def _broken(said: Said) -> Said | None:
    """Return the same value written so that its schema refuses it, where there is a sure way."""
    value = said.accepted[0]
    if said.parameter.special == "email":
        return Said(said.parameter, said.phrase.replace("@", "@@"), ())
    if said.parameter.attribute is not None and said.parameter.attribute.name == "age":
        return Said(said.parameter, said.phrase.replace(str(value), "340"), ()) if str(value) in said.phrase else None
    if said.parameter.attribute is not None and said.parameter.attribute.kind == "date" and value in said.phrase:
        return Said(said.parameter, said.phrase.replace(value, f"{value[:5]}13-45"), ())
    return None


def _parallel(scene: Scene, rng: Random) -> Iterator[Record]:
    if rng.random() < 0.5:
        yield from _same_tool_twice(scene, rng)
        return
    one, two = rng.sample([tool for tool in scene.tools if tool.verb.name != "compare"], 2)
    calls = [call_text(tool, drawn(tool, rng, is_chinese=scene.is_chinese), rng, is_chinese=scene.is_chinese)
             for tool in (one, two)]  # fmt: skip
    joint = (
        rng.choice(("，另外", "。另外再", "，同时"))
        if scene.is_chinese
        else rng.choice((", and ", ". Also, ", " and also "))
    )
    query = opened(joint.join(call.text for call in calls), rng, is_chinese=scene.is_chinese)
    offered = [one, two, *rng.sample([tool for tool in scene.tools if tool not in (one, two)], rng.choice((0, 2)))]
    yield _case("parallel", scene, query, offered, [_step("s1", calls[0]), _step("s2", calls[1])])


def _same_tool_twice(scene: Scene, rng: Random) -> Iterator[Record]:
    tool = scene.tool(rng.choice(("search", "get", "cancel", "estimate")))
    said = [item for item in drawn(tool, rng, is_chinese=scene.is_chinese) if item.parameter.is_required]
    other = [item for item in drawn(tool, rng, is_chinese=scene.is_chinese) if item.parameter.is_required]
    place = rng.randrange(len(said))
    if said[place].accepted == other[place].accepted:
        return
    first = call_text(tool, [item for item in said if item is not said[place]], rng, is_chinese=scene.is_chinese)
    joint = rng.choice(("和", "以及")) if scene.is_chinese else " and "
    text = first.text + ("，" if scene.is_chinese else " ") + said[place].phrase + joint + other[place].phrase
    second = [*said[:place], other[place], *said[place + 1 :]]
    steps = [_step("s1", CallText(tool, tuple(said), "")), _step("s2", CallText(tool, tuple(second), ""))]
    offered = [tool, *rng.sample([item for item in scene.tools if item is not tool], rng.choice((0, 2)))]
    yield _case("parallel", scene, opened(text, rng, is_chinese=scene.is_chinese), offered, steps)


def _chains(scene: Scene, rng: Random) -> Iterator[Record]:
    first, second = scene.tool(rng.choice(("search", "register"))), scene.tool(rng.choice(("get", "cancel", "notify")))
    call = call_text(first, drawn(first, rng, is_chinese=scene.is_chinese), rng, is_chinese=scene.is_chinese)
    said = [item for item in drawn(second, rng, is_chinese=scene.is_chinese) if item.parameter.special != "id"]
    ask = {"get": ("show the details of it", "查看它的详情"), "cancel": ("cancel it", "把它取消"),
           "notify": ("send a notice about it", "发送关于它的通知")}[second.verb.name][scene.is_chinese]  # fmt: skip
    tail = ("，" if scene.is_chinese else " ").join([ask, *(item.phrase for item in said)])
    joint = (
        rng.choice(("，然后", "，再", "，之后"))
        if scene.is_chinese
        else rng.choice((", then ", " and then ", ". After that, "))
    )
    query = opened(call.text + joint + tail, rng, is_chinese=scene.is_chinese)
    step = _step("s2", CallText(second, tuple(said), ""))
    name = f"{scene.subject.token}_id"
    step["args"][name] = {"$ref": f"s1.{name}"}
    step["depends_on"] = ["s1"]
    offered = [first, second, *rng.sample([item for item in scene.tools if item not in (first, second)], 2)]
    yield _case("multistep", scene, query, offered, [_step("s1", call), step])


def _step(step_id: str, call: CallText) -> Record:
    """Return the expected step: one value an argument, whole objects as fields."""
    arguments: Record = {}
    for item in call.said:
        path = item.parameter.path
        if len(path) == 1:
            arguments[path[0]] = list(item.accepted)
        else:
            held = arguments.setdefault(path[0], [{"$fields": {}}])
            held[0]["$fields"][path[1]] = list(item.accepted)
    return {"id": step_id, "tool": call.tool.name, "args": arguments, "optional": [], "depends_on": []}


def _case(
    category: str,
    scene: Scene,
    query: str,
    offered: Sequence[GeneratedTool],
    steps: Sequence[Record],
    fields: Sequence[str] = (),
) -> Record:
    kind = category if category in {"none", "ask"} else "plan"
    expected: Record = {"kind": kind, "steps": list(steps)}
    if fields:
        expected |= {"tool": offered[0].name, "fields": list(dict.fromkeys(fields))}
    return {
        "source": f"{FORM}/{scene.subject.token}",
        "category": category,
        "lang": "zh" if scene.is_chinese else "en",
        "context": "",
        "query": query,
        "tools": [tool.definition for tool in sorted(offered, key=lambda tool: tool.name)],
        "expected": expected,
        "match": "exact",
    }
