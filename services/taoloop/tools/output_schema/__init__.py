"""The derived output schema: what a tool's data looks like after normalising, for reference checks and prompts."""

from taoloop.tools.output_schema.deriving import OutputSchema, derive
from taoloop.tools.output_schema.problems import DerivationProblem

__all__ = ["DerivationProblem", "OutputSchema", "derive"]
