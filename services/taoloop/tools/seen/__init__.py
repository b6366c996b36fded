"""What was seen of a tool: the fields, types and enumerated values of its samples and its contract."""

from taoloop.tools.seen.familiar import Familiar
from taoloop.tools.seen.learning import learn
from taoloop.tools.seen.place import Novelty, NoveltyKind, Place
from taoloop.tools.seen.reading import read_seen

__all__ = ["Familiar", "Novelty", "NoveltyKind", "Place", "learn", "read_seen"]
