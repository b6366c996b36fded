"""What prompts, answers and failures may show of a result: a part, without personal data, of bounded size."""

from taoloop.observation.exposing.exposer import (
    DEFAULT_MAX_EXPOSED_BYTES,
    MAX_LISTED,
    Exposer,
    Exposure,
    compile_exposer,
)
from taoloop.observation.exposing.redactor import Redactor

__all__ = ["DEFAULT_MAX_EXPOSED_BYTES", "MAX_LISTED", "Exposer", "Exposure", "Redactor", "compile_exposer"]
