"""Which graph belongs to a thread: the one that ran in it is remembered, and never imported because of that."""

from __future__ import annotations

from typing import Any

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.demo import conversation
from stepwell.threads import ensure_thread
from tests.cli.test_chat import ASKING
from tests.cli.test_run import FAILING

COUNTING = """
from typing import TypedDict
from stepwell.graph import START, StateGraph

class S(TypedDict):
    n: int

graph = StateGraph(S).add_node("count", lambda state: {"n": state["n"] + 1}).add_edge(START, "count")
"""
EVIL = """
from pathlib import Path
Path("imported").touch()
"""


def made_by_a_program(home, metadata: dict[str, Any]) -> None:
    """A thread `t` with one turn, in the database of the command line."""
    (home / ".stepwell").mkdir()
    with SqliteSaver(home / ".stepwell" / "stepwell.db") as saver:
        graph = conversation().compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "t"}, "metadata": metadata}
        graph.invoke({"messages": [("user", "one")]}, config)


def begun(stepwell) -> str:
    """The first checkpoint of thread `t`."""
    first: str = stepwell("log", "t", "--steps", "--json").json["checkpoints"][-1]["checkpoint"]
    return first


@pytest.fixture
def asked(stepwell, module):
    """A thread `t` in which a graph of the user's asks something; the graph's name."""
    graph = f"{module(ASKING)}:graph"
    stepwell("run", "--graph", graph, "--thread", "t", "--new", "-m", "go")
    return graph


class DescribeAThreadOfOnesOwnGraph:
    @pytest.mark.parametrize("args", [("run", "--answer", "yes"), ("run", "--resume"), ("run", "-m", "x"), ("chat",)])
    def test_is_not_run_by_another_when_graph_is_forgotten(self, stepwell, asked, args):
        before = stepwell("log", "t", "--steps", "--json").out

        ended = stepwell(*args, "--thread", "t", stdin="hello\n", expect=2)

        assert f"thread 't' belongs to another graph. Go on in it with --graph {asked}." in ended.err
        assert stepwell("log", "t", "--steps", "--json").out == before

    def test_is_run_by_another_that_is_named_with_a_warning(self, stepwell, asked):
        other = stepwell("run", "--graph", "app.py:graph", "--thread", "t", "--answer", "yes")

        assert other.out == "you said yes\n"
        assert other.err == f"Warning: thread 't' was run by {asked} before; now app.py:graph runs in it.\n"

    @pytest.mark.parametrize("args", [["run", "-m", "x"], ["chat"]])
    def test_is_not_said_to_be_run_by_another_that_is_refused(self, stepwell, asked, tmp_path, args):
        (tmp_path / "counting.py").write_text(COUNTING)

        err = stepwell(*args, "--thread", "t", "--graph", "counting:graph", expect=2).err

        assert "graph counting:graph keeps no 'messages'" in err and "Warning" not in err

    def test_is_run_by_its_own_without_one(self, stepwell, asked):
        assert stepwell("run", "--graph", asked, "--thread", "t", "--answer", "yes").err == ""

    @pytest.mark.parametrize("where", [(), ("--into", "u")])
    def test_is_named_where_a_fork_says_how_to_go_on(self, stepwell, asked, where):
        go_on = stepwell("fork", "t", *where, "--json").json["go_on"]

        assert go_on.startswith(f"stepwell chat --graph {asked} --thread ")
        assert stepwell(*go_on.split()[1:], stdin="yes\n").out == "? sure?\nyou said yes\n"

    def test_is_run_after_a_fork_where_it_keeps_no_messages(self, stepwell, module):
        graph = f"{module(COUNTING)}:graph"
        stepwell("run", "--graph", graph, "--thread", "t", "--new", "--input", '{"n": 1}')

        over, due = (stepwell("fork", "t", at, "--json").json["go_on"] for at in ("main", begun(stepwell)))

        assert over == f"stepwell run --graph {graph} --thread t --branch fork-1 --input JSON"
        assert due == f"stepwell run --graph {graph} --thread t --branch fork-2 --resume"
        assert stepwell(*due.split()[1:], "--json").json["values"] == {"n": 2}

    def test_is_found_by_its_graph(self, stepwell, asked):
        stepwell("run", "-m", "hello")

        found = stepwell("threads", "--filter", f"graph={asked}", "--json").json["threads"]

        assert [row["thread"] for row in found] == ["t"]

    def test_keeps_it_in_every_thread_of_a_chat(self, stepwell, module):
        graph = f"{module(ASKING)}:graph"

        stepwell("chat", "--graph", graph, stdin="one\nyes\n/new\ntwo\nno\n/fork\nthree\nyes\n")

        threads = stepwell("threads", "--json").json["threads"]
        assert [row["metadata"]["graph"] for row in threads] == [graph, graph]


