"""`taoloop tools lock` and `tools diff`: what plans depend on, written down, and what changed since."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import CatalogueArgument, JsonOption
from taoloop.core.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taoloop.tools.compatibility import Change, Surface


class DiffExit(IntEnum):
    """What the exit status of `tools diff` means, for a step of a pipeline."""

    SAME = 0
    """Nothing changed; or only what is compatible, and --strict was not given."""

    COMPATIBLE = 1
    """Something compatible changed, under --strict."""

    BREAKING = 2
    """Plans and callers that know the old state may fail."""


def lock(
    catalogue: CatalogueArgument,
    *,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File; contracts.lock of the catalogue else.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write contracts.lock: per tool the digests and what plans depend on.

    Example: [bold]taoloop tools lock examples/customer-service[/bold]
    """
    from taoloop.cli.batch.writing import write_whole
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.tools.compatibility.lock import lock_of, write_lock
    from taoloop.tools.served_catalogue import read_catalogue

    loaded = read_catalogue(catalogue)
    path = out or _lock_path(catalogue)
    write_whole(path, write_lock(lock_of(loaded)))
    if as_json:
        print_json({"lock": str(path), "tools": len(loaded), "digest": loaded.digest})
    else:
        output().print(styled(f"{path}: {len(loaded)} tools, digest {loaded.digest}"))


def diff(
    catalogue: CatalogueArgument,
    *,
    lock_file: Annotated[
        Path | None, typer.Option("--lock", help="Lock to compare with; contracts.lock of the catalogue else.")
    ] = None,
    against: Annotated[Path | None, typer.Option(help="Catalogue or bundle to compare with instead.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 for compatible changes too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Say what changed in a catalogue and whether it breaks plans: exit code 2 if it does, else 0.

    Example: [bold]taoloop tools diff examples/customer-service --lock contracts.lock --strict[/bold]
    """
    from taoloop.tools.compatibility import compare
    from taoloop.tools.compatibility.lock import lock_of
    from taoloop.tools.served_catalogue import read_catalogue

    if lock_file is not None and against is not None:
        raise typer.BadParameter("stands beside --against; give one of the two", param_hint="--lock")
    new = lock_of(read_catalogue(catalogue)).surfaces
    changes = compare(_known(lock_file or _lock_path(catalogue), against), new)
    _show(changes, as_json=as_json)
    if any(each.is_breaking for each in changes):
        raise typer.Exit(DiffExit.BREAKING)
    raise typer.Exit(DiffExit.COMPATIBLE if changes and strict else DiffExit.SAME)


def _lock_path(catalogue: Path) -> Path:
    from taoloop.tools.compatibility.lock import FILE_NAME

    return (catalogue if catalogue.is_dir() else catalogue.parent) / FILE_NAME


def _known(lock_path: Path, against: Path | None) -> Mapping[str, Surface]:
    from taoloop.core.errors import InvalidRequest
    from taoloop.tools.compatibility.lock import LockRefused, lock_of, read_lock_file
    from taoloop.tools.served_catalogue import read_catalogue

    if against is not None:
        return lock_of(read_catalogue(against)).surfaces
    try:
        return read_lock_file(lock_path).surfaces
    except LockRefused as exc:
        message = f"{exc}; write it with `taoloop tools lock`."
        raise InvalidRequest(message, metadata={"path": str(lock_path)}) from exc


def _show(changes: tuple[Change, ...], *, as_json: bool) -> None:
    from taoloop.cli.terminal import output, print_json, styled

    breaking = sum(each.is_breaking for each in changes)
    for each in changes:
        if as_json:
            print_json(
                {
                    "tool": each.tool,
                    "code": each.code,
                    "pointer": each.pointer,
                    "breaking": each.is_breaking,
                    "message": each.message,
                }
            )
        else:
            output().print(styled(each, "red" if each.is_breaking else "yellow"))
    if not as_json:
        summary = f"{counted(len(changes), 'change')}, {breaking} breaking"
        output().print(styled(summary, "red" if breaking else "green"))
