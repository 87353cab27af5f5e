"""A plan as a picture."""

import sys
from typing import Literal, TypedDict

import pytest

from stepwell.channels import LastValue
from stepwell.errors import DrawingError
from stepwell.func import entrypoint
from stepwell.graph import END, START, StateGraph
from stepwell.plan.draw import Drawing, DrawnEdge, drawing_of
from stepwell.pregel import NodeBuilder, Pregel
from stepwell.types import Command


class State(TypedDict, total=False):
    a: int


def node(state):
    return None


def build(**nodes):
    graph = StateGraph(State)
    for name, action in nodes.items():
        graph.add_node(name, action)
    return graph


@pytest.fixture
def chain():
    """START → a → b → END."""
    return build(a=node, b=node).add_edge(START, "a").add_edge("a", "b").add_edge("b", END).compile()


@pytest.fixture
def forked():
    """START → a, which goes to b or the end."""

    def decide(state) -> Literal["b", "__end__"]:
        return "b"

    return build(a=node, b=node).add_edge(START, "a").add_conditional_edges("a", decide).add_edge("b", END).compile()


class DescribeADrawing:
    def test_shows_nodes_and_edges_with_start_and_end(self, chain):
        drawing = drawing_of(chain.plan)

        assert list(drawing.nodes) == [START, "a", "b", END]
        assert drawing.edges == (DrawnEdge(START, "a"), DrawnEdge("a", "b"), DrawnEdge("b", END))

    def test_is_what_a_graph_gives_of_itself(self, chain):
        assert chain.get_graph().edges == drawing_of(chain.plan).edges

    def test_shows_where_a_route_may_lead(self, forked):
        edges = drawing_of(forked.plan).edges

        assert DrawnEdge("a", "b", None, True) in edges
        assert DrawnEdge("a", END, None, True) in edges

    def test_labels_a_conditional_edge_with_the_answer(self):
        graph = build(a=node, b=node).add_edge(START, "a").add_conditional_edges("a", node, {"yes": "b", "no": END})

        assert DrawnEdge("a", "b", "yes", True) in drawing_of(graph.compile().plan).edges

    def test_shows_a_route_without_a_map_as_leading_everywhere(self):
        graph = build(a=node, b=node).add_edge(START, "a").add_conditional_edges("a", node)

        ends = [edge.target for edge in drawing_of(graph.compile().plan).edges if edge.conditional]

        assert ends == ["a", "b", END]

    def test_shows_where_commands_lead(self):
        def a(state) -> Command[Literal["b"]]:
            return Command(goto="b")

        graph = build(a=a, b=node).add_edge(START, "a")

        assert DrawnEdge("a", "b", None, True) in drawing_of(graph.compile().plan).edges

    def test_has_no_end_where_nothing_leads_there(self):
        assert END not in drawing_of(build(a=node).add_edge(START, "a").compile().plan).nodes

    def test_shows_what_is_special_about_a_node(self):
        graph = build(a=node).add_node("b", node, defer=True, metadata={"owner": "ops"}).add_edge(START, "a")

        drawing = drawing_of(graph.compile(interrupt_before=["b"], interrupt_after="*").plan)

        assert drawing.nodes["b"].metadata == {"owner": "ops", "defer": True, "__interrupt": "before,after"}
        assert drawing.nodes["a"].metadata == {"__interrupt": "after"}

    def test_shows_error_handlers(self):
        graph = StateGraph(State).add_node("a", node, error_handler=node).add_edge(START, "a")

        assert "__error_handler__a" in drawing_of(graph.compile().plan).nodes

    def test_tells_the_first_and_the_last_node(self, chain):
        drawing = drawing_of(chain.plan)

        assert drawing.first_node().id == START
        assert drawing.last_node().id == END

    def test_tells_no_last_node_where_there_are_two(self):
        graph = build(a=node, b=node).add_edge(START, "a").add_edge(START, "b")

        assert drawing_of(graph.compile().plan).last_node() is None

    def test_of_a_workflow_has_its_function_between_start_and_end(self):
        @entrypoint()
        def flow(number):
            return number

        assert drawing_of(flow.plan).edges == (DrawnEdge(START, "flow"), DrawnEdge("flow", END))

    def test_of_channels_has_neither_start_nor_end_of_its_own(self):
        first = NodeBuilder().subscribe_only("a").write_to("b")
        second = NodeBuilder().subscribe_only("b").write_to("c")
        graph = Pregel(
            nodes={"first": first, "second": second},
            channels={name: LastValue(str) for name in "abc"},
            input_channels="a",
            output_channels="c",
        )

        drawing = drawing_of(graph.plan)

        assert repr(drawing) == "<Drawing: first, second, __end__>"
        assert drawing.edges == (DrawnEdge("first", "second"), DrawnEdge("second", END))


