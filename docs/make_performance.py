"""Writes the figures of one benchmark run into docs/performance.md.

python -m bench                                          # about half an hour; names the file it wrote
python docs/make_performance.py bench/out/TIME.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

PAGE = Path(__file__).parent / "performance.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


class Row(NamedTuple):
    """One line of the table: which figure of which case, and how it is called. `per`: what it is divided by."""

    case: str
    figure: str
    words: str
    unit: str
    per: float = 1.0


ROWS = (
    Row("import", "cpu_ms_graph", "importing the graph API", "ms"),
    Row("row-none-sync", "cpu_us_step_100", "a step, without a saver", "µs"),
    Row("row-none-async", "cpu_us_step_100", "the same, async", "µs"),
    Row("row-memory-sync", "cpu_us_step_100", "a step, in memory", "µs"),
    Row("row-sqlite-sync-sync", "cpu_us_step_100", "a step, in SQLite", "µs"),
    Row("row-sqlite-async-sync", "cpu_us_step_100", "the same, async", "µs"),
    Row("fanout-none-sync", "cpu_us_task_10000", "a task of 10,000 at once", "µs"),
    Row("wide-none-sync", "cpu_us_step_1000_keys", "a step of a state of 1,000 keys", "µs"),
    Row("wide-sqlite-sync", "cpu_us_step_1000_keys", "the same, in SQLite", "µs"),
    Row("crowd-sqlite", "cpu_us_turn", "a turn of 64 conversations at once", "µs"),
    Row("chat", "cpu_ms_turn_500", "turn 500 of a chat, in SQLite", "ms"),
    Row("chat", "file_bytes_500", "the file after 500 turns", "MB", 1e6),
    Row("chat", "file_per_encoded_500", "the same, per byte of the messages", "×"),
    Row("chat", "cpu_ms_reopened_get_state_500", "opening that chat again", "ms"),
)


def table(run: dict[str, Any]) -> Iterator[str]:
    """The figures that both sides have, and where they were measured. Times of a busy machine are left out."""
    busy = run["load"][0] > run["cores"]
    yield "| | LangGraph | its delta channel | Stepwell | LangGraph ÷ Stepwell |"
    yield "|---|---|---|---|---|"
    for row in ROWS:
        medians = run["cases"].get(row.case, {}).get("medians", {})
        ours, theirs = (medians.get(label, {}).get(row.figure) for label in ("stepwell", "langgraph"))
        delta = medians.get("langgraph delta", {}).get(row.figure)
        if ours and theirs and not (busy and row.figure.startswith("cpu_")):
            shown = [_number(value, row) for value in (theirs, delta, ours)]
            yield f"| {row.words} | {' | '.join(shown)} | {theirs / ours:.1f} |"
    packages = ", ".join(f"{name} {number}" for name, number in run["packages"].items() if number)
    yield ""
    yield (
        f"Medians of one run on {run['at'][:10]}; times are CPU time. Python {run['python']}, {run['cores']} cores, "
        f"{packages}. Load average at its end: {run['load'][0]:.1f}."
    )
    if busy:
        yield "The machine was busy with other work, so its times are left out; sizes do not depend on it."


def _number(value: float | None, row: Row) -> str:
    if value is None:
        return ""
    scaled = value / row.per
    return f"{scaled:,.0f} {row.unit}" if scaled >= 100 else f"{scaled:.3g} {row.unit}"


def main(arguments: list[str]) -> int:
    run = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    if run["quick"]:
        print("figures of a quick run are rough and are not written down", file=sys.stderr)
        return 1
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(table(run)) + f"\n\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
