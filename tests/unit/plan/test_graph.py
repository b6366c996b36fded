"""Order, cycles and dependents of steps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from taoloop.plan.graph import ancestors, cycles, dependents, topological_order

graphs = st.dictionaries(st.sampled_from("abcdefg"), st.lists(st.sampled_from("abcdefgz"), max_size=3), max_size=7)


def test_order_follows_dependencies_and_else_the_list() -> None:
    assert topological_order({"c": ["a"], "b": [], "a": []}) == ("b", "a", "c")


def test_order_leaves_out_a_cycle_and_what_hangs_on_it() -> None:
    assert topological_order({"a": ["b"], "b": ["a"], "c": ["b"], "d": []}) == ("d",)


def test_cycle_names_its_members_only() -> None:
    assert cycles({"a": ["c"], "b": ["a"], "c": ["b"], "d": ["a"]}) == (("a", "b", "c"),)


def test_two_cycles_are_two_groups_and_a_step_alone_can_be_one() -> None:
    assert cycles({"a": ["b"], "b": ["a"], "c": ["c"]}) == (("a", "b"), ("c",))


def test_dependents_of_a_failed_step_are_found_through_others() -> None:
    # Case C052-4.
    graph = {"a": [], "b": ["a"], "c": ["b"], "x": []}
    assert dependents(graph, ["a"]) == {"b", "c"}
    assert dependents(graph, ["x"]) == frozenset()


@given(graphs)
def test_order_and_cycles_together_cover_every_graph(graph: dict[str, list[str]]) -> None:
    order = topological_order(graph)
    members = {member for group in cycles(graph) for member in group}
    assert set(order) == graph.keys() - members - dependents(graph, members)
    for position, step in enumerate(order):
        assert {other for other in graph[step] if other in graph} <= set(order[:position])
    assert all(ancestors(graph, step).isdisjoint({step}) for step in order)
