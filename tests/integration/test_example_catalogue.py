"""The example catalogue: it loads without a single finding, and every tool can be planned with."""

from pathlib import Path

from taoloop.tools.loading import load_catalogue
from taoloop.tools.schemas import CompiledSchema

_CATALOGUE = Path(__file__).parents[2] / "examples" / "customer-service"


def test_the_example_catalogue_loads_without_errors_or_warnings() -> None:
    result = load_catalogue(_CATALOGUE)
    assert [str(finding) for finding in result.findings] == []
    assert result.catalogue is not None
    assert len(result.catalogue) >= 14


def test_every_output_schema_of_the_example_is_a_schema() -> None:
    catalogue = load_catalogue(_CATALOGUE).catalogue
    assert catalogue is not None
    for tool in catalogue:
        CompiledSchema.compile(tool.output_schema)
