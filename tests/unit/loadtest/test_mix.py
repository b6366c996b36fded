"""The file of tasks: what it may say, and how a bad one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadtest.mix import MixUnusable, read_mix
from taoloop.plan.task import Outcome
from taoloop.tools.signature import Effect

CHECKOUT = Path(__file__).parents[3]


def mix(directory: Path, text: str, name: str = "mix.yaml") -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def test_whole_task_is_read(tmp_path: Path) -> None:
    (task,) = read_mix(
        mix(
            tmp_path,
            """
            tasks:
              - id: one
                text: Where is it?
                weight: 2.5
                reference_time: "2026-03-10T09:00:00+08:00"
                locale: en
                permissions: {max_effect: write, allowed_tools: [a]}
                expect: {outcome: [ANSWERED, NO_TOOL]}
            """,
        )
    )

    assert (task.task_id, task.weight) == ("one", 2.5)
    assert task.expected == {Outcome.ANSWERED, Outcome.NO_TOOL}
    assert task.task.turns[0].text == "Where is it?"
    assert task.task.reference_time is not None
    assert task.task.permissions is not None
    assert task.task.permissions.max_effect is Effect.WRITE


def test_task_of_another_file_is_found_from_the_directory_of_the_mix(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    mix(tmp_path / "other", "tasks: [{id: a, text: A}, {id: b, text: B, weight: 9}]")

    (task,) = read_mix(mix(tmp_path, "tasks: [{from: other/mix.yaml, id: b, weight: 4}]"))

    assert (task.task_id, task.weight, task.task.turns[0].text) == ("b", 4.0, "B")


def test_task_that_the_other_file_does_not_have_is_named(tmp_path: Path) -> None:
    mix(tmp_path, "tasks: [{id: a, text: A}]", "other.yaml")

    with pytest.raises(MixUnusable, match=r"other\.yaml has no task with the id 'b'"):
        read_mix(mix(tmp_path, "tasks: [{from: other.yaml, id: b}]"))


def test_weight_is_one_when_left_out_and_zero_leaves_a_task_out(tmp_path: Path) -> None:
    tasks = read_mix(mix(tmp_path, "tasks: [{id: a, text: A}, {id: b, text: B, weight: 0}]"))

    assert [(task.task_id, task.weight) for task in tasks] == [("a", 1.0)]


def test_stretch_task_may_end_in_any_outcome(tmp_path: Path) -> None:
    (task,) = read_mix(mix(tmp_path, "tasks: [{id: a, text: A, stretch: true, expect: {outcome: ANSWERED}}]"))

    assert task.expected == frozenset()


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "no list `tasks`"),
        ("tasks: 3", "no list `tasks`"),
        ("tasks: [3]", "no list `tasks`"),
        ("tasks: []", "no task to send"),
        ("tasks: [{id: a, text: A, weight: 0}]", "no task to send"),
        ("tasks: [{text: A}]", "id is missing"),
        ("tasks: [{id: a}]", "text is missing"),
        ("tasks: [{id: a, text: ' '}]", "text is no text"),
        ("tasks: [{id: a, text: A, weight: -1}]", "weight -1"),
        ("tasks: [{id: a, text: A, weight: many}]", "weight 'many'"),
        ("tasks: [{id: a, text: A, weight: .inf}]", "weight inf"),
        ("tasks: [{id: a, text: A}, {id: a, text: B}]", "given twice"),
        ("tasks: [{id: a, text: A, expect: {outcome: HAPPY}}]", "happy"),
        ("tasks: [{id: a, text: A, reference_time: noon}]", "noon"),
        ("tasks: [{id: a, text: A, permissions: {max_effect: all}}]", "all"),
        ("tasks: [{from: missing.yaml, id: a}]", "missing.yaml"),
        ("tasks: [{id: a, text: A}, {from: mix.yaml, id: ab}, {id: c, text: C}]", "from a third file"),
        ("tasks: [{from: ../mix.yaml, id: b}]", "mix.yaml: No such file"),
        ("tasks: [{from: mix.yaml, id: b}]", "from a third file"),
        ("tasks: [", "no YAML"),
    ],
)
def test_unusable_file_is_refused_with_its_cause(tmp_path: Path, text: str, cause: str) -> None:
    with pytest.raises(MixUnusable, match=r"mix\.yaml|missing\.yaml") as caught:
        read_mix(mix(tmp_path, text))

    assert cause in str(caught.value)


def test_file_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mix.yaml"
    path.write_bytes(b"tasks: [{id: a, text: \xff\xfe}]")

    with pytest.raises(MixUnusable):
        read_mix(path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MixUnusable, match="No such file"):
        read_mix(tmp_path / "none.yaml")


def test_mix_of_the_checkout_is_usable_and_documented() -> None:
    tasks = read_mix(CHECKOUT / "loadtest" / "mix.yaml")
    readme = (CHECKOUT / "loadtest" / "README.md").read_text(encoding="utf-8")

    assert [task.task_id for task in tasks if f"| `{task.task_id}` | {task.weight:g} % |" not in readme] == []
    assert sum(task.weight for task in tasks) == 100
