"""Reads what was seen of every tool of a catalogue: from the samples of a directory, or from a bundle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import ToolContract
from taoloop.tools.loading.bundle_file import Bundle, read_bundle_file
from taoloop.tools.loading.samples import Sample, read_sample
from taoloop.tools.seen.document import SeenRefused, from_document
from taoloop.tools.seen.learning import learn
from taoloop.tools.seen.place import Place


def read_seen(path: Path, catalogue: Catalogue) -> Mapping[str, Place]:
    """Return what was seen of each tool by its name; blocks on the file system.

    A bundle holds it ready. A file that was packed before bundles did, and a sample that cannot be read, which
    loading reports, leave what the contract itself lists.

    Args:
        path: Where the catalogue was read from: a directory, its file, or a bundle.
        catalogue: What was read.
    """
    packed = _packed(path)
    root = path if path.is_dir() else path.parent
    found: dict[str, Place] = {}
    for name, contract in catalogue.tools.items():
        written = packed.get(name)
        found[name] = learn(contract, samples_of(contract, root)) if written is None else written
    return found


def samples_of(contract: ToolContract, root: Path) -> Iterator[Sample]:
    """Yield the samples that a contract names, without those that cannot be read."""
    for pattern in contract.samples:
        for file in sorted(root.glob(pattern)):
            try:
                yield read_sample(file.read_text(encoding="utf-8-sig"))
            except (OSError, ValueError):
                continue


def _packed(path: Path) -> Mapping[str, Place]:
    bundle = read_bundle_file(path) if path.suffix == ".json" else None
    if not isinstance(bundle, Bundle):
        return {}
    places = {}
    for name, document in bundle.seen.items():
        try:
            places[name] = from_document(document)
        except SeenRefused:
            continue
    return places
