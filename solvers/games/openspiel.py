"""Any two-player zero-sum game of OpenSpiel, by its load string: `kuhn_poker`, `liars_dice(numdice=1,dice_sides=4)`.

OpenSpiel is an optional extra (`minimex[openspiel]`) and imported only when such a game is asked for. While planning, the game is
looked at in a child process, within limits of time and memory: its C++ code trusts its parameters, and some of them end the
process or never come back.

Rules
-----
1. Players 0 and 1 are ours 1 and 2; what player 0 gets is what player 2 pays player 1.
2. Games of simultaneous moves are made turn-based by OpenSpiel itself: player 2 does not see player 1's move of the same turn.
3. What a player knows is OpenSpiel's `information_state_string`. Some of these forget what the player did or knew; such games are
   refused (`goofspiel(num_cards=4,imp_info=False)` is one).
4. OpenSpiel counts in float64. A probability or payoff stands for the one fraction of a small denominator that rounds to it. Where
   there is none, or a node's probabilities so read do not sum to 1, it stands for itself (scaled to sum 1); the tree is not exact.
"""

from __future__ import annotations

import json
import math
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, ClassVar, TypeVar, cast

from solvers.errors import ConfigError, InfeasibleGame, did_you_mean
from solvers.forms import Chance, Decision, GameTree, Payoff, extract
from solvers.games.efg_format import EXPORTS

F = TypeVar("F")

_INSTALL = "OpenSpiel is not installed: pip install 'minimex[openspiel]' brings it"
_FILES = re.compile(r"file(name)?\s*=")
_PLAYERS = 2
_LOOK_S = 60
_LOOK_BYTES = 4 << 30
_MOST_DENOMINATOR = {"chance": 10**6, "payoff": 10**4}
_LARGEST = 10**7  # payoffs up to here lie close enough for their fractions to be told apart
_ANSWER = "minimex: "


@dataclass(frozen=True, slots=True)
class OpenSpiel:
    """A game of OpenSpiel, its tree walked once. Time: about 20 us a node, twice (once while planning).

    Attributes
    ----------
    name
        OpenSpiel's load string, without parameters that name a file.
    max_nodes
        Larger trees are refused.

    Raises
    ------
    ConfigError
        If `name` is empty or names a file, or `max_nodes` is not positive.

    References
    ----------
    Lanctot et al. 2019, "OpenSpiel: a framework for reinforcement learning in games", arXiv:1908.09453.
    """

    version: ClassVar[int] = 1
    gives: ClassVar[tuple[type, ...]] = (GameTree,)
    exports: ClassVar[Mapping[str, Callable[[Any], str]]] = EXPORTS

    name: str = "kuhn_poker"
    max_nodes: int = 300_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name.strip())
        if not self.name:
            raise ConfigError("name", "a load string of OpenSpiel, such as kuhn_poker", repr(self.name))
        if _FILES.search(self.name):
            hint = "the content of that file would not be part of the point; game=efg and game=nfg read Gambit's files"
            raise ConfigError("name", "a load string that names no file", repr(self.name), hint)
        if self.max_nodes < 1:
            raise ConfigError("max_nodes", "at least 1", repr(self.max_nodes))

    def refuses(self, kind: type) -> str | None:
        """Say why there is no tree; asked in a child process, once for each name."""
        return _INSTALL if find_spec("pyspiel") is None else _look_at(self.name, self.max_nodes)

    def form(self, kind: type[F]) -> F:
        """Return the tree.

        Raises
        ------
        InfeasibleGame
            Whatever OpenSpiel, or a rule above, has against the name.
        """
        return cast("F", _tree(self.name, self.max_nodes))


# ---- the tree ----------------------------------------------------------------------------------------------------------------


def _tree(name: str, max_nodes: int) -> GameTree:
    try:
        import pyspiel  # noqa: PLC0415 (an optional extra)
    except ImportError as error:
        raise InfeasibleGame(_INSTALL) from error
    try:
        walk = _Walk(max_nodes)
        tree = extract((_load(pyspiel, name).new_initial_state(), None), walk.look)
    except pyspiel.SpielError as error:
        raise InfeasibleGame(f"OpenSpiel refuses {name}: {_first_line(error)}") from error
    return replace(tree, is_exact=walk.is_exact)


def _load(pyspiel: Any, name: str) -> Any:
    known = pyspiel.registered_names()
    word = name.partition("(")[0]
    if word not in known:
        raise InfeasibleGame(f"OpenSpiel has no game {word!r}: {did_you_mean(word, known)}")
    game = pyspiel.load_game(name)
    kind = game.get_type()
    if game.num_players() != _PLAYERS:
        raise InfeasibleGame(f"{name} is a game of {game.num_players()} players, wanted are two")
    if kind.utility not in (pyspiel.GameType.Utility.ZERO_SUM, pyspiel.GameType.Utility.CONSTANT_SUM) or game.utility_sum() != 0:
        said = f"constant-sum, its payoffs sum to {game.utility_sum():g}" if game.utility_sum() else "not zero-sum"
        raise InfeasibleGame(f"{name} is {said}, wanted is a zero-sum game")
    if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    elif kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise InfeasibleGame(f"{name} is neither sequential nor one of simultaneous moves")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise InfeasibleGame(f"{name} only samples its chances, so that it has no tree")
    if not game.get_type().provides_information_state_string:
        raise InfeasibleGame(f"{name} does not say what a player knows (no information_state_string)")
    return game


