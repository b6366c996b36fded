"""Recorded replies of tools, and which of them a call gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.loading.samples import Sample, filled, read_sample

_DEFAULT_STEM: Final = "default"


class SampleInvalid(ValueError):
    """A file that a contract names is not a sample."""


@dataclass(frozen=True, slots=True)
class ToolSample:
    """One recorded exchange with a tool.

    Attributes:
        sample: The exchange.
        is_default: Whether it answers every call that no other sample fits: its file is `default.json`.
    """

    sample: Sample
    is_default: bool = False

    def body_for(self, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Return the body with the call's arguments in the places that name them."""
        return filled(self.sample.body, arguments)


def read_samples(root: Path, catalogue: Catalogue) -> dict[str, tuple[ToolSample, ...]]:
    """Read the samples of every tool of a catalogue; blocks on the file system.

    Args:
        root: The directory that the contracts' globs are relative to.
        catalogue: Whose samples.

    Raises:
        SampleInvalid: A file is not a sample; the message names it.
    """
    return {
        name: tuple(_read(path) for pattern in contract.samples for path in sorted(root.glob(pattern)))
        for name, contract in catalogue.tools.items()
    }


def choose_sample(samples: Iterable[ToolSample], arguments: Mapping[str, JsonValue]) -> ToolSample | None:
    """Return the sample whose arguments equal these as JSON values, else the default one, else None."""
    default: ToolSample | None = None
    for found in samples:
        if exact_json.equal(found.sample.arguments, arguments):
            return found
        if found.is_default:
            default = default or found
    return default


def _read(path: Path) -> ToolSample:
    try:
        return ToolSample(read_sample(path.read_text(encoding="utf-8-sig")), path.stem == _DEFAULT_STEM)
    except (OSError, ValueError) as exc:
        raise SampleInvalid(f"{path}: {exc}") from exc
