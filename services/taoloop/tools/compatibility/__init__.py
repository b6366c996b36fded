"""Whether plans and callers that know an older state of a catalogue still work with this one."""

from taoloop.tools.compatibility.surfaces import Change, Surface, compare, surface_of

__all__ = ["Change", "Surface", "compare", "surface_of"]
