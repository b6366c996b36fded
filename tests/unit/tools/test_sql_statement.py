"""Statements: named parameters are found in code alone, and what could write is told from what only reads."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.tools.sql_statement import StatementRefused, read_statement, with_parameters


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("SELECT :a, :b, :a", ("a", "b")),
        ("SELECT ':no', \":no\", `:no`, $x$ :no $x$, E'\\':no', 'it''s :no', :yes", ("yes",)),
        ("SELECT a::text -- :no\n, /* :no */ :yes", ("yes",)),
        ("SELECT 1", ()),
    ],
)
def test_parameters_are_found_in_code_alone(text: str, parameters: tuple[str, ...]) -> None:
    assert read_statement(text).parameters == parameters


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-- nothing",
        "SELECT 1;",
        "SELECT 1; DELETE FROM t",
        "SELECT $1",
        "SELECT $name",
        "SELECT %s",
        "SELECT 'open",
        'SELECT "open',
        "SELECT /* open",
        "SELECT $a$ open $b$",
        "SELECT /* /* */ 1",
    ],
)
def test_what_is_not_one_statement_with_named_parameters_is_refused(text: str) -> None:
    with pytest.raises(StatementRefused):
        read_statement(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT 1", ""),
        ("with a as (select 1) select * from a", ""),
        ("SELECT t.update, 'DELETE', \"insert\" FROM t -- INTO", ""),
        ("SELECT updated, deleted_at FROM t", ""),
        ("DELETE FROM t", "begins with DELETE"),
        ("PRAGMA journal_mode", "begins with PRAGMA"),
        ("EXPLAIN ANALYZE DELETE FROM t", "begins with EXPLAIN"),
        ("WITH a AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM a", "holds INSERT"),
        ("SELECT * INTO copy FROM t", "holds INTO"),
        ("SELECT * FROM t FOR UPDATE", "holds UPDATE"),
    ],
)
def test_a_statement_that_could_write_says_by_which_word(text: str, why: str) -> None:
    statement = read_statement(text)
    assert (statement.why_it_writes, statement.reads_only) == (why, not why)


@given(st.text(alphabet=st.sampled_from(list("aS:;'\"`$/*-\n \\%1E.")), max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(StatementRefused):
        assert all(f":{name}" in text for name in read_statement("SELECT " + text).parameters)


def test_parameters_are_rewritten_where_they_are_parameters() -> None:
    text = "SELECT ':a', \"b:a\", x::int, $$:a$$ FROM t WHERE a = :a AND b = :b -- :a"
    assert with_parameters(text, lambda name: f"<{name}>") == (
        "SELECT ':a', \"b:a\", x::int, $$:a$$ FROM t WHERE a = <a> AND b = <b> -- :a"
    )
