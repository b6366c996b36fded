"""A file of a model's predictions that grows line by line, so that a run that was interrupted goes on."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO, cast

from taoloop.core.errors import InvalidRequest
from taoloop.core.exact_json import JsonSyntaxError, dumps, loads
from taoloop.evaluation.planning.models.asking import Asked
from taoloop.models.ports import TokenUsage


class PredictionFile:
    """Reads what is there already, then appends; without a path nothing is kept.

    Each line is a prediction with `by`, `seconds`, `tokens` and perhaps `failure` beside it:

        {"id": "c1", "kind": "none", "by": "planner, …", "seconds": 0.8,
         "tokens": {"input": 900, "cached": 640, "output": 9}}

    Args:
        path: The file; made when it is not there.
        by: Who plans and how, see `CaseAsker.identity`.

    Raises:
        InvalidRequest: The file cannot be read or written, or holds predictions of somebody else.
    """

    def __init__(self, path: Path | None, by: str) -> None:
        self._path = path
        self._by = by
        self._file: TextIO | None = None
        self.kept = {} if path is None else self._read(path)

    def __enter__(self) -> Self:
        if self._path is not None:
            try:
                # What was read is written again: the last line may have been cut off.
                self._file = self._path.open("w", encoding="utf-8")
            except OSError as exc:
                raise _unusable(self._path, f"cannot be written: {exc.strerror or exc}") from exc
            for asked in self.kept.values():
                self._write(asked)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def keep(self, asked: Asked) -> None:
        """Add a prediction; it is in the file when this returns."""
        self.kept[str(asked.prediction["id"])] = asked
        self._write(asked)

    def _write(self, asked: Asked) -> None:
        if self._file is None:
            return
        self._file.write(dumps(self._line(asked)) + "\n")
        self._file.flush()

    def _line(self, asked: Asked) -> dict[str, Any]:
        usage = asked.usage
        tokens = {"input": usage.input_tokens, "cached": usage.cached_tokens, "output": usage.output_tokens}
        failure = {"failure": asked.failure} if asked.failure else {}
        seconds = Decimal(f"{asked.seconds:.3f}")
        return {**asked.prediction, **failure, "by": self._by, "seconds": seconds, "tokens": tokens}

    def _read(self, path: Path) -> dict[str, Asked]:
        try:
            lines = path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return {}
        except OSError as exc:
            raise _unusable(path, f"cannot be read: {exc.strerror or exc}") from exc
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
        found = (self._asked(line, path, number) for number, line in enumerate(lines, 1))
        return {str(asked.prediction["id"]): asked for asked in found}

    def _asked(self, line: bytes, path: Path, number: int) -> Asked:
        try:
            value = cast("dict[str, Any]", loads(line))
            by, tokens = str(value.pop("by")), value.pop("tokens")
            usage = TokenUsage(int(tokens["input"]), int(tokens["output"]), int(tokens["cached"]))
            seconds, failure = float(value.pop("seconds")), str(value.pop("failure", ""))
            str(value["id"]), str(value["kind"])
        except (JsonSyntaxError, KeyError, TypeError, ValueError, AttributeError) as exc:
            raise _unusable(path, f"has no prediction of a model in line {number}") from exc
        if by != self._by:
            raise _unusable(path, f"holds predictions by {by!r}, and this run's are by {self._by!r}")
        return Asked(prediction=value, failure=failure, usage=usage, seconds=seconds)


def _unusable(path: Path, why: str) -> InvalidRequest:
    return InvalidRequest(f"{path} {why}; give another --out.", metadata={"path": str(path)})
