"""Octal codes: how they are read, kept and refused."""

import pytest

from solvers.builder import build
from solvers.errors import ConfigError
from solvers.forms import HeapGame
from solvers.games.octal import Octal

TARGET = "solvers.games.octal.Octal"


@pytest.mark.parametrize(
    ("written", "kept", "digits"),
    [
        ("0.77", "0.77", (0, 7, 7)),
        (".77", "0.77", (0, 7, 7)),
        ("0.770", "0.77", (0, 7, 7)),
        (" 0.77 ", "0.77", (0, 7, 7)),
        ("0.077", "0.077", (0, 0, 7, 7)),
        ("4.7", "4.7", (4, 7)),
        ("4.0", "4.0", (4,)),
        ("4.00", "4.0", (4,)),
        ("0.0", "0.0", (0,)),
        (".000", "0.0", (0,)),
        ("0." + "0" * 40 + "1", "0." + "0" * 40 + "1", (0,) * 41 + (1,)),
    ],
)
def test_is_kept_in_one_form(written, kept, digits):
    game = Octal(written)
    assert game.code == kept
    assert game == Octal(kept)
    assert game.form(HeapGame) == HeapGame(digits, kept)


def test_last_place_is_that_of_the_last_digit():
    assert Octal("0.1370").form(HeapGame).last_place == 3
    assert Octal("0.0").form(HeapGame).last_place == 0


@pytest.mark.parametrize(
    ("written", "wanted", "hint"),
    [
        ("0.8", "digits from 0 to 7", "hexadecimal"),
        ("0.1f", "digits from 0 to 7", "hexadecimal"),
        (".A", "digits from 0 to 7", "hexadecimal"),
        ("3.7", "0 or 4 before the point", "write '0.7' or '4.7'"),
        ("0.", "an octal code", "at least one digit"),
        (".", "an octal code", "at least one digit"),
        ("7", "an octal code", "one point"),
        ("abc", "an octal code", "one point"),
        ("", "an octal code", "one point"),
        ("0.7.7", "an octal code", "one point"),
        ("0.7\n7", "an octal code", "one point"),
        ("44.7", "an octal code", "0, 4 or nothing"),
        ("-0.7", "an octal code", "0, 4 or nothing"),
        ("0.٧", "an octal code", "digit from 0 to 7"),  # noqa: RUF001 (an Arabic seven)
    ],
)
def test_refuses_what_is_no_octal_code(written, wanted, hint):
    with pytest.raises(ConfigError) as caught:
        Octal(written)
    assert caught.value.path == "code"
    assert wanted in caught.value.wanted
    assert caught.value.came == repr(written)
    assert hint in caught.value.hint


def test_a_number_is_told_to_be_quoted():
    with pytest.raises(ConfigError, match=r"game\.code: expected text, got the number 0\.77 \(quote it\)"):
        build({"_target_": TARGET, "code": 0.77}, "game")
    with pytest.raises(ConfigError, match=r"code: expected text, such as '0\.77', got 0\.77 \(quote it\)"):
        Octal(0.77)
