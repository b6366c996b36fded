"""`python -m taoloop.cli.docs write|check`: writes the generated pages of a checkout, or says which are out of date."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from taoloop.cli.reference_pages import REGENERATE, pages

_CHECKOUT: Final = Path(__file__).parents[3]
_MODES: Final = ("write", "check")


def main(arguments: Sequence[str], root: Path = _CHECKOUT) -> int:
    """Write or check the pages under `root`; return the exit code."""
    if len(arguments) != 1 or arguments[0] not in _MODES:
        print("usage: python -m taoloop.cli.docs write|check", file=sys.stderr)
        return 2
    if not (root / "pyproject.toml").is_file():
        print(f"{root} is not a checkout of taoloop; the pages belong to the repository", file=sys.stderr)
        return 1
    return _write(root, pages()) if arguments[0] == "write" else _check(root, pages())


def _write(root: Path, wanted: Mapping[Path, str]) -> int:
    for path, text in wanted.items():
        target = root / path
        if _present(target) != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
    return 0


def _check(root: Path, wanted: Mapping[Path, str]) -> int:
    stale = False
    for path, text in wanted.items():
        present = _present(root / path)
        if present != text:
            stale = True
            names = (str(path), f"{path} (as the code has it)")
            sys.stdout.writelines(
                difflib.unified_diff(present.splitlines(keepends=True), text.splitlines(keepends=True), *names, n=1)
            )
    if stale:
        print(f"The generated pages are out of date: run `{REGENERATE}` (or `make docs`).", file=sys.stderr)
    return 1 if stale else 0


def _present(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
