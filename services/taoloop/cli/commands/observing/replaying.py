"""`taoloop observe replay`: recorded responses against a changed contract, and which verdicts change."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import JsonOption
from taoloop.core.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taoloop.cli.batch.progress import Progress
    from taoloop.core.exact_json import JsonValue
    from taoloop.evaluation.samples.exchanges import RecordedObserver
    from taoloop.evaluation.samples.reading import RecordReader
    from taoloop.evaluation.samples.replaying import Difference, Replay, ReplayCounts, Replayed


class ReplayExit(IntEnum):
    """What the exit status of `observe replay` means, for a step of a pipeline."""

    SAME = 0
    """No verdict changed; data or confidences may have."""

    CHANGED = 1
    """A verdict changed."""

    SKIPPED = 2
    """Records could not be used, so that nothing is certain of the rest; or the command line is wrong."""

    INTERRUPTED = 130
    """Ctrl-C; what was counted until then is shown."""


def replay(
    records: Annotated[
        list[Path], typer.Argument(metavar="RECORDS...", help="Folders, `.jsonl` files and samples, in any mix.")
    ],
    *,
    catalogue: Annotated[Path, typer.Option(help="The changed catalogue: directory, file or bundle.")],
    against: Annotated[
        Path | None, typer.Option(help="The catalogue before the change; else what each record expects of itself.")
    ] = None,
    tool: Annotated[str, typer.Option(help="Whose records they are where they do not say it.")] = "",
    show_all: Annotated[bool, typer.Option("--all", help="Show the records that did not change, too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Judge recorded responses by a changed contract, and show which verdicts, data and confidences change.

    A record is a sample, or a line [bold]{"tool": …, "arguments": {…}, "status_code": 200, "body": …}[/bold]. Lines
    are read one by one, so that a file may have any length. Exit code 1 if a verdict changed, 2 if records could not be
    used: each is named with its line, and the rest is judged.

    Example: [bold]taoloop observe replay recorded.jsonl --catalogue new --against old[/bold]
    """
    from taoloop.cli.batch.progress import Progress
    from taoloop.core.clock import SystemClock
    from taoloop.evaluation.samples.replaying import ReplayCounts

    for path in records:
        if not path.exists():
            raise typer.BadParameter(f"there is no {path}", param_hint="RECORDS")
    new, old = _observer(catalogue), None if against is None else _observer(against)
    reader = _reader(records, ((new, catalogue), (old, against)), tool)
    comparison = _comparison(new, old)
    counts = ReplayCounts()
    try:
        with Progress("replayed", reader.total_bytes, SystemClock()) as progress:
            for replayed, place in _replayed(reader, comparison, counts, progress):
                if show_all or replayed.is_changed:
                    _show(replayed, place, as_json=as_json)
    except KeyboardInterrupt:
        _show_summary(counts, new, old, as_json=as_json)
        raise typer.Exit(ReplayExit.INTERRUPTED) from None
    _show_summary(counts, new, old, as_json=as_json)
    if counts.skipped:
        raise typer.Exit(ReplayExit.SKIPPED)
    raise typer.Exit(ReplayExit.CHANGED if counts.verdicts else ReplayExit.SAME)


def _observer(catalogue: Path) -> RecordedObserver:
    from taoloop.core.clock import SystemClock
    from taoloop.evaluation.samples.exchanges import RecordedObserver
    from taoloop.tools.served_catalogue import read_catalogue

    return RecordedObserver(read_catalogue(catalogue, are_samples_judged=False), SystemClock())


def _reader(
    records: list[Path], catalogues: Iterable[tuple[RecordedObserver | None, Path | None]], tool: str
) -> RecordReader:
    from taoloop.evaluation.samples.reading import RecordReader

    listed = []
    for observer, path in catalogues:
        if observer is not None and path is not None:
            root = None if path.suffix == ".json" else path if path.is_dir() else path.parent
            listed.append((observer.catalogue, root))
    return RecordReader(records, listed, tool)


def _comparison(new: RecordedObserver, old: RecordedObserver | None) -> Replay:
    from taoloop.evaluation.samples.replaying import Replay

    return Replay(new, old)


def _replayed(
    reader: RecordReader, comparison: Replay, counts: ReplayCounts, progress: Progress
) -> Iterator[tuple[Replayed, str]]:
    """Yield each record that can be used; name the others on standard error."""
    from taoloop.cli.terminal import messages, styled

    for record in reader:
        if record.exchange is None:
            counts.skipped += 1
            messages().print(styled(f"{record.place}: left out: {record.fault}", "red"))
        else:
            replayed = comparison.replayed(record.exchange)
            counts.add(replayed)
            yield replayed, record.place
        progress.advance(record.end_bytes)


def _show(replayed: Replayed, place: str, *, as_json: bool) -> None:
    from taoloop.cli.terminal import output, print_json, styled

    if as_json:
        print_json(_replayed_json(replayed, place))
        return
    console = output()
    old, new = replayed.old, replayed.new
    changed = f"{old} → {new}" if replayed.is_other_verdict else str(new)
    style = "" if not replayed.is_other_verdict else "green" if new.valid else "red"
    console.print(styled(f"{place}: {replayed.tool}: {changed}", style))
    if replayed.is_other_confidence and old is not None and old.confidence is not None:
        console.print(styled(f"  confidence {old.confidence:.3f} → {new.confidence:.3f}"))
    for failure in replayed.failures if replayed.is_other_verdict else ():
        at = f" at {failure.pointer}" if failure.pointer else ""
        console.print(styled(f"  {failure.stage} {failure.rule_id or 'check'}{at}: {failure.message}", "red"))
    for label, places in (("data", replayed.data), ("prompts see", replayed.exposed)):
        for each in places:
            console.print(styled(f"  {label} {_difference_words(each)}"))


def _difference_words(difference: Difference) -> str:
    from taoloop.cli.run_view import value_words

    old, new = value_words(difference.old) or "nothing", value_words(difference.new) or "nothing"
    return f"{difference.pointer or '/'}: {old} → {new}"


def _replayed_json(replayed: Replayed, place: str) -> JsonValue:
    from taoloop.cli.records import record_json

    return {
        "record": place,
        "changed": {
            "verdict": replayed.is_other_verdict,
            "data": bool(replayed.data),
            "exposed": bool(replayed.exposed),
            "confidence": replayed.is_other_confidence,
        },
        **record_json(replayed),
    }


def _show_summary(counts: ReplayCounts, new: RecordedObserver, old: RecordedObserver | None, *, as_json: bool) -> None:
    from dataclasses import asdict

    from taoloop.cli.terminal import output, print_json, styled

    if as_json:
        against = "" if old is None else old.catalogue.digest
        # Every count, the zeros too: a pipeline reads them by name.
        print_json({"summary": {**asdict(counts), "catalogue": new.catalogue.digest, "against": against}})
        return
    tools = ", ".join(f"{name} {count}" for name, count in sorted(counts.tools.items()))
    words = (
        f"{counted(counts.records, 'record')}, {counts.valid} valid; changed: {counted(counts.verdicts, 'verdict')} "
        f"({counts.broken} no longer valid), {counts.data} data, {counted(counts.confidences, 'confidence')}"
        + (f", {counts.exposed} in what prompts see" if counts.exposed else "")
        + (f"; {counts.skipped} left out" if counts.skipped else "")
        + (f"; by tool: {tools}" if tools else "")
    )
    output().print(styled(words, "red" if counts.verdicts or counts.skipped else "green"))
