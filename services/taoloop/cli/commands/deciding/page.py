"""The page docs/decision-points.md, generated from the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from taoloop.cli.commands.deciding.points import POINTS, DecisionPoint, Off, Setting
from taoloop.cli.deployables import settings_classes
from taoloop.core.settings import SettingRow, describe

_PIPE: Final = r"\|"
_INTRODUCTION: Final = """\
An agent's seven decision points, each with what it decides, its switches, its settings and the metrics that show what
it did. A switch changes one thing and leaves the others; what happens without it stands beside it. Checks and
permissions have no switch. `taoloop decisions` shows the same with the values of the environment that it is started
in, and where each comes from; `--json` for programs.

What a version does not have is said as well, under **Not in this version**."""


def decision_points_page(generated: str) -> str:
    """Return the page; `generated` is its line about where it comes from."""
    lines = ["# Decision points", "", generated, "", _INTRODUCTION]
    rows = {
        Setting(name, row.env): row
        for name, settings_class in settings_classes().items()
        for row in describe(settings_class)
    }
    for point in POINTS:
        lines += ["", *_section(point, rows)]
    return "\n".join(lines) + "\n"


def _section(point: DecisionPoint, rows: Mapping[Setting, SettingRow]) -> Iterator[str]:
    yield f"## {point.number}. {point.name}"
    yield ""
    yield point.question
    yield ""
    yield f"**Always:** {point.always}"
    if point.lacks:
        yield ""
        yield f"**Not in this version:** {point.lacks}"
    if point.switches:
        yield from ("", "| Switch | Read by | Default | Off is | Switches | Without it |", "|---|---|---|---|---|---|")
    for switch in point.switches:
        row = rows[switch.setting]
        cells = (_default(row), _off(switch.off), switch.decides, switch.without)
        yield _row(switch.setting, *cells)
    if point.settings:
        yield from ("", "| Setting | Read by | Default | What it does |", "|---|---|---|---|")
    for setting in point.settings:
        row = rows[setting]
        yield _row(setting, _default(row), row.sentence)
    yield ""
    yield f"Metrics: {', '.join(f'`{metric.name}`' for metric in point.metrics)}."


def _row(setting: Setting, *cells: str) -> str:
    shown = (f"`{setting.env}`", setting.deployable.value, *cells)
    return f"| {' | '.join(cell.replace('|', _PIPE) for cell in shown)} |"


def _default(row: SettingRow) -> str:
    shown = row.default.lower() if row.type == "true | false" else row.default
    return f"`{shown}`" if shown else "unset"


def _off(off: Off) -> str:
    return "unset" if off is None else f"`{str(off).lower()}`"
