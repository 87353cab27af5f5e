"""Whatever is done to them, in whatever order: the savers show the same, and every value reads as it was put."""

from __future__ import annotations

import copy
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from stepwell.checkpoint.base import empty_checkpoint
from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import StepwellError

THREADS = ("t", "u")
SPACES = ("", "child", "child|deep")
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.binary(max_size=50),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


class Alike(RuleBasedStateMachine):
    """Drives a memory and an SQLite saver side by side, and a model of deep copies."""

    @initialize()
    def begin(self) -> None:
        self.savers: list[Any] = [InMemorySaver(), SqliteSaver(":memory:")]
        self.puts: list[Any] = []
        self.model: dict[tuple[str, str, str], Any] = {}
        self.runs = 0

    def teardown(self) -> None:
        if hasattr(self, "savers"):
            self.savers[1].close()

    def both(self, call: Any) -> Any:
        """The answer of both savers, or the type of the error that both raise."""
        answers = []
        for saver in self.savers:
            try:
                answers.append(call(saver))
            except (StepwellError, ValueError) as error:
                answers.append(type(error))
        assert answers[0] == answers[1]
        return answers[0]

    @rule(
        thread=st.sampled_from(THREADS),
        ns=st.sampled_from(SPACES),
        value=VALUES,
        keep=st.booleans(),
        pick=st.integers(0, 30),
        branch=st.sampled_from([None, None, None, "b0"]),
    )
    def put(self, thread: str, ns: str, value: Any, keep: bool, pick: int, branch: str | None) -> None:
        known = [at for at in self.puts if (at[0], at[1]) == (thread, ns) and at in self.model]
        parent = known[pick % len(known)] if known and pick % 4 else (known[-1] if known else None)
        made = empty_checkpoint()
        before = self.model.get(parent, {}) if parent else {}
        made["channel_values"] = {**(before if keep else {}), "v": [*before.get("v", []), value], f"c{pick % 3}": value}
        made["channel_versions"] = {name: len(self.puts) + 1 for name in made["channel_values"]}
        self.runs += pick % 5 == 0
        metadata: Any = {"source": "loop", "step": len(self.puts), "run_id": f"r{self.runs}"}
        config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ns}}
        if parent is not None:
            config["configurable"]["checkpoint_id"] = parent[2]
            if branch is not None and ns == "":
                config["configurable"]["branch"] = branch
        self.both(lambda saver: saver.put(config, copy.deepcopy(made), metadata, made["channel_versions"]))
        key = (thread, ns, made["id"])
        self.model[key] = copy.deepcopy(made["channel_values"])
        self.puts.append(key)

    def config(self, pick: int) -> Any:
        thread, ns, id = self.puts[pick % len(self.puts)]
        return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": id}}

    @precondition(lambda self: self.puts)
    @rule(pick=st.integers(0, 99), value=VALUES, task=st.sampled_from(["x", "y"]))
    def put_writes(self, pick: int, value: Any, task: str) -> None:
        self.both(lambda saver: saver.put_writes(self.config(pick), [("v", value), ("__error__", "no")], task, "~p"))

    @precondition(lambda self: self.puts)
    @rule(pick=st.integers(0, 99), name=st.sampled_from(["one", "two"]), take=st.booleans())
    def tag(self, pick: int, name: str, take: bool) -> None:
        config = self.config(pick)
        self.both(lambda saver: saver.untag(config, name) if take else saver.tag(config, name))

    @precondition(lambda self: self.puts)
    @rule(pick=st.integers(0, 99))
    def create_branch(self, pick: int) -> None:
        self.both(lambda saver: saver.create_branch(self.config(pick), f"b{pick % 2}"))

    @rule(thread=st.sampled_from(THREADS), name=st.sampled_from(["b0", "b1", "main"]), new=st.sampled_from(["", "b2"]))
    def rename_or_delete_branch(self, thread: str, name: str, new: str) -> None:
        self.both(lambda s: s.rename_branch(thread, name, new) if new else s.delete_branch(thread, name))

    @precondition(lambda self: self.puts)
    @rule(pick=st.integers(0, 99))
    def set_head(self, pick: int) -> None:
        config = self.config(pick)
        id = config["configurable"].pop("checkpoint_id")
        self.both(lambda saver: saver.set_head(config, id))

    @rule(thread=st.sampled_from(THREADS))
    def prune(self, thread: str) -> None:
        self.both(lambda saver: saver.prune([thread]))
        self.forget()

    @rule(pick=st.integers(0, 5))
    def delete_for_runs(self, pick: int) -> None:
        self.both(lambda saver: saver.delete_for_runs([f"r{max(self.runs - pick, 0)}"]))
        self.forget()

    @rule(thread=st.sampled_from(THREADS))
    def delete_thread(self, thread: str) -> None:
        self.both(lambda saver: saver.delete_thread(thread))
        self.forget()

    @rule(thread=st.sampled_from(THREADS), crosswise=st.booleans())
    def move(self, thread: str, crosswise: bool) -> None:
        """Out of each saver, and back into the other or the same one."""
        try:
            streams = [b"".join(saver.export_thread(thread)) for saver in self.savers]
        except StepwellError:
            return
        for saver, data in zip(self.savers, streams[::-1] if crosswise else streams, strict=True):
            saver.delete_thread(thread)
            saver.import_thread(data)

    def forget(self) -> None:
        """What is gone from the savers need not be read any more."""
        listed = [(found.config["configurable"], found.checkpoint["id"]) for found in self.savers[0].list(None)]
        there = {(at["thread_id"], at["checkpoint_ns"], id) for at, id in listed}
        self.model = {key: value for key, value in self.model.items() if key in there}

    @invariant()
    def show_the_same(self) -> None:
        if not hasattr(self, "savers"):
            return
        listed = [list(saver.list(None)) for saver in self.savers]
        assert [found.config for found in listed[0]] == [found.config for found in listed[1]]
        for one, other in zip(*listed, strict=True):
            assert one.checkpoint == other.checkpoint
            assert (one.metadata, one.parent_config) == (other.metadata, other.parent_config)
            assert one.pending_writes == other.pending_writes
            at = one.config["configurable"]
            assert (
                one.checkpoint["channel_values"]
                == self.model[at["thread_id"], at["checkpoint_ns"], one.checkpoint["id"]]
            )
        assert len(listed[0]) == len(self.model)
        for thread in THREADS:
            self.both(lambda saver, thread=thread: saver.branches(thread))
            self.both(lambda saver, thread=thread: [(tag.name, tag.checkpoint_id) for tag in saver.tags(thread)])
            for ns in SPACES:
                config = {"configurable": {"thread_id": thread, "checkpoint_ns": ns}}
                self.both(lambda saver, config=config: saver.get_tuple(config))
        self.both(lambda saver: [(i.thread_id, i.status, i.checkpoints, i.checkpoint_id) for i in saver.list_threads()])


Alike.TestCase.settings = settings(
    max_examples=40,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # shrinking takes minutes
)
DescribeTheSavers = Alike.TestCase
