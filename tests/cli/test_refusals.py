"""Values that cannot be used are refused before anything runs, by the very key somebody wrote."""

from pathlib import Path

import pytest

QUICK = ("tracking=off", "compute=inline", "out=it")

REFUSED = [
    # command words, separated by spaces; path; what else the message has to say
    # ---- matrices
    ('game=matrix game.payoffs=[["1","2"],["3"]] solver=exact_lp', "game.payoffs[1]", "2 entries, as in the first row, got 1"),
    ('game=matrix game.payoffs=[["1"],[]] solver=exact_lp', "game.payoffs[1]", "1 entry, as in the first row, got 0"),
    ("game=matrix game.payoffs=[] solver=exact_lp", "game.payoffs", "at least one row"),
    ("game=matrix game.payoffs=[[]] solver=exact_lp", "game.payoffs[0]", "at least one column"),
    ("game=matrix game.payoffs=null solver=exact_lp", "game.payoffs", "a list of lists: [[1, 2], [3, 4]]"),
    ("game=matrix game.payoffs=3 solver=exact_lp", "game.payoffs", "a list of lists"),
    ("game=matrix game.payoffs=[1,2] solver=exact_lp", "game.payoffs[0]", "expected a list, got '1'"),
    ('game=matrix game.payoffs=[["1","1/0"]] solver=exact_lp', "game.payoffs[0][1]", "got '1/0' (nothing can be divided by 0)"),
    ('game=matrix game.payoffs=[["1","0,5"]] solver=exact_lp', "game.payoffs[0][1]", "(write 0.5)"),
    ('game=matrix game.payoffs=[["1","nan"]] solver=exact_lp', "game.payoffs[0][1]", "an exact number"),
    ("game=matrix game.payoffs=[[1,null]] solver=exact_lp", "game.payoffs[0][1]", "got None"),
    ("game=matrix game.payoffs.0.1=x solver=exact_lp", "game.payoffs[0][1]", "got 'x'"),
    ("game=matrix game.payof=[[1]] solver=exact_lp", "game.payof", "did you mean payoffs?"),
    ("game=matrix game.row_actions=[a] solver=exact_lp", "game.row_actions", "2 names, one for each row, got 1"),
    ("game=matrix game.row_actions=[a,a] solver=exact_lp", "game.row_actions[0]", "all different"),
    ("game=matrix game.row_actions=[a+b,c] solver=exact_lp", "game.row_actions[0]", 'a name without "+"'),
    ('game=bimatrix game.a=[["3","1/2"],["1/0","1"]] solver=pure', "game.a[1][0]", "got '1/0'"),
    ('game=bimatrix game.a=[["3","1/2"],["0"]] solver=pure', "game.a[1]", "2 entries"),
    ('game=bimatrix game.a=[["3"]] solver=pure', "game.b", "1 row, as a has, got 3"),
    ('game=bimatrix game.b=[["3","1"],["2","1"],["1"]] solver=pure', "game.b[2]", "2 entries, as a has, got 1"),
    ("game=rps_n game.names=[a,b] solver=exact_lp", "game.names", "5 names, one for each move, got 2"),
    # ---- probabilities
    ('game=forced_rps game.p1={rock:"-1/2"} solver=exact_lp', "game.p1.rock", "a probability, 0 to 1, got -1/2"),
    ('game=forced_rps game.p1={rock:"1/2",paper:"2/3"} solver=exact_lp', "game.p1", "a sum of 7/6"),
    ('game=forced_rps game.p1={rok:"1/2"} solver=exact_lp', "game.p1.rok", "did you mean rock?"),
    ('game=forced_rps game.p1={rock:"1/0"} solver=exact_lp', "game.p1.rock", "got '1/0'"),
    ("game=forced_rps game.a=2 solver=exact_lp", "game.a", "a probability, 0 to 1, got 2"),
    ("game=forced_rps game.b=1/0 solver=exact_lp", "game.b", "got '1/0'"),
    ('game=forced_rps game.a=1/2 game.p1={rock:"1/2"} solver=exact_lp', "game.a", "write it as game.p1.rock"),
    ('game=forced_rps sweep.grid={game.a:"0:2:1"} solver=exact_lp', "game.a", "a probability, 0 to 1, got 2"),
    ('game=forced_rps solver=evaluate solver.x=["3/2","-1/2","0"]', "solver.x[0]", "a probability, 0 to 1, got 3/2"),
    ('game=forced_rps solver=evaluate solver.x=["1/2","1/2","1/2"]', "solver.x", "sum to 1, got a sum of 3/2"),
    (
        'game=forced_rps solver=evaluate solver.x=["1/2","1/2"]',
        "solver.x",
        "a list of 3, a probability for each row of the game, got 2",
    ),
    ('game=forced_rps solver=evaluate solver.y={lizard:"1"}', "solver.y.lizard", "there are: paper, rock, scissors"),
    ('game=forced_rps solver=evaluate solver.y={rok:"1"}', "solver.y.rok", "did you mean rock?"),
    ('game=forced_rps solver=evaluate solver.x={rock:"1/0"}', "solver.x.rock", "an exact number"),
    ('game=forced_rps solver=evaluate solver.y=["1/0","1","0"]', "solver.y[0]", "an exact number"),
    ("game=forced_rps solver=evaluate solver.y=rock", "solver.y", "a map, such as {name: value} or a list"),
    ("game=forced_rps solver=regret_matching solver.opponent=[0.5,0.5]", "solver.opponent", "a list of 3"),
    ("game=forced_rps solver=regret_matching solver.start=[[1,2],[1,2,3]]", "solver.start[0]", "a list of 3"),
    # ---- families
    (
        "game=forced_rps game.a=a game.parameters=[a] game.ranges={a:[1,0]} solver=parametric",
        "game.ranges.a",
        "least below greatest",
    ),
    ("game=forced_rps game.a=a game.parameters=[a] game.ranges={a:[0,2]} solver=parametric", "game.ranges.a", "within 0 to 1"),
    ("game=forced_rps game.a=a game.parameters=[a] game.ranges={c:[0,1]} solver=parametric", "game.ranges.c", "there are: a"),
    ("game=forced_rps game.a=a game.parameters=[a,b] solver=parametric", "game.parameters[1]", "game.a=b makes it one"),
    ('game=parametric_matrix game.payoffs=[["a","b"]] solver=parametric', "game.payoffs[0][1]", "the unknown name 'b'"),
    ('game=parametric_matrix game.payoffs=[["a^99"]] solver=parametric', "game.payoffs[0][0]", "at most degree 60"),
    ("game=parametric_matrix game.parameters=[a,b,c] solver=parametric", "game.parameters", "at most 2"),
    # ---- sizes
    ("game=random_matrix game.size=0 solver=exact_lp", "game.size", "1 to 2000, got 0"),
    ("game=random_bimatrix game.rows=-1 solver=pure", "game.rows", "1 to 2000, got -1"),
    ("game=random_matrix game.size=2,0 solver=exact_lp", "game.size", "1 to 2000, got 0"),
    ("game=random_matrix game.size=2.5 solver=exact_lp", "game.size", "int"),
    ("game=random_matrix game.low=10 solver=exact_lp", "game.low", "at most high, 9, got 10"),
    ("game=random_bimatrix game.low=5 game.high=4 solver=pure", "game.low", "at most high, 4, got 5"),
    ("game=random_matrix game.high=-10 solver=exact_lp", "game.high", "at least low, -9, got -10"),
    ("game=random_bimatrix game.high=1e12 solver=pure", "game.high", "less than 4294967287"),
    ("game=random_matrix game.low=-1e12 solver=exact_lp", "game.low", "more than -4294967287"),
    ("game=random_matrix seed=-1 solver=exact_lp", "seed", "at least 0, got -1"),
    ("game=random_bimatrix seed=1,-1 solver=pure", "seed", "at least 0, got -1"),
    ("game=random_matrix game.seed=-1 solver=exact_lp", "game.seed", "at least 0, got -1"),
    ("game=rps_n game.n=4 solver=exact_lp", "game.n", "an odd number, 3 to 999"),
    ("game=morra game.fingers=5 solver=exact_lp", "game.fingers", "1 to 4"),
    ("game=blotto game.soldiers=100 solver=exact_lp", "game.soldiers", "at most 53 with fields=3, got 100"),
    ("game=blotto game.fields=100 solver=exact_lp", "game.fields", "at most 54 with soldiers=2, got 100"),
    ("game=blotto game.score=totl solver=exact_lp", "game.score", "did you mean total?"),
    # ---- settings
    ("game=forced_rps solver=grid_search solver.steps=0", "solver.steps", "1 to 1,000,000, got 0"),
    ("game=forced_rps solver=grid_search solver.steps=5000", "solver.steps", "at most 1,412 with 3 actions, got 5,000"),
    ("game=forced_rps solver=grid_search solver.opponent=grid solver.steps=500", "solver.opponent", "pure with steps=500"),
    ("game=forced_rps solver=grid_search solver.opponent=grit", "solver.opponent", "did you mean grid?"),
    ("game=forced_rps solver=lemke_howson solver.labels=-1", "solver.labels", "all, or a label from 0"),
    ("game=forced_rps solver=lemke_howson solver.labels=6", "solver.labels", "0 to 5, got 6"),
    ("game=forced_rps solver=lemke_howson solver.labels=al", "solver.labels", "did you mean all?"),
    ("game=random_bimatrix solver=lcp solver.priors=some", "solver.priors", "one of uniform, pure"),
    ("game=random_bimatrix solver=dominance solver.kind=string", "solver.kind", "one of strict, weak"),
    ("game=random_bimatrix solver=dominance solver.mixed=maybe", "solver.mixed", "true or false"),
    ("game=random_bimatrix solver=correlated solver.objective=self", "solver.objective", "one of welfare"),
    ("game=random_bimatrix solver=support_enumeration solver.first=3", "solver.first", "true or false"),
    (
        "game=random_bimatrix game.size=9 solver=support_enumeration solver.supports=true",
        "solver.supports",
        "261,121 pairs of supports of any sizes, at most 10,000 are explained",
    ),
    ("game=forced_rps solver=multiplicative_weights solver.rate=-1", "solver.rate", "a positive number"),
    # ---- the pairing itself
    ("game=bimatrix solver=exact_lp", "solver", "the game is not zero-sum: game.a[0][0] is 3 and game.b[0][0] is 3"),
    ("game=nfg solver=exact_lp", "solver", "the game is not zero-sum: row 1 against column 1 pays 1 and 1"),
    ("game=random_bimatrix game.size=20 solver=support_enumeration", "solver", "137,846,528,819 pairs of supports"),
    ("game=random_bimatrix game.size=20 solver=support_enumeration", "solver", "(these take it: correlated, dominance, lcp"),
    ("game=random_matrix game.size=30 solver=symbolic", "solver", "a polynomial of up to 900 terms"),
    ("game=forced_rps game.a=a game.parameters=[a] solver=exact_lp", "solver", "(these take it: parametric)"),
    ("game=forced_rps solver=parametric", "solver", "game.a=a 'game.parameters=[a]' gives it one"),
    (
        'game=parametric_matrix game.payoffs=[["a^30","b^30"],["b^30","a"]] game.parameters=[a,b] solver=parametric',
        "solver",
        "may have degree 60 in a and b, at most 24 is looked at; polynomials of smaller degree would do, or support_enumeration",
    ),
    ("game=random_bimatrix game.size=500 solver=lcp", "solver", "have 1000 actions together, at most 200 are taken"),
]


@pytest.mark.parametrize(("words", "path", "said"), REFUSED, ids=[words for words, _, _ in REFUSED])
def test_the_message_begins_with_the_key_and_says_what_would_do(minimex, words, path, said):
    answer = minimex(*words.split(" "), *QUICK)

    assert answer.status == 2
    assert answer.text.startswith(f"minimex: {path}: expected ")
    assert said in answer.text
    assert not Path("it").exists()


def test_no_choice_is_told_twice(minimex):
    answer = minimex("game=nosuch", "solver=pure", *QUICK)

    assert answer.text.count("stag_hunt") == 1


def test_pairs_that_a_setting_makes_impossible_are_dropped_where_that_is_asked_for(minimex):
    words = ("game=forced_rps,matching_pennies", "solver=evaluate", 'solver.x=["1/2","1/2"]', *QUICK)

    assert minimex(*words).text.startswith("minimex: solver.x: expected a list of 3")
    assert minimex(*words, "skip_impossible=true").status == 0
