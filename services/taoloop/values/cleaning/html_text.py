"""The text of an HTML fragment, as a reader of the page sees it, by nh3."""

from __future__ import annotations

import html
import re
from typing import Final

from taoloop.core.errors import ConfigurationError
from taoloop.values.refusals import RefusalCode, ValueRefused

try:
    import nh3
except ImportError as exc:
    raise ConfigurationError("HTML in texts needs the extra `observation`.", metadata={"extra": "observation"}) from exc

_BLOCK: Final = re.compile(
    r"<(?=/?(?:address|article|aside|blockquote|br|dd|div|dl|dt|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre"
    r"|section|table|td|th|tr|ul)[\s/>])",
    re.IGNORECASE,
)


MAX_CHARACTERS: Final = 65_536
"""The sanitiser takes time in the square of a run of text; at this length still well below a tenth of a second."""


def strip_html(text: str) -> str:
    """Return the text between the tags with its character references resolved; scripts and styles go whole.

    Blocks such as paragraphs and cells are parted by white space.

    >>> strip_html("<p>Tom &amp; <b>Ann</b></p><script>x()</script>").strip()
    'Tom & Ann'

    Raises:
        ValueRefused: OUT_OF_RANGE for more than `MAX_CHARACTERS`.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, f"A text with HTML has at most {MAX_CHARACTERS} characters.")
    if "<" not in text:
        return html.unescape(text)
    encodable = text.encode("utf-8", "ignore").decode()  # half a surrogate pair is no text to nh3
    return html.unescape(nh3.clean(_BLOCK.sub(" <", encodable), tags=set()))
