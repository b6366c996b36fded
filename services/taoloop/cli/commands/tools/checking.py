"""`taoloop tools check`: contracts and their samples, and everything that is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taoloop.cli.options import CatalogueArgument, JsonOption
from taoloop.cli.terminal import ExitCode
from taoloop.core.wording import counted

if TYPE_CHECKING:
    from taoloop.core.exact_json import JsonValue
    from taoloop.evaluation.samples.checking import SampleFinding, SampleReport
    from taoloop.tools.loading import Finding, LoadResult


def check(
    catalogue: CatalogueArgument,
    *,
    as_annotations: Annotated[
        bool, typer.Option("--annotations", help="Print `::error file=…,line=…::…`, which GitHub shows at the line.")
    ] = False,
    are_samples_required: Annotated[
        bool, typer.Option("--require-samples", help="Exit code 1 also if a tool has no sample of a real answer.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check every contract, and judge every sample as the services would. Exit code 1 on any error.

    A sample goes through status, success rule, schema, normalisers and rules. One that claims success must be valid;
    one that should fail says so: [bold]"expect": {"valid": false, "fault": "NOT_FOUND"}[/bold]. Each finding has
    file, line, pointer, rule, what was expected, what was found, and a remedy. With --json one finding a line, then
    the summary.

    Example: [bold]taoloop tools check examples/customer-service[/bold]
    """
    from taoloop.tools.loading import load_catalogue

    if as_json and as_annotations:
        raise typer.BadParameter("stands beside --json; give one of the two", param_hint="--annotations")
    if are_samples_required and catalogue.suffix == ".json":
        raise typer.BadParameter("a bundle carries no samples; check its directory", param_hint="--require-samples")
    loaded = load_catalogue(catalogue, are_samples_judged=False)
    report = _judged(loaded, catalogue)
    _show(loaded.findings, report.findings, as_json=as_json, as_annotations=as_annotations)
    errors = _show_summary(loaded, report, as_json=as_json)
    is_refused = errors > 0 or (are_samples_required and bool(report.unsampled))
    raise typer.Exit(ExitCode.FAILED if is_refused else ExitCode.OK)


def _judged(loaded: LoadResult, catalogue: Path) -> SampleReport:
    """Judge the samples of every contract that means something; a bundle has none."""
    from taoloop.core.clock import SystemClock
    from taoloop.evaluation.samples.checking import SampleReport, check_samples
    from taoloop.evaluation.samples.exchanges import RecordedObserver

    if loaded.sound is None or catalogue.suffix == ".json":
        return SampleReport(samples=0, findings=())
    directory = catalogue if catalogue.is_dir() else catalogue.parent
    return check_samples(RecordedObserver(loaded.sound, SystemClock()), directory)


def _show(
    of_files: tuple[Finding, ...], of_samples: tuple[SampleFinding, ...], *, as_json: bool, as_annotations: bool
) -> None:
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.tools.loading import Severity

    for finding, sample in [*((each, None) for each in of_files), *((each.finding, each) for each in of_samples)]:
        if as_json:
            print_json(_finding_json(finding, sample))
        elif as_annotations:
            output().print(styled(annotation(finding)))
        else:
            style = "red" if finding.severity is Severity.ERROR else "yellow"
            output().print(styled(finding, style))
            if sample is not None:
                _show_values(sample)


def _show_values(found: SampleFinding) -> None:
    """Print what was expected and what was found, each on a line of its own under the finding."""
    from taoloop.cli.run_view import value_words
    from taoloop.cli.terminal import output, styled
    from taoloop.core.exact_json import ABSENT

    for label, value in (("expected", found.expected), ("actual", found.actual)):
        if value is not ABSENT:
            output().print(styled(f"    {label}: {value_words(value)}"))


def _show_summary(loaded: LoadResult, report: SampleReport, *, as_json: bool) -> int:
    """Print the counts and return that of the errors."""
    from taoloop.cli.terminal import output, print_json, styled
    from taoloop.tools.loading import Severity

    findings = [*loaded.findings, *(each.finding for each in report.findings)]
    errors = sum(each.severity is Severity.ERROR for each in findings)
    tools = len(loaded.sound) if loaded.sound is not None else 0
    digest = loaded.catalogue.digest if loaded.catalogue is not None and not errors else ""
    if as_json:
        summary: dict[str, JsonValue] = {
            "tools": tools,
            "samples": report.samples,
            "findings": len(findings),
            "errors": errors,
            "warnings": len(findings) - errors,
            "digest": digest,
            "without_samples": list(report.unsampled),
        }
        print_json({"summary": summary})
        return errors
    counts = f"{counted(tools, 'tool')}, {counted(report.samples, 'sample')}, {counted(len(findings), 'finding')}"
    kinds = f" ({counted(errors, 'error')}, {counted(len(findings) - errors, 'warning')})" if findings else ""
    ending = f", digest {digest[:12]}" if digest else ""
    output().print(styled(counts + kinds + ending, "red" if errors else "green"))
    if report.unsampled:
        output().print(styled(f"without a sample: {', '.join(report.unsampled)}", "yellow"))
    return errors


def annotation(finding: Finding) -> str:
    """Return a finding as a workflow command of GitHub Actions, in which `%`, line ends, `:` and `,` are escaped."""
    place = f"file={_escaped(finding.file)},line={finding.line},col={finding.column}"
    where = finding.pointer or "(root)"
    title = _escaped(f"{finding.code} {where}")
    words = f"{finding.cause}. {finding.remedy}".replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{finding.severity} {place},title={title}::{words}"


def _escaped(text: str) -> str:
    escapes = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C"))
    for mark, escape in escapes:
        text = text.replace(mark, escape)
    return text


def _finding_json(finding: Finding, sample: SampleFinding | None) -> JsonValue:
    from taoloop.cli.records import record_json
    from taoloop.core.exact_json import ABSENT

    # A program wants the place of every finding, also where it is the first of the file.
    shown = {**record_json(finding), "line": finding.line, "column": finding.column}
    if sample is None:
        return shown
    shown |= {"tool": sample.tool}
    shown |= {name: text for name, text in (("stage", sample.stage), ("rule", sample.rule)) if text}
    for name, value in (("expected", sample.expected), ("actual", sample.actual)):
        if value is not ABSENT:
            shown[name] = value
    return shown
