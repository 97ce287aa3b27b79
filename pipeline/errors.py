"""What can end a sweep from outside."""

from __future__ import annotations

from solvers.errors import MinimexError


class SweepCutShort(MinimexError, RuntimeError):
    """A sweep ended before its points did, through no fault of theirs; what is done is saved, the same command goes on."""


class RayLost(SweepCutShort):
    """Ray itself ended under a sweep."""
