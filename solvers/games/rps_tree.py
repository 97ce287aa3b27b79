"""Any zero-sum matrix game as a tree: player 1 moves, then player 2, who does not see it. As it stands rock-paper-scissors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from solvers.forms import Chance, Decision, GameTree, Payoff, extract
from solvers.forms.tree import too_large
from solvers.games.efg_format import EXPORTS
from solvers.games.payoffs import check_names, check_payoffs, numbered

F = TypeVar("F")

_RPS = tuple(tuple(map(Fraction, row)) for row in ((0, -1, 1), (1, 0, -1), (-1, 1, 0)))
_NAMES = ("rock", "paper", "scissors")


@dataclass(frozen=True, slots=True)
class RpsTree:
    """The smallest game of hidden moves: both choose at once, written one after the other. What is said of trees is tried on it.

    Attributes
    ----------
    payoffs
        `[m, n]`, exact: what player 2 pays player 1.
    row_actions, column_actions
        Names of the players' actions, all different, without "+"; None: rock, paper, scissors if there are three, else r1, r2, ...
        and c1, c2, ...

    Raises
    ------
    ConfigError
        If the matrix is empty or ragged, or the names do not fit it.

    Examples
    --------
    >>> RpsTree().form(GameTree).histories
    {'nodes': 13, 'ends': 9, 'chance_nodes': 0, 'infosets_p1': 1, 'infosets_p2': 1}
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (GameTree,)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    payoffs: tuple[tuple[Fraction, ...], ...] = _RPS
    row_actions: tuple[str, ...] | None = None
    column_actions: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        rows, columns = check_payoffs("payoffs", self.payoffs)
        for field, letter, count in (("row_actions", "r", rows), ("column_actions", "c", columns)):
            names: tuple[str, ...] | None = getattr(self, field)
            checked = None if names is None else check_names(field, names, letter, count) or names
            object.__setattr__(self, field, None if checked == _standing(letter, count) else checked)

    @property
    def ends(self) -> int:
        """How many ends the tree has."""
        return len(self.payoffs) * len(self.payoffs[0])

    def refuses(self, kind: type) -> str | None:
        """Say that the tree is too large."""
        return too_large(1 + len(self.payoffs) + self.ends, "game=matrix takes it as it is")

    def form(self, kind: type[F]) -> F:
        """Return the tree."""
        rows = self.row_actions or _standing("r", len(self.payoffs))
        columns = self.column_actions or _standing("c", len(self.payoffs[0]))

        def look(position: tuple[int, ...]) -> Chance | Decision | Payoff:
            if len(position) == 2:  # noqa: PLR2004 (a move each)
                return Payoff(self.payoffs[position[0]][position[1]])
            names = columns if position else rows
            return Decision(len(position) + 1, "", tuple((name, (*position, index)) for index, name in enumerate(names)))

        made: F = extract((), look)  # type: ignore[assignment]
        return made


def _standing(letter: str, count: int) -> tuple[str, ...]:
    return _NAMES if count == len(_NAMES) else numbered(letter, count)
