"""The services know no example: no tool name and no sentence of examples/ stands in their code."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.packaging import checkout

EXAMPLES = sorted(path for path in (checkout.ROOT / "examples").glob("*") if (path / "catalogue.yaml").exists())


def tool_names(example: Path) -> Iterator[str]:
    """Yield the names of the example's tools."""
    for path in sorted((example / "tools").glob("*.yaml")):
        yield YAML(typ="safe").load(path)["metadata"]["name"]


def task_texts(example: Path) -> Iterator[str]:
    """Yield what the users of the example's tasks say."""
    for path in sorted(example.glob("tasks*.yaml")):
        for task in YAML(typ="safe").load(path)["tasks"]:
            yield task["text"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_no_tool_or_task_of_an_example_stands_in_the_services(example: Path) -> None:
    names, texts = list(tool_names(example)), list(task_texts(example))
    assert names
    assert texts
    sources = {
        path.relative_to(checkout.SOURCE): path.read_text()
        for path in checkout.SOURCE.rglob("*")
        if path.suffix in {".py", ".lua", ".json", ".yaml"}
    }
    # A tool's name counts as a whole word: `send_message` is none of ours in `grpc.max_send_message_length`.
    patterns = [rf"\b{re.escape(name)}\b" for name in names] + [re.escape(text) for text in texts]
    assert [(str(path), p) for path, source in sources.items() for p in patterns if re.search(p, source)] == []
