"""Changes of the members of one object as one function in Python, for values of which none is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taoloop.core.exact_json import JsonValue
from taoloop.observation.normalising.member_changes import MemberChanges

Changed = Callable[[JsonValue], JsonValue]
"""Takes a body, which stays as it is, and returns the changed one; raises `ValueRefused` at the first refusal."""


def written_changes(changes: MemberChanges) -> Changed:
    """Return what makes the changes of members of the body itself; a body that is no object has none to change."""
    constants: dict[str, object] = {}
    lines = ["if type(item) is not dict:", "    return item", "made = item.copy()"]
    lines += [f"made.pop({name!r}, None)" for name in changes.moved]
    for number, (name, to, change) in enumerate(changes.changes):
        made = "value"
        if change.conversion is not None:
            made = f"convert_{number}(value)"
            constants[f"convert_{number}"] = change.conversion
        if name != to:
            made = made if change.conversion is None else f"None if value is None else {made}"
            lines += [f"if {name!r} in item:", f"    value = item[{name!r}]", f"    made[{to!r}] = {made}"]
        elif change.conversion is not None:  # null stays null
            lines += [f"value = item.get({name!r})", "if value is not None:", f"    made[{to!r}] = {made}"]
    text = "\n    ".join(["def changed(item):", *lines, "return made"])
    namespace: dict[str, Any] = {}
    exec(compile(text, "<normalisers of a contract>", "exec"), constants, namespace)  # noqa: S102 - as dataclasses do
    function: Changed = namespace["changed"]
    return function
