"""What a server can do, as data: OpenAI-compatible says how to ask, never what is understood."""

from taoloop.models.profiles.model import ModelProfile, Price, ReplyLimitField, Speed, StructuredOutput

__all__ = ["ModelProfile", "Price", "ReplyLimitField", "Speed", "StructuredOutput"]
