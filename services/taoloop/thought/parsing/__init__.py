"""What models write, read: strict JSON, a fixed list of flagged repairs, calls in other formats, or a refusal."""

from taoloop.thought.parsing.arguments import CallArgumentsRefused, read_call_arguments
from taoloop.thought.parsing.calls import TextCall
from taoloop.thought.parsing.messages import ChatMessageText, read_message
from taoloop.thought.parsing.refusals import Repair, ReplyFault, ReplyRefused
from taoloop.thought.parsing.reply import Reply, read_reply

__all__ = [
    "CallArgumentsRefused",
    "ChatMessageText",
    "Repair",
    "Reply",
    "ReplyFault",
    "ReplyRefused",
    "TextCall",
    "read_call_arguments",
    "read_message",
    "read_reply",
]
