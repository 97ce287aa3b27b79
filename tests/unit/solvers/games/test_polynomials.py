"""Polynomials as text: what is read, and what is refused before it takes long."""

from fractions import Fraction as Q

import pytest

from solvers.errors import ConfigError
from solvers.games.polynomials import read_polynomial, terms_of

AB = ("a", "b")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("0", ()),
        ("-3/4", (((0, 0), Q(-3, 4)),)),
        ("1 - 2*a*b + a^2", (((2, 0), Q(1)), ((1, 1), Q(-2)), ((0, 0), Q(1)))),
        ("-a^2", (((2, 0), Q(-1)),)),
        ("(-a)^2", (((2, 0), Q(1)),)),
        ("-a*-b", None),
        ("2*(a + b)/3", (((1, 0), Q(2, 3)), ((0, 1), Q(2, 3)))),
        ("a - a", ()),
        ("a**2", (((2, 0), Q(1)),)),
        (".5*a + 0.25", (((1, 0), Q(1, 2)), ((0, 0), Q(1, 4)))),
        ("a/(1/2)", (((1, 0), Q(2)),)),
        ("1 - 2 - 3", (((0, 0), Q(-4)),)),
        ("8/4/2", (((0, 0), Q(1)),)),
        ("+a - (-b)", (((1, 0), Q(1)), ((0, 1), Q(1)))),
        ("a^0", (((0, 0), Q(1)),)),
    ],
)
def test_reads(text, terms):
    if terms is None:
        with pytest.raises(ConfigError):
            read_polynomial(text, AB)
    else:
        assert terms_of(read_polynomial(text, AB)) == terms


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "an end that comes too soon"),
        ("a +", "an end that comes too soon in 'a +'"),
        ("2a", "got 'a' at character 2 in '2a' (write * between factors)"),
        ("a(b)", "write * between factors"),
        ("a b", "write * between factors"),
        ("c", "the unknown name 'c' in 'c' (parameters are a, b)"),
        ("1/a", "a division by a in '1/a' (only constants other than 0 divide)"),
        ("1/0", "a division by 0"),
        ("1/(a - a)", "a division by 0"),
        ("a^b", "the exponent 'b' in 'a^b' (whole numbers, 0 to 60)"),
        ("a^-1", "the exponent '-'"),
        ("a^1.5", "the exponent '1.5'"),
        ("(a", "an end that comes too soon"),
        ("a)", "')' at character 2"),
        ("a; b", "';' in 'a; b'"),
        ("__import__('os')", "the unknown name '__import__'"),
        ("a^61", "degree 61"),
        ("(a + b)^40 * (a + b)^40", "degree 80"),
        ("((((9^60)^60)^60)^60)^60", "many thousand digits"),
        ("(" * 60 + "a" + ")" * 60, "more than 50 parentheses"),
        ("a+" * 1500 + "a", "at most 2,000 characters"),
        ("ä", "'ä'"),
        ("a^٣", "'٣'"),
    ],
)
def test_refuses(text, said):
    with pytest.raises(ConfigError) as caught:
        read_polynomial(text, AB)
    assert caught.value.path == ""
    assert said in str(caught.value)
