"""A fresh process that opens a long conversation: `python -m bench.reopen LIBRARY FILE TURN` prints its figures."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from bench.chat import state, turn
from bench.library import Library
from bench.measure import figures, spent
from bench.talk import conversation


def main() -> None:
    """Opens FILE, reads the newest state, takes turn TURN; the whole life of the process is a figure, too."""
    root, _, variant = sys.argv[1].partition(":")
    number = int(sys.argv[3])
    library = Library(root, variant)
    with library.sqlite(Path(sys.argv[2])) as saver:
        app = conversation(library).compile(checkpointer=saver)
        read = spent(lambda: state(app))
        took = turn(app, number)
    print(
        json.dumps(
            {
                **figures(f"reopened_get_state_{number}", read, "ms"),
                **figures(f"reopened_turn_{number}", took, "ms"),
                f"cpu_ms_reopened_process_{number}": time.process_time() * 1e3,
            }
        )
    )


if __name__ == "__main__":
    main()
