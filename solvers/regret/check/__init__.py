"""Checkers of this family's tables; they import no method and share no code with one.

`check_curve`          learning curves, of matrix games and of game trees; `check_curve_batch`, of many matrix games at once
`check_rates`          how fast curves fall
`check_strategies`     strategies on a tree, and whether they are what the point's other tables say
`check_values`         the value of a tree, by what both strategies guarantee
`check_responses`      best replies to given strategies, set by set
`check_exploitability` what the best replies would gain
"""

from solvers.regret.check.curve import check_curve
from solvers.regret.check.curves_together import check_curve_batch
from solvers.regret.check.rates import check_rates
from solvers.regret.check.responses import check_exploitability, check_responses
from solvers.regret.check.strategies import check_strategies
from solvers.regret.check.values import check_values

__all__ = [
    "check_curve",
    "check_curve_batch",
    "check_exploitability",
    "check_rates",
    "check_responses",
    "check_strategies",
    "check_values",
]
