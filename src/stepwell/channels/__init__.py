"""How one key of the state takes the updates of a step."""

from stepwell.channels.any_value import AnyValue
from stepwell.channels.base import BaseChannel
from stepwell.channels.binop import BinaryOperatorAggregate
from stepwell.channels.delta import DeltaChannel
from stepwell.channels.ephemeral_value import EphemeralValue
from stepwell.channels.last_value import LastValue, LastValueAfterFinish
from stepwell.channels.latch import Latch
from stepwell.channels.named_barrier_value import NamedBarrierValue, NamedBarrierValueAfterFinish
from stepwell.channels.pure import pure
from stepwell.channels.topic import Topic
from stepwell.channels.untracked_value import UntrackedValue

__all__ = [
    "BaseChannel",
    "LastValue",
    "AnyValue",
    "EphemeralValue",
    "UntrackedValue",
    "BinaryOperatorAggregate",
    "DeltaChannel",
    "Topic",
    "NamedBarrierValue",
    "NamedBarrierValueAfterFinish",
    "LastValueAfterFinish",
    "Latch",
    "pure",
]
