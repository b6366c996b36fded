"""Files that a command writes: whole or not at all, also when it is interrupted."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from taoloop.core.errors import InvalidRequest


def write_whole(path: Path, text: str, *, is_replacing: bool = True) -> None:
    """Write a text file in one step: it is written beside its place, then moved there.

    Args:
        path: Where; folders on the way are made. What is no regular file, such as `/dev/stdout`, is written to.
        text: What.
        is_replacing: Whether a file that is there already is replaced; else it is refused.

    Raises:
        InvalidRequest: It cannot be written, or is there already; the message names it.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
        else:
            _write_beside(path.resolve(), text, is_replacing=is_replacing)
    except OSError as exc:
        if isinstance(exc, FileExistsError) and path.exists():
            message = f"{path} is there already; give another --out, or --force to replace it."
        else:
            message = f"{path} cannot be written: {exc.strerror or exc}."
        raise InvalidRequest(message, metadata={"path": str(path)}) from exc


def _write_beside(path: Path, text: str, *, is_replacing: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", suffix=".part", delete=False
    ) as file:
        made = Path(file.name)
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            made.chmod(0o666 & ~_umask())
            _moved(made, path, is_replacing=is_replacing)
        finally:
            made.unlink(missing_ok=True)


def _moved(made: Path, path: Path, *, is_replacing: bool) -> None:
    if is_replacing:
        made.replace(path)
    else:
        path.hardlink_to(made)  # unlike a move, it fails where something is


def _umask() -> int:
    """Return the process's mask for new files, which only setting it tells."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
