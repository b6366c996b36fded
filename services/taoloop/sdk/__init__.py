"""What a team that offers Python functions as tools imports: one decorator, and nothing of the engine."""

from taoloop.sdk.options import ToolOptions, options_of, tool

__all__ = ["ToolOptions", "options_of", "tool"]
