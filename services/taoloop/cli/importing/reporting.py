"""Shows what an import gave, and writes it where the user wants it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from taoloop.cli.terminal import ExitCode, output, print_json, styled
from taoloop.core.errors import InvalidRequest

if TYPE_CHECKING:
    from taoloop.core.exact_json import JsonValue
    from taoloop.tools.importing.checking import CheckedDraft
    from taoloop.tools.importing.findings import ImportFinding, ImportReport


def finish_import(report: ImportReport, out: Path | None, *, name: str, replace: bool, as_json: bool) -> None:
    """Check the drafts, write them if there is a directory, show the report, and end the command.

    The exit code is 0 if every contract loads as it is, else 1; what is written is written in both cases.

    Args:
        report: What the import gave.
        out: Directory of the catalogue; None writes nothing.
        name: Of a new catalogue.
        replace: Whether contracts that are there are overwritten.
        as_json: Whether to print JSON.

    Raises:
        InvalidRequest: A file is there already or cannot be written.
        typer.Exit: Always else.
    """
    from taoloop.tools.importing.checking import check_draft

    checked = [check_draft(draft, report.bases) for draft in report.drafts]
    missing = _write(out, checked, report.bases, name=name, replace=replace) if out is not None else {}
    for each in checked:
        _show(each, as_json=as_json)
    _show_summary(report, checked, out, missing, as_json=as_json)
    is_good = not any(each.blocks or has_errors(each.draft.findings) for each in checked)
    raise typer.Exit(ExitCode.OK if is_good and not has_errors(report.findings) else ExitCode.FAILED)


def has_errors(findings: tuple[ImportFinding, ...]) -> bool:
    """Tell whether one of the findings keeps something from working."""
    from taoloop.tools.importing.findings import Level

    return any(each.level is Level.ERROR for each in findings)


def refuse(findings: tuple[ImportFinding, ...], *, as_json: bool) -> typer.Exit:
    """Show why a source cannot be imported and return the end of the command."""
    from taoloop.cli.records import record_json

    for finding in findings:
        if as_json:
            print_json(record_json(finding))
        else:
            output().print(styled(finding, "red"))
    return typer.Exit(ExitCode.FAILED)


def show_names(rows: list[tuple[str, str]], *, as_json: bool) -> None:
    """Show what can be chosen: names and what they are."""
    from taoloop.cli.terminal import table, table_output
    from taoloop.tools.importing.naming import shortened

    if as_json:
        for name, text in rows:
            print_json({"name": name, "summary": shortened(text)})
        return
    shown = table("", ("name", "summary"))
    for name, text in rows:
        shown.add_row(styled(name), styled(shortened(text)))
    table_output().print(shown)
    output().print(
        styled(f"{len(rows)} found. Choose the few that users ask for by --include NAME, as often as needed.")
    )


def _write(
    out: Path, checked: list[CheckedDraft], bases: Mapping[str, str], *, name: str, replace: bool
) -> Mapping[str, str]:
    from taoloop.tools.importing.writing import FileExists, write_drafts

    try:
        return write_drafts(out, checked, bases, name=name, replace=replace).missing_bases
    except FileExists as exc:
        message = f"{exc}; give another --out, or --replace to overwrite what people may have edited."
        raise InvalidRequest(message, metadata={"path": str(exc.paths[0])}) from exc
    except OSError as exc:
        message = f"{exc.filename or out} cannot be written: {exc.strerror or exc}."
        raise InvalidRequest(message, metadata={"path": str(out)}) from exc


def _show(checked: CheckedDraft, *, as_json: bool) -> None:
    from taoloop.cli.records import record_json
    from taoloop.tools.loading.findings import Severity

    draft = checked.draft
    if as_json:
        lines: dict[str, JsonValue] = {
            "tool": draft.name,
            "source": draft.source,
            "decisions": [record_json(each) for each in draft.decisions],
            "findings": [record_json(each) for each in draft.findings],
            "check": [record_json(each) for each in checked.findings],
            "loads": not checked.blocks,
        }
        print_json(lines)
        return
    console = output()
    console.print(styled(draft.name, "bold"), styled(f"from {draft.source}", "dim"))
    for decision in draft.decisions:
        guess = f" = {decision.guess}" if decision.guess else ""
        console.print(styled(f"  decide {decision.field}{guess}: {decision.why}", "cyan"))
    for finding in draft.findings:
        console.print(styled(f"  {finding}", "red" if has_errors((finding,)) else "yellow"))
    for found in checked.findings:
        console.print(styled(f"  {found}", "red" if found.severity is Severity.ERROR else "yellow"))


def _show_summary(
    report: ImportReport, checked: list[CheckedDraft], out: Path | None, missing: Mapping[str, str], *, as_json: bool
) -> None:
    from taoloop.cli.records import record_json

    good = sum(not each.blocks and not has_errors(each.draft.findings) for each in checked)
    if as_json:
        print_json(
            {
                "tools": len(checked),
                "without_errors": good,
                "bases": dict(report.bases),
                "bases_to_add": dict(missing),
                "findings": [record_json(each) for each in report.findings],
                "written_to": str(out) if out is not None else None,
            }
        )
        return
    console = output()
    for finding in report.findings:
        console.print(styled(finding, "red" if has_errors((finding,)) else "yellow"))
    for base, url in missing.items():
        console.print(styled(f"add to spec.bases of {out}/catalogue.yaml: {base}: {url}", "yellow"))
    where = f"written to {out}" if out is not None else "nothing is written without --out"
    console.print(
        styled(f"{len(checked)} tools, {good} without errors; {where}", "green" if good == len(checked) else "red")
    )
