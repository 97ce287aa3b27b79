"""The mathematical shapes in which games and solvers meet. A form knows no game and no method.

`MatrixGame`      two players, finitely many actions each, exact payoffs, zero-sum.
`BimatrixGame`    the same with a payoff for each player: every finite game of two players.
`ParametricGame`  a zero-sum matrix game whose payoffs are polynomials in named parameters.
`GameTree`        a zero-sum game in extensive form: moves, chance, what each player knows; `SequenceForm` is made of it.
`HeapGame`        a heap game given by the octal digits of its code.
`HeapSum`         a position of such a game: a sum of heaps and nimbers.
"""

from solvers.forms.heap import HeapGame, HeapSum
from solvers.forms.matrix import BimatrixGame, Matrix, MatrixGame, Outcomes, as_bimatrix
from solvers.forms.parametric import ParametricGame, Polynomial, evaluate
from solvers.forms.sequence import SequenceForm, sequence_form
from solvers.forms.tree import Chance, Decision, GameTree, Payoff, extract

__all__ = [
    "BimatrixGame",
    "Chance",
    "Decision",
    "GameTree",
    "HeapGame",
    "HeapSum",
    "Matrix",
    "MatrixGame",
    "Outcomes",
    "ParametricGame",
    "Payoff",
    "Polynomial",
    "SequenceForm",
    "as_bimatrix",
    "evaluate",
    "extract",
    "sequence_form",
]
