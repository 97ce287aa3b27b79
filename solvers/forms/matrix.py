"""Games of two players in normal form: finitely many actions each, exact payoffs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Matrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Probabilities that player 1 wins, draws, loses, for each pair of actions; each `[m, n]`, exact."""

    win: Matrix
    draw: Matrix
    lose: Matrix


@dataclass(frozen=True, slots=True)
class MatrixGame:
    """A zero-sum matrix game: player 1 picks a row, player 2 a column.

    Attributes
    ----------
    payoffs
        `[m, n]`, exact: what player 2 pays player 1.
    row_actions, column_actions
        Names, `m` and `n` of them.
    outcomes
        Where the game has a win, a draw and a loss; else None.
    """

    payoffs: Matrix
    row_actions: tuple[str, ...]
    column_actions: tuple[str, ...]
    outcomes: Outcomes | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row_actions), len(self.column_actions)


@dataclass(frozen=True, slots=True)
class BimatrixGame:
    """A game of two players: player 1 picks a row, player 2 a column, and each gets an entry of a matrix.

    Attributes
    ----------
    a, b
        `[m, n]`, exact: what player 1 and what player 2 get.
    row_actions, column_actions
        Names, `m` and `n` of them.
    outcomes
        Where the game has a win, a draw and a loss (of player 1); else None.
    """

    a: Matrix
    b: Matrix
    row_actions: tuple[str, ...]
    column_actions: tuple[str, ...]
    outcomes: Outcomes | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row_actions), len(self.column_actions)

    @property
    def is_zero_sum(self) -> bool:
        """Say whether what one player gets the other always pays."""
        return all(x == -y for ours, theirs in zip(self.a, self.b, strict=True) for x, y in zip(ours, theirs, strict=True))


def as_bimatrix(game: MatrixGame) -> BimatrixGame:
    """Return a zero-sum game as one of two matrices."""
    b = tuple(tuple(-entry for entry in row) for row in game.payoffs)
    return BimatrixGame(game.payoffs, b, game.row_actions, game.column_actions, game.outcomes)
