"""Games, solvers and checkers. `solve(game, solver)` from a notebook; the pipeline runs the same code on many cores."""

from solvers.builder import make
from solvers.inline import solve

__all__ = ["make", "solve"]