class DescribeMermaidText:
    def test_of_a_fork_is_this(self, forked):
        assert drawing_of(forked.plan).draw_mermaid(with_styles=False) == (
            "graph TD;\n"
            "\t__start__([<p>__start__</p>]):::first\n"
            "\ta(a)\n"
            "\tb(b)\n"
            "\t__end__([<p>__end__</p>]):::last\n"
            "\t__start__ --> a;\n"
            "\ta -.-> b;\n"
            "\ta -.-> __end__;\n"
            "\tb --> __end__;\n"
        )

    def test_has_styles_unless_told_otherwise(self, chain):
        text = drawing_of(chain.plan).draw_mermaid()

        assert text.startswith("---\nconfig:")
        assert "classDef last" in text

    def test_labels_edges(self):
        graph = build(a=node, b=node).add_edge(START, "a").add_conditional_edges("a", node, {"yes": "b"})

        assert "a -. &nbsp;yes&nbsp; .-> b;" in drawing_of(graph.compile().plan).draw_mermaid()

    def test_labels_edges_that_are_always_taken(self):
        drawing = Drawing({}, (DrawnEdge("a", "b", "then"),))

        assert "a -- &nbsp;then&nbsp; --> b;" in drawing.draw_mermaid()

    def test_makes_ids_of_letters_digits_and_underscores(self):
        graph = build(**{"say hi!": node}).add_edge(START, "say hi!")

        assert r"say\20hi\21(say hi!)" in drawing_of(graph.compile().plan).draw_mermaid()

    def test_shows_metadata_under_the_name(self):
        graph = StateGraph(State).add_node("a", node, defer=True).add_edge(START, "a")

        assert "a(a<hr/><small><em>\ndefer = True</em></small>)" in drawing_of(graph.compile().plan).draw_mermaid()

    def test_is_what_notebooks_are_given(self, chain):
        drawing = drawing_of(chain.plan)

        assert drawing._repr_mimebundle_()["text/vnd.mermaid"] == drawing.draw_mermaid()


class DescribeAnXRay:
    @pytest.fixture
    def nested(self, chain):
        middle = build(inner=chain).add_edge(START, "inner").add_edge("inner", END).compile()
        return build(outer=middle, after=node).add_edge(START, "outer").add_edge("outer", "after").compile()

    def test_opens_nodes_that_are_graphs_at_every_depth(self, nested):
        drawing = drawing_of(nested.plan, xray=True)

        assert list(drawing.nodes) == [START, "outer:inner:a", "outer:inner:b", "after"]
        assert DrawnEdge(START, "outer:inner:a") in drawing.edges
        assert DrawnEdge("outer:inner:b", "after") in drawing.edges

    def test_opens_them_to_the_depth_it_is_told(self, nested):
        assert list(drawing_of(nested.plan, xray=1).nodes) == [START, "outer:inner", "after"]

    def test_opens_none_without_being_told(self, nested):
        assert list(drawing_of(nested.plan).nodes) == [START, "outer", "after"]

    def test_keeps_the_ends_of_a_graph_that_has_no_one_first_node(self):
        wide = build(a=node, b=node).add_edge(START, "a").add_edge(START, "b").compile()
        graph = build(wide=wide).add_edge(START, "wide").compile()

        assert list(drawing_of(graph.plan, xray=True).nodes) == [START, "wide:__start__", "wide:a", "wide:b"]

    def test_leads_to_the_box_where_no_node_in_it_is_the_first(self):
        ring = build(a=node, b=node).add_edge(START, "a").add_edge("a", "b").add_edge("b", "a").compile()
        wide = build(a=node, b=ring).add_edge(START, "a").add_edge(START, "b").add_edge("a", END).add_edge("b", END)
        graph = build(wide=wide.compile(), z=node).add_edge(START, "wide").add_edge("wide", "z").compile()

        edges = drawing_of(graph.plan, xray=True).edges

        assert DrawnEdge(START, "wide:__start__") in edges

    def test_draws_a_box_around_each_graph(self, nested):
        text = drawing_of(nested.plan, xray=True).draw_mermaid()

        assert "\tsubgraph inner\n\touter\\3ainner\\3aa(a)\n\touter\\3ainner\\3ab(b)\n\tend\n" in text


class DescribeOtherForms:
    def test_json_names_nodes_and_edges(self, forked):
        shown = drawing_of(forked.plan).to_json()

        assert [node["id"] for node in shown["nodes"]] == [START, "a", "b", END]
        assert {"source": "a", "target": "b", "conditional": True} in shown["edges"]

    def test_json_keeps_labels_and_metadata(self):
        graph = StateGraph(State).add_node("a", node, defer=True).add_edge(START, "a")
        graph.add_conditional_edges("a", node, {"stop": END})

        shown = drawing_of(graph.compile().plan).to_json()

        assert {"source": "a", "target": END, "data": "stop", "conditional": True} in shown["edges"]
        assert shown["nodes"][1]["metadata"] == {"defer": True}

    def test_text_has_a_box_for_each_node_from_top_to_bottom(self, chain):
        lines = drawing_of(chain.plan).draw_ascii().splitlines()

        rows = [next(row for row, line in enumerate(lines) if f"| {name} |" in line) for name in (START, "a", "b", END)]
        assert rows == sorted(rows)
        assert len(set(rows)) == 4

    def test_text_has_stars_for_edges_and_dots_for_conditional_ones(self, chain, forked):
        assert "*" in drawing_of(chain.plan).draw_ascii()
        assert "." not in drawing_of(chain.plan).draw_ascii()
        assert "." in drawing_of(forked.plan).draw_ascii()

    def test_text_of_parts_that_hang_together_nowhere_shows_them_all(self):
        graph = build(a=node, lonely=node).add_edge(START, "a")

        text = drawing_of(graph.compile().plan).draw_ascii()

        assert "| a |" in text
        assert "| lonely |" in text

    def test_text_of_nothing_is_empty(self):
        assert Drawing().draw_ascii() == ""

    def test_text_is_printed(self, chain, capsys):
        drawing_of(chain.plan).print_ascii()

        assert "| a |" in capsys.readouterr().out

    def test_text_says_what_to_install(self, chain, monkeypatch):
        monkeypatch.setitem(sys.modules, "grandalf.graphs", None)

        with pytest.raises(DrawingError, match=r"pip install stepwell\[draw\]"):
            drawing_of(chain.plan).draw_ascii()

    @pytest.mark.parametrize("method", ["draw_png", "draw_mermaid_png"])
    def test_a_png_says_how_to_make_one(self, chain, method):
        with pytest.raises(DrawingError, match="mmdc"):
            getattr(drawing_of(chain.plan), method)()
