"""How a run drives a saver: by its own chain, or through its public methods."""

from __future__ import annotations

from typing import Any, Final

from stepwell.checkpoint.base.public_chain import PublicChain
from stepwell.checkpoint.chained import ChainedSaver
from stepwell.saves import ChainSaver

_PUBLIC: Final = (
    "get_tuple", "put", "put_writes", "list", "aget_tuple", "aput", "aput_writes", "alist"
)  # fmt: skip
_OURS: Final = tuple((name, getattr(ChainedSaver, name)) for name in _PUBLIC)


def chain_of(saver: Any) -> ChainSaver:
    """The chain that drives `saver`: its own only when nobody changed a public method, on its class or on itself.

    What people override or wrap is called: such savers, and those of other makers, are driven by their public methods.
    """
    kind = type(saver)
    if not issubclass(kind, ChainedSaver):
        return PublicChain(saver)
    if all(getattr(kind, name) is ours for name, ours in _OURS) and not vars(saver).keys() & _NAMES:
        chain: ChainSaver = saver.chain
        return chain
    return PublicChain(saver, saver.chain)


_NAMES: Final = frozenset(_PUBLIC)
