"""What can end a sweep from outside."""

from __future__ import annotations

import errno

from solvers.errors import MinimexError


class SweepCutShort(MinimexError, RuntimeError):
    """A sweep ended before its points did, through no fault of theirs; what is done is saved, the same command goes on."""


def is_full(error: OSError) -> bool:
    """Say whether a write failed for want of room, which may come back."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def reason_of(error: OSError) -> str:
    """Return in a few words why something could not be read or written."""
    return "disk full" if is_full(error) else (error.strerror or str(error)).lower()


class RayLost(SweepCutShort):
    """Ray itself ended under a sweep."""
