"""From files to a catalogue: reading, every check, and what is found."""

from taoloop.tools.loading.findings import Finding, Severity
from taoloop.tools.loading.loader import LoadResult, load_catalogue

__all__ = ["Finding", "LoadResult", "Severity", "load_catalogue"]
