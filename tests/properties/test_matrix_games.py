"""Laws of games given by matrices: files keep payoffs exactly, polynomials mean what their text says, families hold their members."""

from fractions import Fraction as Q

from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import make
from solvers.contract import File
from solvers.forms import BimatrixGame, MatrixGame, ParametricGame, evaluate
from solvers.games.bimatrix import Bimatrix
from solvers.games.forced_rps import BASES, ForcedRps
from solvers.games.matrix_csv import MatrixCsv
from solvers.games.nfg import Nfg
from solvers.games.parametric_matrix import ParametricMatrix
from solvers.games.polynomials import read_polynomial, terms_of

PAYOFFS = st.fractions(max_denominator=10**12) | st.integers(-(10**40), 10**40).map(Q)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="+\\\r\n\0"), min_size=1, max_size=8).map(str.strip).filter(bool)


@st.composite
def games(draw):
    m, n = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    matrices = st.lists(st.lists(PAYOFFS, min_size=n, max_size=n).map(tuple), min_size=m, max_size=m).map(tuple)
    a = draw(matrices)
    b = draw(matrices | st.just(tuple(tuple(-entry for entry in row) for row in a)))
    names = [draw(st.none() | st.lists(NAMES, min_size=count, max_size=count, unique=True).map(tuple)) for count in (m, n)]
    return Bimatrix(a, b, *names)


@given(games())
def test_nfg_gives_back_the_game(game):
    text = Bimatrix.exports["nfg"](game)
    assert Nfg(File(text.encode())).form(BimatrixGame) == game.form(BimatrixGame)


@given(games())
def test_csv_gives_back_the_game(game):
    text = Bimatrix.exports["csv"](game)
    assert MatrixCsv(File(text.encode())).form(BimatrixGame) == game.form(BimatrixGame)


@given(games())
def test_what_is_written_again_is_the_same_text(game):
    for name, again in (("nfg", Nfg), ("csv", MatrixCsv)):
        text = Bimatrix.exports[name](game)
        written = again.exports[name](again(File(text.encode())))
        assert written.splitlines()[1:] == text.splitlines()[1:]


@given(games())
def test_zero_sum_is_what_gives_a_matrix_game(game):
    zero_sum = all(x == -y for ours, theirs in zip(game.a, game.b, strict=True) for x, y in zip(ours, theirs, strict=True))
    assert (game.refuses(MatrixGame) is None) == zero_sum == game.form(BimatrixGame).is_zero_sum
    if zero_sum:
        assert game.form(MatrixGame).payoffs == game.a


# ---- polynomials -------------------------------------------------------------------------------------------------------------

SMALL = st.fractions(min_value=-3, max_value=3, max_denominator=7)


@st.composite
def expressions(draw, depth=3):
    """Draw text and the function it means."""
    kind = draw(st.sampled_from(["number", "name"] if depth == 0 else ["number", "name", "+", "-", "*", "/", "^", "negative"]))
    if kind == "number":
        value = draw(st.fractions(min_value=0, max_value=9, max_denominator=9))
        return f"({value})", lambda a, b: value
    if kind == "name":
        return draw(st.sampled_from([("a", lambda a, b: a), ("b", lambda a, b: b)]))
    left, f = draw(expressions(depth=depth - 1))
    if kind == "negative":
        return f"(-{left})", lambda a, b: -f(a, b)
    if kind == "/":
        divisor = draw(st.integers(1, 5))
        return f"{left}/{divisor}", lambda a, b: f(a, b) / divisor
    if kind == "^":
        power = draw(st.integers(0, 3))
        return f"({left})^{power}", lambda a, b: f(a, b) ** power
    right, g = draw(expressions(depth=depth - 1))
    means = {"+": lambda a, b: f(a, b) + g(a, b), "-": lambda a, b: f(a, b) - g(a, b), "*": lambda a, b: f(a, b) * g(a, b)}
    return f"({left} {kind} {right})", means[kind]


@given(expressions(), SMALL, SMALL)
def test_a_polynomial_has_the_value_its_text_has(expression, a, b):
    text, means = expression
    assert evaluate(terms_of(read_polynomial(text, ("a", "b"))), (a, b)) == means(a, b)


@given(expressions())
def test_multiplied_out_it_is_the_same_polynomial(expression):
    read = read_polynomial(expression[0], ("a", "b"))
    assert read_polynomial(str(read), ("a", "b")) == read
    terms = terms_of(read)
    assert list(terms) == sorted(terms, reverse=True)
    assert all(coefficient for _, coefficient in terms)


@given(expressions(), SMALL, SMALL)
def test_a_parametric_matrix_at_a_value_is_the_matrix_there(expression, a, b):
    text, means = expression
    game = make(ParametricMatrix, payoffs=[["a", "b"], [text, "1"]], parameters=["a", "b"])
    assert game.form(ParametricGame).at((a, b)).payoffs == ((a, b), (means(a, b), 1))


# ---- forced moves ------------------------------------------------------------------------------------------------------------

HALVES = st.fractions(0, Q(1, 2), max_denominator=30)


@given(st.sampled_from(sorted(BASES)), HALVES, HALVES, HALVES, st.data())
@settings(max_examples=60)
def test_a_family_holds_its_members(base, a, b, fixed, data):
    """A number put in for a parameter afterwards or beforehand: one game."""
    one, two = BASES[base].row_moves, BASES[base].column_moves
    mine, other = data.draw(st.lists(st.sampled_from(one), min_size=2, max_size=2, unique=True))
    yours = data.draw(st.sampled_from(two))
    ranges = {"a": (Q(0), Q(1, 2))}
    family = ForcedRps({mine: "a", other: fixed}, {yours: "b"}, base=base, parameters=("a", "b"), ranges=ranges)
    member = ForcedRps({mine: a, other: fixed}, {yours: b}, base=base).form(MatrixGame)
    assert family.form(ParametricGame).at((a, b)).payoffs == member.payoffs


@given(st.sampled_from(sorted(BASES)), HALVES, HALVES)
def test_outcomes_are_probabilities_and_win_loss_pay_in_games_of_ones(base, a, b):
    game = ForcedRps(a=a, b=b, base=base).form(MatrixGame)
    wins = game.outcomes
    for i, row in enumerate(game.payoffs):
        for j, payoff in enumerate(row):
            parts = wins.win[i][j], wins.draw[i][j], wins.lose[i][j]
            assert sum(parts) == 1
            assert min(parts) >= 0
            if base != "odd_even":
                assert payoff == parts[0] - parts[2]
