"""`taoloop decisions`: the seven decision points with their effective settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from taoloop.cli.options import JsonOption

if TYPE_CHECKING:
    from taoloop.cli.commands.deciding.effective import Environment
    from taoloop.cli.commands.deciding.points import DecisionPoint

_STYLES: Final = {"on": "green", "always": "green", "partly": "yellow", "off": "red"}
_WORDS: Final = {
    "on": "on",
    "always": "always on",
    "partly": "on",
    "off": "off",
}


def decisions(
    *,
    number: Annotated[int, typer.Option("--point", min=0, max=7, help="Only this one, 1 to 7; 0 shows all.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Show the seven decision points: what each decides, its switches and settings in this environment, its metrics.

    A setting is shown as the deployable that reads it would have it if it started here: with where it comes from, and
    without secrets. Nothing is asked of a running service.

    Example: [bold]taoloop decisions --point 1[/bold]
    """
    from taoloop.cli.commands.deciding.effective import Environment
    from taoloop.cli.commands.deciding.effective import decisions as found
    from taoloop.cli.commands.deciding.points import POINTS
    from taoloop.cli.terminal import print_json

    environment = Environment()
    if as_json:
        every = found(environment)
        print_json({"decision_points": [each for each in every if number in (0, _number(each))]})
        return
    for point in POINTS:
        if number in (0, point.number):
            _show(point, environment)


def _number(point: object) -> int:
    return int(point["number"]) if isinstance(point, dict) else 0


def _show(point: DecisionPoint, environment: Environment) -> None:
    from taoloop.cli.terminal import output, styled, table, table_output

    state = environment.state(point)
    console = output()
    off = ", ".join(switch.decides for switch in point.switches if not environment.is_on(switch))
    words = f"{_WORDS[state]}, without {off}" if state == "partly" else _WORDS[state]
    console.print(styled(f"{point.number} {point.name}: {words}", f"bold {_STYLES[state]}"))
    console.print(styled(f"  {point.question}"))
    console.print(styled(f"  always: {point.always}"))
    if point.lacks:
        console.print(styled(f"  not in this version: {point.lacks}", "yellow"))
    if point.switches or point.settings:
        rows = table("", ("setting", "value", "from", "is", "without it"))
        for switch in point.switches:
            is_on = environment.is_on(switch)
            value = environment.of(switch.setting)
            state_cell = styled("on" if is_on else "off", "green" if is_on else "red")
            without = styled(f"{switch.decides}; off: {switch.without}")
            cells = (switch.setting.env, _value(value.value), value.origin)
            rows.add_row(*map(styled, cells), state_cell, without)
        for setting in point.settings:
            value = environment.of(setting)
            rows.add_row(*map(styled, (setting.env, _value(value.value), value.origin, "", "")))
        table_output().print(rows)
    console.print(styled(f"  metrics: {', '.join(metric.name for metric in point.metrics)}"))


def _value(value: object) -> str:
    return "(unset)" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