class _Walk:
    """What OpenSpiel's states are, and whether all numbers met were exact.

    A position is a state and the action that leads on from it (None: none), so that states are made as they are visited.
    """

    def __init__(self, max_nodes: int) -> None:
        self.left = self.max_nodes = max_nodes
        self.is_exact = True
        self.actions: dict[tuple[int, str], tuple[list[int], list[str]]] = {}

    def look(self, position: tuple[Any, int | None]) -> Chance | Decision | Payoff:
        before, action = position
        state = before if action is None else before.child(action)
        self.left -= 1
        if self.left < 0:
            raise InfeasibleGame(
                f"its tree has more than {self.max_nodes:,} nodes: game.max_nodes={10 * self.max_nodes} allows more"
            )
        if state.is_terminal():
            mine, yours = state.returns()
            if mine + yours != 0 or not math.isfinite(mine):
                raise InfeasibleGame(f"the game is not zero-sum: at one end the players get {mine:g} and {yours:g}")
            return Payoff(self.payoff(mine))
        if state.is_chance_node():
            return self.chance(state)
        player, actions = state.current_player(), state.legal_actions()
        if player not in range(_PLAYERS) or not actions:
            raise InfeasibleGame(f"OpenSpiel gives a position in which player {player} has {len(actions)} moves")
        knows = state.information_state_string(player)
        standing, names = self.actions.get((player, knows), (None, []))
        if standing != actions:
            names = _names(actions, [state.action_to_string(player, action) for action in actions])
            self.actions.setdefault((player, knows), (actions, names))
        return Decision(player + 1, knows, tuple((name, (state, one)) for name, one in zip(names, actions, strict=True)))

    def chance(self, state: Any) -> Chance:
        outcomes = [(action, chance) for action, chance in state.chance_outcomes() if chance > 0]
        exact = [_fraction(chance, "chance") for _, chance in outcomes]
        if None in exact or sum(cast("list[Fraction]", exact)) != 1:
            self.is_exact = False
            floats = [Fraction(chance) for _, chance in outcomes]
            exact = [chance / sum(floats) for chance in floats]
        names = _names(
            [action for action, _ in outcomes], [state.action_to_string(state.current_player(), one) for one, _ in outcomes]
        )
        after = ((state, action) for action, _ in outcomes)
        return Chance(tuple(zip(names, cast("list[Fraction]", exact), after, strict=True)))

    def payoff(self, paid: float) -> Fraction:
        found = Fraction(paid) if paid.is_integer() else _fraction(paid, "payoff") if abs(paid) <= _LARGEST else None
        if found is None:
            self.is_exact = False
        return Fraction(paid) if found is None else found


def _fraction(number: float, what: str) -> Fraction | None:
    """Return the fraction of a small denominator that rounds to this number; None if there is none.

    Two fractions with denominators up to d differ by 1 / d^2 at least, which is far more than a float's distance to the next.

    Examples
    --------
    >>> _fraction(1 / 3, "chance"), _fraction(0.1 + 0.2, "chance")
    (Fraction(1, 3), None)
    """
    found = Fraction(number).limit_denominator(_MOST_DENOMINATOR[what])
    return found if float(found) == number else None


def _names(actions: list[int], said: list[str]) -> list[str]:
    """Return different names of actions: what OpenSpiel calls them, with their numbers where that does not tell them apart."""
    if all(said) and len(set(said)) == len(said):
        return said
    return [f"{name} {action}".strip() for name, action in zip(said, actions, strict=True)]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no reason given"])[0]


# ---- a look from a child process ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _look_at(name: str, max_nodes: int) -> str | None:
    """Say why a child process could not make the tree; None if it could."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from solvers.games.openspiel import _answer; _answer({name!r}, {max_nodes})"
    try:
        child = subprocess.run(  # noqa: S603 (our own code)
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=_LOOK_S, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return f"{name} was still being walked after {_LOOK_S} s: a smaller game, or a smaller game.max_nodes"
    answers = [line for line in child.stdout.splitlines() if line.startswith(_ANSWER)]
    if answers:
        reason: str | None = json.loads(answers[-1].removeprefix(_ANSWER))
        return reason
    said = (child.stderr.strip().splitlines() or ["without a word"])[-1]
    return f"OpenSpiel ended the process on {name} (exit status {child.returncode}): {said}"


def _answer(name: str, max_nodes: int) -> None:
    """Print why there is no tree, or null: what the child process does."""
    resource.setrlimit(resource.RLIMIT_DATA, (_LOOK_BYTES, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    reason = None
    try:
        _tree(name, max_nodes)
    except InfeasibleGame as error:
        reason = str(error)
    except (MemoryError, ValueError, RuntimeError, OverflowError) as error:  # what C++ throws arrives as these
        reason = f"OpenSpiel refuses {name}: {type(error).__name__}: {_first_line(error)}"
    print(_ANSWER + json.dumps(reason))  # noqa: T201 (the parent reads it)
