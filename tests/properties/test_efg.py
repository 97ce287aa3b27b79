"""Laws of trees as files, on games of any shape: what is written is read again, and who is made to forget is refused."""

from dataclasses import dataclass, fields
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.errors import ConfigError, InfeasibleGame
from solvers.forms import Chance, Decision, GameTree, Payoff, extract
from solvers.games.efg_format import read_efg, write_efg

NAMES = st.text(st.characters(blacklist_characters="\\", blacklist_categories=("Cs",)), min_size=1, max_size=4)


@dataclass(frozen=True)
class Level:
    """One move of every path: whose (0: chance), under which names, how likely, and which players see it."""

    mover: int
    names: tuple[str, ...]
    weights: tuple[int, ...]
    seen_by: frozenset[int]


ANYBODY = st.integers(0, 2)


@st.composite
def level(draw, movers=ANYBODY, names=1):
    mover = draw(movers)
    called = draw(st.lists(NAMES, min_size=names, max_size=3, unique=True))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(called), max_size=len(called)))
    seen_by = draw(st.frozensets(st.sampled_from([1, 2]))) | {mover}
    return Level(mover, tuple(called), tuple(weights), seen_by)


@st.composite
def something_to_forget(draw):
    """Levels in which somebody chooses, and later is to move again."""
    said = draw(st.lists(level(), max_size=2))
    mover = st.just(draw(st.integers(1, 2)))
    first = draw(st.integers(0, len(said)))
    said.insert(first, draw(level(mover, names=2)))
    said.insert(draw(st.integers(first + 1, len(said))), draw(level(mover)))
    return said


def game(said, payoffs, *, forget=False):
    def look(path):
        if len(path) == len(said):
            return Payoff(payoffs[hash(path) % len(payoffs)])
        level = said[len(path)]
        after = [(*path, move) for move in range(len(level.names))]
        if level.mover == 0:
            chances = [Q(weight, sum(level.weights)) for weight in level.weights]
            return Chance(tuple(zip(level.names, chances, after, strict=True)))
        knows = [move for move, before in zip(path, said, strict=False) if level.mover in before.seen_by and not forget]
        return Decision(level.mover, f"{len(path)} {knows}", tuple(zip(level.names, after, strict=True)))

    return look


PAYOFFS = st.lists(st.fractions(max_denominator=50), min_size=1, max_size=5)


@settings(max_examples=40, deadline=None)
@given(st.lists(level(), max_size=4), PAYOFFS)
def test_read_again_it_is_the_same_tree(said, payoffs):
    tree = extract((), game(said, payoffs))
    again = read_efg(write_efg(tree, "any").encode())
    assert again.total == 0
    for field in fields(GameTree):
        mine, yours = getattr(tree, field.name), getattr(again.tree, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.tolist() == yours.tolist(), field.name
        else:
            assert mine == yours, field.name


@settings(max_examples=40, deadline=None)
@given(something_to_forget(), PAYOFFS)
def test_who_forgets_is_refused_by_rules_and_in_files_alike(said, payoffs):
    with pytest.raises(InfeasibleGame, match="forgets"):
        extract((), game(said, payoffs, forget=True))
    whole = extract((), game(said, payoffs))
    text = write_efg(whole, "any")
    numbers = {name: f'p "" {player} ' for player, name in zip(whole.infoset_player.tolist(), whole.infoset_names, strict=True)}
    lines = text.split("\n")
    depth_of = {name: int(name.split()[0]) for name in numbers}
    merged = []
    for line in lines:
        for name, depth in depth_of.items():
            if line.startswith("p ") and f'"{name}"' in line:
                owner, rest = line.split()[2], line[line.index("{") :]
                line = f'p "" {owner} {depth + 1} "" {rest}'  # noqa: PLW2901
                break
        merged.append(line)
    with pytest.raises(ConfigError, match="perfect recall"):
        read_efg("\n".join(merged).encode())