class DescribeAThreadThatAProgramMade:
    def test_needs_its_graph_named(self, stepwell, home):
        made_by_a_program(home, {})

        ended = stepwell("run", "--thread", "t", "-m", "two", expect=2)

        assert "nothing says which graph thread 't' belongs to" in ended.err and "--graph MODULE:NAME" in ended.err
        assert stepwell("run", "--thread", "t", "-m", "two", "--graph", "stepwell.demo:conversation").err == ""
        assert stepwell("run", "--thread", "t", "-m", "How many turns?").out == "This is turn 3 of our conversation.\n"

    def test_and_only_registered_may_begin_with_any(self, stepwell, home):
        (home / ".stepwell").mkdir()
        with SqliteSaver(home / ".stepwell" / "stepwell.db") as saver:
            ensure_thread(saver, {"configurable": {"thread_id": "t"}}, {"graph": "app:graph"})

        assert "turn 1" in stepwell("run", "--thread", "t", "-m", "one").out

    @pytest.mark.parametrize("args", [("run", "--thread", "t", "-m", "x"), ("chat", "--thread", "t"), ("fork", "t")])
    def test_imports_nothing_that_it_names(self, stepwell, home, module, tmp_path, args):
        made_by_a_program(home, {"graph": f"{module(EVIL)}:graph"})

        ended = stepwell(*args, stdin="x\n", expect=0 if args[0] == "fork" else 2)

        assert "--graph app:graph" in ended.out + ended.err and not (tmp_path / "imported").exists()

    @pytest.mark.parametrize("graph", ["app:graph\nrm", "app\x1b[2J:graph", "app\u202e:graph", 3, None])
    def test_prints_nothing_that_is_no_name_of_a_graph(self, stepwell, home, graph):
        made_by_a_program(home, {"graph": graph})

        assert "--graph" not in stepwell("fork", "t").out
        assert "nothing says which graph" in stepwell("run", "--thread", "t", "-m", "two", expect=2).err


class DescribeAGraphThatIsNamed:
    @pytest.mark.parametrize("name", ["graph", "compiled", "make"])
    def test_may_be_a_graph_a_compiled_one_or_a_function_and_is_bound_to_the_database(
        self, stepwell, module, tmp_path, name
    ):
        (tmp_path / "mended").touch()

        stepwell("run", "--graph", f"{module(FAILING)}:{name}", "--thread", "t", "--new", "--input", "{}")

        assert stepwell("show", "t", "--json").json["values"] == {"x": 2}

    def test_may_be_a_file(self, stepwell, module):
        module(COUNTING)

        assert stepwell("run", "--graph", "./app.py:graph", "--input", '{"n": 1}', "--json").json["values"] == {"n": 2}

    @pytest.mark.parametrize("source", ["import sys\nsys.exit(0)", "def graph():\n    raise SystemExit"])
    def test_may_be_a_program_that_ends(self, stepwell, module, source):
        err = stepwell("run", "--graph", f"{module(source)}:graph", "--input", "{}", expect=2).err

        assert "ends the program (sys.exit(" in err and 'under `if __name__ == "__main__":`.' in err

    def test_whose_module_lacks_something_shows_what(self, stepwell, module):
        module("import not_installed_here")

        assert "not_installed_here" in stepwell("run", "--graph", "app:graph", "-m", "hello", expect=5).err


class DescribeAGraphThatIsNamedWrongly:
    @pytest.mark.parametrize(
        ("spec", "sentence"),
        [
            ("app:number", "it is of type int, which is no graph"),
            ("app:nothing", "app has no 'nothing'"),
            ("app:needs", "missing a required argument: 'x'"),
            ("nowhere:graph", "no module 'nowhere'"),
            ("elsewhere.py:graph", "there is no module 'elsewhere' in "),
            ("app", "write it as module:name"),
            ("./app:graph", "'./app' is not the name of a module. Write it as module:name, for example"),
            ("..app:graph", "Write it as module:name"),
            ("src/app:graph", "or name the file: my_app/graph.py:graph."),
        ],
    )
    def test_is_wrong_usage_and_told_how_to_write_it(self, stepwell, module, spec, sentence):
        module(FAILING)

        assert sentence in stepwell("run", "--graph", spec, "--input", "{}", expect=2).err
