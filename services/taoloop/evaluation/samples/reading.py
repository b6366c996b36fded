"""Recorded exchanges read one by one: samples in folders, JSON lines of any length, bad ones named and left out."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

from taoloop.core.exact_json import ABSENT, JsonSyntaxError, JsonValue, loads
from taoloop.evaluation.samples.exchanges import Exchange
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.loading.samples import Sample, sample_from_json, sample_paths

MAX_RECORD_BYTES: Final = 16 * 1024 * 1024
"""Largest record that is read; a longer line is named, passed over and not kept in memory."""

_MAX_NAME_CHARACTERS: Final = 100

LINES_SUFFIXES: Final = frozenset({".jsonl", ".ndjson"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record, or what is wrong with it.

    Attributes:
        place: `FILE` or `FILE:LINE`.
        exchange: What it holds; None when it cannot be used.
        fault: Why not; empty when it can.
        end_bytes: How much of all the input was read with it.
    """

    place: str
    exchange: Exchange | None = None
    fault: str = ""
    end_bytes: int = 0


class RecordFault(ValueError):
    """A record cannot be used; the message says why."""


class RecordReader:
    """Reads records in the order of the paths that are given, and of the names in a folder.

    Args:
        paths: Folders, `.jsonl` files and samples; a folder stands for all such files below it.
        catalogues: Each with what its globs are relative to, or None for a bundle; a sample names its tool by being
            listed in a contract, or by the name of its folder.
        tool: Whose records they are where they do not say; empty for none.
    """

    def __init__(
        self, paths: Iterable[Path], catalogues: Sequence[tuple[Catalogue, Path | None]], tool: str = ""
    ) -> None:
        self._files = [file for path in paths for file in _files(path)]
        self._tool = tool
        self._names = frozenset(each.contract.name for catalogue, _ in catalogues for each in catalogue)
        self._listed: dict[Path, str] = {}
        for catalogue, root in catalogues:
            if root is not None:
                self._listed.update(_listed(catalogue, root))
        self.total_bytes: Final = sum(_size(file) for file in self._files)

    def __iter__(self) -> Iterator[Record]:
        """Yield every record; only one is in memory at a time. Blocks on the file system."""
        before = 0
        for file in self._files:
            if file.suffix in LINES_SUFFIXES:
                yield from self._lines(file, before)
            else:
                yield self._whole(file, before + _size(file))
            before += _size(file)

    def _whole(self, file: Path, end_bytes: int) -> Record:
        try:
            if _size(file) > MAX_RECORD_BYTES:
                raise RecordFault(f"it has more than {MAX_RECORD_BYTES} bytes")
            exchange = self._exchange(file.read_bytes(), file)
        except OSError as exc:
            return Record(place=str(file), fault=exc.strerror or str(exc), end_bytes=end_bytes)
        except RecordFault as fault:
            return Record(place=str(file), fault=str(fault), end_bytes=end_bytes)
        return Record(place=str(file), exchange=exchange, end_bytes=end_bytes)

    def _lines(self, file: Path, before: int) -> Iterator[Record]:
        try:
            with file.open("rb") as source:
                for number, line in enumerate(_bounded_lines(source), start=1):
                    place, end_bytes = f"{file}:{number}", before + source.tell()
                    if line is not None and not line.strip():
                        continue
                    try:
                        exchange = self._exchange(line, file)
                    except RecordFault as fault:
                        yield Record(place=place, fault=str(fault), end_bytes=end_bytes)
                    else:
                        yield Record(place=place, exchange=exchange, end_bytes=end_bytes)
        except OSError as exc:
            yield Record(place=str(file), fault=exc.strerror or str(exc), end_bytes=before)

    def _exchange(self, content: bytes | None, file: Path) -> Exchange:
        if content is None:
            raise RecordFault(f"it has more than {MAX_RECORD_BYTES} bytes")
        try:
            value = loads(content.removeprefix(b"\xef\xbb\xbf"))
        except JsonSyntaxError as exc:
            raise RecordFault(f"it is not JSON: {exc.message} at column {exc.column}") from exc
        if not isinstance(value, dict):
            raise RecordFault("it is no JSON object")
        if "response" in value:
            sample = _sample(value)
            return Exchange.of_sample(self._named(sample.tool, file), sample)
        return _flat(value, self._named(value.get("tool", ""), file))

    def _named(self, written: JsonValue, file: Path) -> str:
        """Return the tool that a record is of: what it says, else the contract that lists it, else its folder."""
        if not isinstance(written, str):
            raise RecordFault("`tool` is not a text")
        folder = file.parent.name if file.parent.name in self._names else ""
        name = written or self._listed.get(file.resolve(), "") or self._tool or folder
        if not name:
            raise RecordFault("it does not say which tool answered; add `tool`, or give --tool")
        if name not in self._names:
            raise RecordFault(f"there is no tool {name[:_MAX_NAME_CHARACTERS]}")
        return name

    def __repr__(self) -> str:
        return f"RecordReader({len(self._files)} files, {self.total_bytes} bytes)"


def _flat(value: dict[str, JsonValue], tool: str) -> Exchange:
    """Read `{"tool": …, "arguments": {…}, "status_code": 200, "body": …}`; other members are left aside."""
    if "status_code" not in value:
        raise RecordFault("it has no `status_code`")
    status, seconds = value["status_code"], value.get("response_time_seconds")
    if isinstance(status, bool) or not isinstance(status, int) or not 0 <= status <= 999:
        raise RecordFault("`status_code` is not a number from 0 to 999")
    is_number = isinstance(seconds, int | Decimal) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and float(str(seconds)) >= 0):
        raise RecordFault("`response_time_seconds` is not a number of seconds")
    content_type = value.get("content_type", "")
    if not isinstance(content_type, str):
        raise RecordFault("`content_type` is not a text")
    return Exchange(
        tool=tool,
        arguments=value.get("arguments", ABSENT),
        status_code=status,
        body=value.get("body", ABSENT),
        content_type=content_type.partition(";")[0].strip().lower(),
        response_time_seconds=float(str(seconds)) if seconds is not None else None,
        expect=_sample(_as_sample(value)).expect if "expect" in value else None,
    )


def _as_sample(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {"request": {"arguments": {}}, "response": {"status": 200}, "expect": value["expect"]}


def _sample(value: dict[str, JsonValue]) -> Sample:
    try:
        return sample_from_json(value)
    except ValueError as fault:
        raise RecordFault(f"it is no sample: {fault}") from fault


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    wanted = {".json", *LINES_SUFFIXES}
    yield from sorted(each for each in path.rglob("*") if each.suffix in wanted and each.is_file())


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _listed(catalogue: Catalogue, root: Path) -> dict[Path, str]:
    """Return the tool of every sample that a contract names."""
    return {path.resolve(): tool.contract.name for tool in catalogue for path in sample_paths(tool.contract, root)}


def _bounded_lines(source: io.BufferedReader) -> Iterator[bytes | None]:
    """Yield lines; None for one that is too long, of which nothing is kept."""
    while line := source.readline(MAX_RECORD_BYTES + 1):
        if len(line) <= MAX_RECORD_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = source.readline(MAX_RECORD_BYTES)
        yield None
