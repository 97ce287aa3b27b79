"""Who is at work on a sweep that lives in an object store: `_lock.json` there, renewed every minute.

Rules
-----
1. Whoever is going to write puts a lease with a random id, waits a moment and reads it again: the last of several who come at once
   has it, the others are refused.
2. A lease is taken over if it is ten minutes old, or if its process was on this machine and is gone.
3. Whoever finds another's id in it has lost it and writes nothing more.

What this cannot do: pyarrow knows no conditional writing, so between looking and putting there is always a gap. Two who come at
once are told apart only if both look and put within `_SETTLE_S`, and one that was asleep for ten minutes (a laptop's lid) may have
been taken for dead. Therefore nothing relies on the lease alone: see `pipeline.remote`, rule 3. Clocks of two machines are assumed
to agree within minutes.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pipeline.journal import DirectoryBusy
from pipeline.remote.objects import Store, StoreLost

NAME = "_lock.json"

_RENEW_S = 60.0
_STALE_S = 600.0
_SETTLE_S = 0.5
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has a lease: in words, and which process; None where what lies there cannot be read."""

    words: str
    host: str | None = None
    pid: int | None = None


class Lease:
    """The right to write under a prefix, while the block lasts.

    Raises
    ------
    DirectoryBusy
        On entering, if somebody else has it.
    StoreLost
        On entering, if the store does not answer.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.own = {"id": uuid.uuid4().hex, "host": socket.gethostname(), "machine": _machine(), "pid": os.getpid()}
        self.began = time.time()
        self.lost = False
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="minimex-lease", daemon=True)

    def __enter__(self) -> Self:
        self._refuse_if_foreign()
        self._put()
        time.sleep(_SETTLE_S)
        self._refuse_if_foreign()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ending.set()
        self._thread.join()
        with contextlib.suppress(StoreLost, ValueError):
            if not self.lost and _is(self._standing(), self.own["id"]):
                self.store.remove(NAME)

    def renew(self) -> None:
        """Say that we are still here; note if somebody else has taken over."""
        standing = self._standing()
        if self.lost or not (standing is None or _is(standing, self.own["id"])):
            self.lost = True
            return
        self._put()

    def _keep(self) -> None:
        while not self._ending.wait(_RENEW_S):
            with contextlib.suppress(StoreLost, ValueError):  # tried again in a minute
                self.renew()

    def _put(self) -> None:
        self.store.put(NAME, json.dumps({**self.own, "began": self.began, "time": time.time()}).encode())

    def _standing(self) -> dict[str, Any] | None:
        """Return the lease that lies there, None if none does.

        Raises
        ------
        ValueError
            If what lies there is no lease.
        """
        return self.store.parsed(NAME, _LONGEST, _lease)

    def holder(self) -> Holder | None:
        """Return who else has it; None if nobody has."""
        try:
            standing = self._standing()
        except ValueError:
            return Holder(f"{NAME} there cannot be read (if nobody is at work, remove it)")
        if standing is None or _is(standing, self.own["id"]) or self._is_over(standing):
            return None
        host, pid = str(standing.get("host")), standing.get("pid")
        words = f"minimex on {_short(host)} (process {_short(pid)}) has been writing there since {_clock(standing.get('began'))}"
        return Holder(words, host, pid if isinstance(pid, int) else -1)

    def _refuse_if_foreign(self) -> None:
        if who := self.holder():
            hint = f"a killed one counts as gone {_STALE_S / 60:.0f} minutes after its last word"
            raise DirectoryBusy(f"{self.store.shown}: {who.words}; wait for it or choose another out; {hint}")

    def _is_over(self, standing: dict[str, Any]) -> bool:
        heard, pid = standing.get("time"), standing.get("pid")
        if not isinstance(heard, (int, float)) or time.time() - heard > _STALE_S:
            return True
        here = bool(self.own["machine"]) and standing.get("machine") == self.own["machine"]
        return here and isinstance(pid, int) and not Path(f"/proc/{pid}").exists()


def _lease(content: bytes) -> dict[str, Any]:
    said = json.loads(content)
    if not isinstance(said, dict):
        raise ValueError("no lease")  # noqa: TRY004
    return said


def _is(standing: dict[str, Any] | None, identity: Any) -> bool:
    return standing is not None and standing.get("id") == identity


def _machine() -> str:
    """Return what tells this boot of this machine, and this container's view of its processes, from all others; "" if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 (what it names is no path)
    except OSError:
        return ""


def _short(value: Any) -> str:
    return "".join(one for one in str(value)[:60] if one.isprintable())


def _clock(began: Any) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(began))
    except (TypeError, ValueError, OverflowError, OSError):
        return "an unknown time"
