"""What rules may read of a call, written as JSON part by part and once: only the parts that some rule reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.rules.compiled import RuleData


class RuleScope:
    """Named values, such as `body` and `arguments`, that become data for rules when a rule asks for them.

    A value that stands under two names, as a body does that is its own data, is written once. The scope belongs to
    one task; its values must not change.
    """

    def __init__(self, values: Mapping[str, JsonValue], texts: Mapping[str, str] | None = None) -> None:
        """Take the values.

        Args:
            values: The values by name.
            texts: The JSON text of some of them, from who has it at hand.
        """
        self.values: Final = dict(values)
        # By identity, since a value may have two names; the values live as long as the scope.
        self._texts: Final = {id(self.values[name]): text for name, text in (texts or {}).items()}

    def add(self, name: str, value: JsonValue) -> None:
        """Add a value; data that was made before does not have it."""
        self.values[name] = value

    def data(self, roots: frozenset[str] | None) -> RuleData:
        """Return the data for rules.

        Args:
            roots: The names that the rules read, as `CompiledRule.roots` says; None takes all.

        Raises:
            JsonEncodeError: A value has no JSON form or nests deeper than 64.
        """
        texts = self._texts
        members = []
        for name, value in self.values.items():
            if roots is None or name in roots:
                text = texts.get(id(value))
                if text is None:
                    text = texts[id(value)] = exact_json.dumps(value)
                members.append(f'"{name}":{text}')
        return RuleData(self.values, f"{{{','.join(members)}}}")
