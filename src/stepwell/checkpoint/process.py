"""Which process this is, and whether another one still runs: what a lease says about its holder."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Process:
    """A process, told apart from every other that ever had its number. Empty texts: the system does not say."""

    host: str
    boot: str  # id of the host's current boot
    space: str  # the pid namespace
    pid: int
    started: str  # ticks since boot

    def as_text(self) -> str:
        """One line for a database."""
        return "\t".join((self.host, self.boot, self.space, str(self.pid), self.started))

    @classmethod
    def from_text(cls, text: str) -> Process:
        """Of `as_text`."""
        host, boot, space, pid, started = text.split("\t")
        return cls(host, boot, space, int(pid), started)


def here() -> Process:
    """This process."""
    global _here
    if _here is None or _here.pid != os.getpid():
        pid = os.getpid()
        _here = Process(_host(), _read("/proc/sys/kernel/random/boot_id"), _space(), pid, _started(pid))
    return _here


def is_gone(other: Process) -> bool:
    """Whether `other` certainly runs no more. False when it cannot be told from here (another host or container)."""
    mine = here()
    if not mine.boot or not other.started or (other.boot, other.space) != (mine.boot, mine.space):
        return False
    return _started(other.pid) != other.started


def _started(pid: int) -> str:
    """When process `pid` started, in ticks since boot; empty when there is none, or it only waits to be buried."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 and fields[0] not in ("Z", "X") else ""


def _host() -> str:
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return name.replace("\t", " ")


def _space() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


_here: Process | None = None
