"""The wheel holds the whole package: code, types, and the data files beside the code."""

import configparser
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.packaging import checkout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.Path:
    """Build the wheel as a release does and return its contents."""
    folder = tmp_path_factory.mktemp("wheel")
    finished = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)],
        cwd=checkout.ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    (built,) = folder.glob("*.whl")
    return zipfile.Path(built)


def files_below(folder: Path | zipfile.Path, prefix: str = "") -> set[str]:
    """Return the relative paths of all files but Python's caches."""
    found: set[str] = set()
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name != "__pycache__":
                found |= files_below(entry, f"{prefix}{entry.name}/")
        else:
            found.add(prefix + entry.name)
    return found


def test_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: zipfile.Path) -> None:
    packed = files_below(wheel)
    metadata = {name for name in packed if name.startswith("taoloop-")}
    assert packed - metadata == {f"taoloop/{name}" for name in files_below(checkout.SOURCE)}


def test_wheel_is_typed(wheel: zipfile.Path) -> None:
    assert (wheel / "taoloop" / "py.typed").exists()


def test_wheel_installs_the_taoloop_command(wheel: zipfile.Path) -> None:
    (metadata,) = (entry for entry in wheel.iterdir() if entry.name.endswith(".dist-info"))
    entry_points = configparser.ConfigParser()
    entry_points.read_string((metadata / "entry_points.txt").read_text())
    assert entry_points["console_scripts"]["taoloop"] == "taoloop.cli.main:main"
    assert (metadata / "licenses" / "LICENSE").exists()
