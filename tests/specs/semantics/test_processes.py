"""Several processes on one file."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT
from tests.drive import PATIENCE_S
from tests.specs.given import cfg, chain

WORKER = """
import sys
from stepwell.checkpoint.sqlite import SqliteSaver
from tests.specs.given import cfg, chain
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    graph = chain("a", saver)
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(10):
        graph.invoke({"log": [f"{sys.argv[2]}{n}"]}, cfg())
"""


def test_two_processes_on_one_thread_lose_nothing(drive, open_saver, database):
    graph = chain("a", open_saver())
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(database), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for name in "xy"
    ]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    assert [worker.communicate(timeout=PATIENCE_S) and worker.returncode for worker in workers] == [0, 0]

    log = drive.get_state(graph, cfg()).values["log"]

    for name in "xy":
        assert [item for item in log if item.startswith(name)] == [f"{name}{n}" for n in range(10)]
    assert log[1::2] == ["a"] * 20 and len(drive.history(graph, cfg())) == 60
