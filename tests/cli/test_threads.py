"""Which threads there are, fast and without a graph."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.graph import START, StateGraph
from stepwell.version import __version__

LOOK = """
import json, sys
from stepwell.cli.main import run
code = run(sys.argv[1:])
heavy = ("langchain_core", "pydantic", "stepwell.graph", "stepwell.plan.plan", "stepwell.channels", "stepwell.demo",
         "stepwell.engine", "rich")
print(json.dumps([code, [name for name in heavy if name in sys.modules]]), file=sys.stderr)
"""


def fill(path, count):
    """A database with so many threads of one checkpoint each."""
    path.parent.mkdir()
    builder = StateGraph(dict).add_node("a", lambda state: state)
    with SqliteSaver(path) as saver:
        graph = builder.add_edge(START, "a").compile(checkpointer=saver)
        for number in range(count):
            graph.invoke({}, {"configurable": {"thread_id": f"t{number}"}}, durability="exit")


class DescribeTheListOfThreads:
    def test_of_nothing_is_empty_and_creates_nothing(self, stepwell, home):
        assert stepwell("threads", "--json").json == {"threads": [], "more": False}
        assert "no threads" in stepwell("threads").err and list(home.iterdir()) == []

    @pytest.mark.parametrize("command", [("threads",), ("search", "hello"), ("sweep", "--dry-run")])
    def test_of_a_database_that_was_named_and_is_not_there_says_so(self, stepwell, tmp_path, command):
        by_flag = stepwell(*command, "--db", "mine.db").err
        by_variable = stepwell(*command, "--json", STEPWELL_DB="mine.db")

        assert "there is no database at mine.db." in by_flag and "there is no database at mine.db." in by_variable.err
        assert next(iter(by_variable.json.values())) == []
        assert "no database" not in stepwell(*command).err and not (tmp_path / "mine.db").exists()

    def test_is_a_table_for_people(self, stepwell):
        stepwell("run", "--thread", "t", "--new", "-m", "Plan a trip to Kyoto")

        heading, row = stepwell("threads").out.splitlines()

        assert heading.split() == ["THREAD", "ACTIVE", "STATUS", "CHECKPOINTS", "TITLE"]
        assert row.startswith("t ") and "idle" in row and row.endswith("Plan a trip to Kyoto")

    def test_has_a_line_for_a_thread_whose_name_has_control_characters(self, stepwell):
        stepwell("run", "--thread", "two\nlines\x1b[2J", "--new", "-m", "hello")
        stepwell("run", "--thread", "井", "--new", "-m", "hello")

        _, wide, row = stepwell("threads").out.splitlines()

        assert row.startswith("two␊lines␛[2J  ") and wide.startswith("井" + " " * 13)
        assert stepwell("show", "two").out.splitlines()[0] == "thread      two␊lines␛[2J"

    def test_keeps_the_title_of_the_first_turn(self, stepwell):
        stepwell("run", "--thread", "t", "--new", "-m", "Plan a trip to Kyoto")
        stepwell("run", "--thread", "t", "-m", "By train")

        assert stepwell("threads", "--json").json["threads"][0]["metadata"]["title"] == "Plan a trip to Kyoto"

    def test_in_json_has_a_fixed_shape(self, stepwell):
        stepwell("run", "--thread", "t", "--new", "-m", "hello")

        (row,) = stepwell("threads", "--json").json["threads"]

        assert list(row) == [
            *("thread", "title", "status", "created_at", "updated_at", "turns", "messages", "size_bytes"),
            *("first_prompt", "graph", "cwd", "git_branch", "checkpoint", "step", "checkpoints", "branches", "ttl"),
            "metadata",
        ]
        assert (row["title"], row["first_prompt"], row["turns"], row["messages"]) == ("hello", "hello", 1, 2)
        assert (row["status"], row["step"], row["checkpoints"], row["branches"]) == ("idle", 1, 3, ["main"])
        assert datetime.fromisoformat(row["updated_at"]) >= datetime.fromisoformat(row["created_at"])

    def test_b41_goes_by_the_last_activity(self, stepwell):
        for thread in ("a", "b"):
            stepwell("run", "--thread", thread, "--new", "-m", "hello")
        stepwell("run", "--thread", "a", "-m", "again")

        rows = stepwell("threads", "--json", "-n", "1").json

        assert ([row["thread"] for row in rows["threads"]], rows["more"]) == (["a"], True)

    def test_has_fifty_rows_unless_all_are_asked_for(self, stepwell, home):
        fill(home / ".stepwell" / "stepwell.db", 52)

        some, whole = stepwell("threads"), stepwell("threads", "--all")

        assert (
            len(some.out.splitlines()) == 51
            and "50 threads shown; --offset 50 shows more, --all shows every one" in some.err
        )
        names = [row.split()[0] for row in whole.out.splitlines()[1:]]
        assert sorted(names) == sorted(f"t{number}" for number in range(52)) and whole.err == ""
        listed = stepwell("threads", "--all", "-n", "2", "--json").json
        assert ([row["thread"] for row in listed["threads"]], listed["more"]) == (names, False)

    def test_comes_in_pages_and_orders(self, stepwell, home):
        fill(home / ".stepwell" / "stepwell.db", 5)

        page = stepwell("threads", "-n", "2", "--offset", "2", "--json").json
        last = stepwell("threads", "-n", "2", "--offset", "4")
        oldest = stepwell("threads", "--sort", "created", "--reverse", "-n", "1", "--json").json

        assert ([row["thread"] for row in page["threads"]], page["more"]) == (["t2", "t1"], True)
        assert last.out.splitlines()[1].startswith("t0 ") and last.err == ""
        assert "no more threads" in stepwell("threads", "--offset", "9").err
        assert [row["thread"] for row in oldest["threads"]] == ["t0"]
        assert "--sort" in stepwell("threads", "--sort", "colour", expect=2).err

    @pytest.mark.claim("H-12")
    def test_tells_where_the_latest_turn_ran(self, stepwell, tmp_path):
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/bees\n")
        stepwell("run", "--thread", "t", "--new", "-m", "hello")
        before = stepwell("threads", "--json").json["threads"][0]
        (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/ants\n")
        stepwell("run", "--thread", "t", "-m", "again")

        heading, row = stepwell("threads", "--long").out.splitlines()

        assert (before["cwd"], before["git_branch"]) == (str(tmp_path), "bees")
        assert "TURNS  MESSAGES  SIZE" in heading and f"{tmp_path} (ants)" in row

    def test_is_chosen_by_state_text_and_time(self, stepwell):
        stepwell("run", "--thread", "t", "--new", "-m", "Plan a trip to Kyoto")

        def count(*args):
            return len(stepwell("threads", *args, "--json").json["threads"])

        assert count("--text", "kyoto", "--since", "1h", "--status", "idle", "--status", "failed") == 1
        assert count("--text", "oslo") == count("--until", "1h") == count("--status", "failed") == 0
        assert "no time" in stepwell("threads", "--since", "soon", expect=2).err

    def test_filters_by_metadata_and_refuses_what_is_no_pair(self, stepwell):
        stepwell("run", "--thread", "t", "--new", "-m", "hello")

        assert len(stepwell("threads", "--filter", "title=hello", "--json").json["threads"]) == 1
        assert stepwell("threads", "--filter", "title=other", "--json").json["threads"] == []
        assert "KEY=VALUE" in stepwell("threads", "--filter", "title", expect=2).err

    def test_shows_no_control_characters_that_somebody_stored(self, stepwell):
        stepwell("run", "--thread", "t", "--new", "-m", "a\x1b[2Jb")

        assert "\x1b" not in stepwell("threads").out


class DescribeTheCommandLine:
    def test_b43_lists_logs_and_shows_without_importing_a_graph_or_a_model(self, stepwell, environment, tmp_path):
        stepwell("run", "--thread", "t", "--new", "-m", "hello")

        for args in (["threads"], ["log", "t"], ["show", "t"]):
            looked = subprocess.run(
                [sys.executable, "-c", LOOK, *args], capture_output=True, env=environment, cwd=tmp_path
            )
            assert looked.stderr.decode().splitlines()[-1] == "[0, []]", args

    def test_help_imports_no_command(self, environment, tmp_path):
        script = "import sys; from stepwell.cli.main import run; run(['--help']); print(*sys.modules, file=sys.stderr)"

        helped = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment, cwd=tmp_path)

        loaded = set(helped.stderr.decode().split())
        assert "rewind" in helped.stdout.decode()
        assert not loaded & {"stepwell.cli.chat", "stepwell.checkpoint", "ormsgpack", "apsw", "rich", "langchain_core"}

    def test_says_its_version(self, stepwell):
        assert __version__ in stepwell("--version").out

    def test_of_an_unknown_command_is_wrong_usage(self, stepwell):
        assert "No such command" in stepwell("nothing", expect=2).err

    @pytest.mark.parametrize(
        ("args", "meant"),
        [
            (("thraeds",), "threads"),
            (("Fork", "t"), "fork"),
            (("--json", "stat"), "stats"),
            (("branch", "creat", "t", "oslo"), "create"),
            (("tag", "--db", "my.db", "mov", "t", "good"), "move"),
        ],
    )
    def test_names_the_command_that_was_meant(self, stepwell, args, meant):
        refused = stepwell(*args, expect=2).err

        assert "No such command" in refused and f"Did you mean {meant}" in refused

    def test_of_a_file_that_is_no_database_is_damage(self, stepwell, tmp_path):
        (tmp_path / "notes.txt").write_text("not a database, " * 200)

        assert "notes.txt" in stepwell("threads", "--db", "notes.txt", expect=4).err

    def test_of_a_database_whose_pages_are_gone_is_damage(self, stepwell, home):
        stepwell("run", "--thread", "t", "--new", "-m", "hello")
        file = home / ".stepwell" / "stepwell.db"
        whole = file.read_bytes()
        file.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))

        assert "stepwell.db" in stepwell("show", "t", expect=4).err

    def test_of_somebody_elses_database_is_refused_untouched(self, stepwell, tmp_path):
        import sqlite3

        with sqlite3.connect(tmp_path / "other.db") as other:
            other.execute("create table threads (mine text)")
        other.close()

        assert "other.db" in stepwell("threads", "--db", "other.db", expect=4).err

        with sqlite3.connect(tmp_path / "other.db") as other:
            assert other.execute("select sql from sqlite_master").fetchall() == [("CREATE TABLE threads (mine text)",)]
        other.close()

    def test_ends_quietly_when_its_reader_has_gone(self, stepwell, environment, tmp_path):
        stepwell("run", "--thread", "t", "--new", stdin="\n".join(["line"] * 5000))
        command = f"{sys.executable} -m stepwell.cli.main show t --full | head -n 1"

        piped = subprocess.run(["sh", "-c", command], capture_output=True, env=environment, cwd=tmp_path)

        assert piped.stderr == b""

    def test_reading_a_database_that_is_not_there_does_not_make_it(self, stepwell, tmp_path):
        assert "no database at mine.db" in stepwell("log", "t", "--db", "mine.db", expect=1).err
        assert not (tmp_path / "mine.db").exists()
