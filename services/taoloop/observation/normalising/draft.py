"""The data while it is made: a view of the body in which only what changes is copied."""

from __future__ import annotations

from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.tools.normalisers.place_tree import PlaceTree
from taoloop.tools.normalisers.places import Path, array_index


class Draft:
    """A value that starts as the body, which is never changed: a container is copied before it is first written to.

    Attributes:
        root: The value as it stands.
    """

    __slots__ = ("_owned", "root")

    def __init__(self, body: JsonValue) -> None:
        self.root = body
        # Ids of the containers that are copies; each is reachable from the root, so that no id is used again.
        self._owned: Final[set[int]] = set()

    def take(self, path: Path) -> Json:
        """Return what stands at the place and take it out; an item of an array stays, so that others keep their index.

        Returns:
            ABSENT when nothing is there.
        """
        if not self._has(path):
            return ABSENT
        parent = self._parent(path, is_made=False)
        last = path[-1]
        if isinstance(parent, dict):
            return parent.pop(str(last), ABSENT)
        index = _index(parent, last)
        if index is None or not isinstance(parent, list):
            return ABSENT
        self.share()
        return parent[index]

    def _has(self, path: Path) -> bool:
        """Tell whether something stands at a place, before anything is copied for it."""
        node = self.root
        for key in path:
            if isinstance(node, dict):
                if key not in node:
                    return False
                node = node[key]
            else:
                index = _index(node, key)
                if index is None or not isinstance(node, list):
                    return False
                node = node[index]
        return True

    def share(self) -> None:
        """Note that a value stands in two places from now on: whatever is written to next is copied first."""
        self._owned.clear()

    def put(self, path: Path, new: JsonValue) -> bool:
        """Put a value at the place; objects on the way are made, and the empty path is the whole.

        Returns:
            Whether there is such a place: no scalar and no missing item stands in the way.
        """
        if not path:
            self.root = new
            return True
        parent = self._parent(path, is_made=True)
        last = path[-1]
        if isinstance(parent, dict):
            parent[str(last)] = new
            return True
        index = _index(parent, last)
        if index is None or not isinstance(parent, list):
            return False
        parent[index] = new
        return True

    def put_made(self, path: Path, made: JsonValue) -> None:
        """Put a container that was made for this draft in the place of the one that stands there."""
        self.put(path, made)
        self._owned.add(id(made))

    def prune(self, tree: PlaceTree) -> None:
        """Leave only what the tree means; scalars on the way to a place stay."""
        self.root = self._pruned(self.root, tree)

    def _pruned(self, value: JsonValue, tree: PlaceTree) -> JsonValue:
        if tree.is_whole or not isinstance(value, dict | list):
            return value
        pruned: dict[str, JsonValue] | list[JsonValue]
        if isinstance(value, dict):
            pruned = {}
            for key, member in value.items():
                below = tree.child(key)
                if below is not None:
                    pruned[key] = self._pruned(member, below)
        else:
            every = tree.every
            pruned = [] if every is None else [self._pruned(item, every) for item in value]
        self._owned.add(id(pruned))
        return pruned

    def _parent(self, path: Path, *, is_made: bool) -> Json:
        """Return the container that holds the place, ready to be written to; ABSENT where there is none."""
        node: JsonValue = self._writable(self.root)
        self.root = node
        for key in path[:-1]:
            if isinstance(node, dict):
                name = str(key)
                if name not in node:
                    if not is_made:
                        return ABSENT
                    node[name] = self._own({})
                node[name] = below = self._writable(node[name])
            else:
                index = _index(node, key)
                if index is None or not isinstance(node, list):
                    return ABSENT
                node[index] = below = self._writable(node[index])
            node = below
        return node

    def _writable(self, value: JsonValue) -> JsonValue:
        if id(value) in self._owned:
            return value
        if isinstance(value, dict):
            return self._own(dict(value))
        return self._own(list(value)) if isinstance(value, list) else value

    def _own(self, value: JsonValue) -> JsonValue:
        self._owned.add(id(value))
        return value


def _index(value: Json, key: str | int) -> int | None:
    if not isinstance(value, list):
        return None
    index = key if isinstance(key, int) else array_index(key)
    return index if index is not None and index < len(value) else None
