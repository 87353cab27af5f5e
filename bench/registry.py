"""All benchmarks, in the order they run."""

from __future__ import annotations

from bench import chains, chat, crowd, fanout, growth, imports, listing, sessions, wide
from bench.cases import Case

CASES: dict[str, Case] = {
    case.name: case
    for family in (imports, chains, fanout, wide, crowd, chat, growth, listing, sessions)
    for case in family.CASES
}
