"""One version of the prompts: the files of a folder, and the hash that names them in traces."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final, cast

from taoloop.core.errors import InvalidRequest
from taoloop.core.exact_json import JsonSyntaxError, loads

LATEST_VERSION: Final = "v1"
"""The version that is used where none is named."""

FILES: Final = ("system.txt", "reasoning_brief.txt", "reasoning_full.txt", "examples.json", "repair.txt")
"""What a version consists of; nothing may be missing."""

_MAX_FILE_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The texts of one version.

    Attributes:
        version: The name of the folder.
        texts: Text by file name.
    """

    version: str
    texts: Mapping[str, str]

    @property
    def digest(self) -> str:
        """SHA-256 over names and texts, as 64 hex characters: equal hashes mean equal prompts."""
        whole = hashlib.sha256()
        for name in sorted(self.texts):
            whole.update(f"{name}\0{self.texts[name]}\0".encode())
        return whole.hexdigest()

    @property
    def examples(self) -> dict[str, Any]:
        """The worked examples: `tools`, lines, and `examples`, each with `user`, `right` and what else it shows."""
        return cast("dict[str, Any]", loads(self.texts["examples.json"]))

    def __repr__(self) -> str:
        return f"<PromptSet {self.version} {self.digest[:12]}>"


def prompt_versions() -> tuple[str, ...]:
    """Return the names of the versions that this release holds, oldest first."""
    folders = [entry.name for entry in _home().iterdir() if entry.is_dir() and entry.name[1:].isdecimal()]
    return tuple(sorted(folders, key=lambda name: int(name[1:])))


def load_prompts(version: str = LATEST_VERSION) -> PromptSet:
    """Return one of the versions of this release.

    Raises:
        InvalidRequest: There is no such version.
    """
    if version not in prompt_versions():
        names = ", ".join(prompt_versions())
        raise InvalidRequest(f"There is no version {version!r} of the prompts; there are: {names}.")
    return _read(_home().joinpath(version), version)


def load_prompts_from(folder: Path) -> PromptSet:
    """Return the prompts of a folder of the operator's own, with the same files.

    Raises:
        InvalidRequest: A file is missing, too large or not UTF-8, or the examples are not JSON.
    """
    return _read(folder, folder.name)


def _home() -> Traversable:
    return files("taoloop.thought.planners.model.prompts")


def _read(folder: Traversable | Path, version: str) -> PromptSet:
    prompts = PromptSet(version, {name: _text(folder, name) for name in FILES})
    try:
        shown = prompts.examples
        is_formed = isinstance(shown["tools"], list) and all(
            "user" in one and "right" in one for one in shown["examples"]
        )
    except (JsonSyntaxError, KeyError, TypeError) as exc:
        raise InvalidRequest(f"The examples of the prompts {version!r} cannot be read: {exc}.") from exc
    if not is_formed:
        raise InvalidRequest(f"The examples of the prompts {version!r} lack `user` or `right`.")
    return prompts


def _text(folder: Traversable | Path, name: str) -> str:
    try:
        data = folder.joinpath(name).read_bytes()
        if len(data) > _MAX_FILE_BYTES:
            raise InvalidRequest(f"The prompt file {name} has more than {_MAX_FILE_BYTES} bytes.")
        return data.decode()
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidRequest(f"The prompt file {name} of {folder} cannot be read: {exc}.") from exc
