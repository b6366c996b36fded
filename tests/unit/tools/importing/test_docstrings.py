"""Rules of reading a docstring as words of a contract."""

from __future__ import annotations

from taoloop.tools.importing.docstrings import ToolDocstring, read_docstring

TEXT = """Find a garage
    in one district.

    More that nobody needs.

    Use when: the user asks where to park;
        停车场在哪里

    Avoid when:
        fines

    Args:
        district (str): District
            of the city.
        level: Level.

    Raises:
        KeyError: Never.
    """


def test_each_part_goes_to_its_field() -> None:
    assert read_docstring(TEXT) == ToolDocstring(
        summary="Find a garage in one district.",
        use_when="the user asks where to park; 停车场在哪里",
        avoid_when="fines",
        arguments={"district": "District of the city.", "level": "Level."},
    )


def test_no_docstring_has_no_parts() -> None:
    assert read_docstring(None) == ToolDocstring()
