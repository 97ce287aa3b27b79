"""What can go wrong, split by who must act.

`ConfigError`: the user fixes a value. `SolverError`: this point cannot be solved. `ContractError`: our bug (or a plug-in's).
Reaching a limit is none of these: it is a `Result` with `complete=False`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar, Self

_LONGEST = 200


class MinimexError(Exception):
    """Base of all errors raised on purpose."""


class ConfigError(MinimexError, ValueError):
    """A value somebody wrote cannot be used.

    Parameters
    ----------
    path
        Where it stands, dotted, relative to whoever raises: a game's `__post_init__` says `"p1.rock"`, the builder makes
        `"game.p1.rock"` of it.
    wanted
        What would have been right: "a probability".
    came
        What came instead, as it should be shown: `repr(value)`.
    hint
        What would do, a full clause: "quote it".
    """

    def __init__(self, path: str, wanted: str, came: str, hint: str = "") -> None:
        super().__init__(path, wanted, came, hint)
        self.path, self.wanted, self.came, self.hint = path, wanted, came, hint

    longest: ClassVar[int] = _LONGEST  # of what came, in characters

    def __str__(self) -> str:
        came = self.came if len(self.came) <= self.longest else f"{self.came[: self.longest]}... ({len(self.came):,} characters)"
        said = f"{self.path}: expected {self.wanted}, got {came}"
        return f"{said} ({self.hint})" if self.hint else said

    def under(self, parent: str) -> Self:
        """Return the same error seen from outside: its path begins with `parent`."""
        if not self.path:
            path = parent
        elif self.path.startswith("["):
            path = parent + self.path
        else:
            path = f"{parent}.{self.path}"
        return type(self)(path, self.wanted, self.came, self.hint)


class ImpossiblePairing(ConfigError):
    """A game and a solver that cannot meet: no common form, or this instance is refused.

    Where one of their settings is at fault, the path names it (`solver.x`: three probabilities wanted, two came), else `solver`.
    """

    longest: ClassVar[int] = 10 * _LONGEST  # a reason that says what would do is told to its end


class UntrustedCode(ConfigError):
    """Code outside `solvers.*` would have to run and nobody said `trust`."""


class SolverError(MinimexError):
    """This point cannot be solved; the others can."""


class InfeasibleGame(SolverError, ValueError):
    """The game is not one the method can handle, found out only while solving."""


class ContractError(MinimexError, RuntimeError):
    """A game, solver or checker broke the contract of `solvers.contract`."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known words, or all of them.

    Examples
    --------
    >>> did_you_mean("heap_limt", ["heap_limit", "chunk"])
    'did you mean heap_limit?'
    >>> did_you_mean("zebra", ["heap_limit", "chunk"])
    'there are: chunk, heap_limit'
    """
    names = sorted(known)
    return nearest(word, names) or (f"there are: {', '.join(names)}" if names else "there are none")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known words, if any is near: for a message that lists all of them already.

    Examples
    --------
    >>> nearest("totl", ["total", "sign"]), nearest("zebra", ["total", "sign"])
    ('did you mean total?', '')
    """
    near = difflib.get_close_matches(word, sorted(known), n=3)
    return f"did you mean {' or '.join(near)}?" if near else ""
