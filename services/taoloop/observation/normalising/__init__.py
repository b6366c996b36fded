"""From the body to the data: fields picked, moved and converted, values unified; refused rather than guessed."""

from taoloop.observation.normalising.compiling import compile_normaliser
from taoloop.observation.normalising.normaliser import Normaliser

__all__ = ["Normaliser", "compile_normaliser"]
