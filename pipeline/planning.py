"""From what was asked to points: Hydra composes each group choice once, leaf values become columns of a product.

Overrides fall into four kinds: group choices (`game=`, `solver=`), leaf values of games and solvers and the seed, `sweep.*`, and
the rest. Only the rest goes through Hydra's merging; the others are axes of the product, recorded as parameters. What the command
line says replaces the same key of the experiment, wherever the experiment says it.
"""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.types import Override, RangeSweep, Transformer
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from pipeline.grids import Axis, KeyAxis, choices, grid_axes, index_product, keys_of, list_hint, zip_axes
from pipeline.hooks import HookFailed, hook_of
from pipeline.hydra_words import in_our_words
from pipeline.points import Chosen, Point, point_of
from pipeline.settings import SWEEP_KEYS
from solvers.builder import Context, Plan, build, encode, plan_of, read_exact
from solvers.errors import ConfigError, ImpossiblePairing, did_you_mean
from solvers.identity import describe
from solvers.inline import refusal

_Part = tuple[list[str | None], list[str | None], list[Axis]]

_LEAF = re.compile(r"(game|solver)\..+|seed")
_GROUPS = ("game", "solver")
_SEED_LINK = "${seed}"
_FOR_HYDRA = re.compile(r"sweep\.(next|summary|first)(\..+)?|sweep\.most_rounds")
MOST_POINTS = 10_000_000
"""Of one command: what a driver can hold in memory."""


@dataclass(frozen=True)
class Request:
    """A command, taken apart."""

    loader: ConfigLoader
    base: DictConfig  # composed from all that is not swept
    passed_on: list[str]  # for Hydra to compose
    groups: dict[str, list[str]]  # game and solver choices of the command line
    leaves: dict[str, list[Any]]  # leaf values of the command line, a list of choices each
    zipped: dict[str, list[Any]]  # those of its sweep.zip
    union: list[Any] | None  # its sweep.union
    composed: dict[tuple[str | None, str | None], DictConfig] = field(default_factory=dict)
    plains: dict[tuple[str, str], DictConfig] = field(default_factory=dict)

    def compose(self, game: str | None = None, solver: str | None = None) -> DictConfig:
        """Return the config with these group choices (cached; Hydra needs 0.1 s for one)."""
        chosen = {group: name for group, name in (("game", game), ("solver", solver)) if name is not None}
        now = self.base.hydra.runtime.choices
        if all(now.get(group) == name for group, name in chosen.items()):
            return self.base
        if (game, solver) not in self.composed:
            words = [f"{group}={name}" for group, name in chosen.items()]
            self.composed[game, solver] = self._load([*self.passed_on, *words])
        return self.composed[game, solver]

    def plain(self, group: str, name: str) -> DictConfig:
        """Compose one group choice as its own YAML has it, nothing else said (cached too)."""
        if (group, name) not in self.plains:
            paths = [word for word in self.passed_on if word.startswith("hydra.searchpath=")]
            self.plains[group, name] = self._load([*paths, f"{group}={name}"])
        return self.plains[group, name]

    @property
    def sweep(self) -> dict[str, Any]:
        """What the composed config says under `sweep`.

        Raises
        ------
        ConfigError
            If there is a key that we do not know.
        """
        said = _plain(self.base.sweep, resolve=True)
        unknown = sorted(set(said) - set(SWEEP_KEYS))
        if unknown:
            raise ConfigError(f"sweep.{unknown[0]}", "a key of sweep", "an unknown key", did_you_mean(unknown[0], SWEEP_KEYS))
        return said

    def _load(self, overrides: list[str]) -> DictConfig:
        return self.loader.load_configuration("config", overrides, run_mode=RunMode.MULTIRUN)


def take_apart(loader: ConfigLoader, base: DictConfig, overrides: Sequence[Override]) -> Request:
    """Sort a command's overrides.

    Raises
    ------
    ConfigError
        If something is swept that cannot be.
    """
    words = _Words()
    for override in overrides:
        words.sort(override)
    for part in words.union or ():
        for swept in part:
            words.once(str(swept))
    return Request(loader, base, words.passed_on, words.groups, words.leaves, words.zipped, words.union)


class _Words:
    """A command's overrides, by kind."""

    def __init__(self) -> None:
        self.passed_on: list[str] = []
        self.groups: dict[str, list[str]] = {}
        self.leaves: dict[str, list[Any]] = {}
        self.zipped: dict[str, list[Any]] = {}
        self.union: list[Any] | None = None

    def sort(self, override: Override) -> None:
        """Put an override to its kind."""
        key = override.key_or_group
        ours = key in _GROUPS or key.startswith("sweep.") or _LEAF.fullmatch(key) is not None
        if override.is_delete() or not ours or _FOR_HYDRA.fullmatch(key):
            if override.is_sweep_override():
                raise ConfigError(key, "one value", str(override.input_line), "game, solver, their fields and seed can be swept")
            self.passed_on.append(str(override.input_line))
        elif key in ("sweep.grid", "sweep.zip"):
            for swept, raw in _as_map(override.value(), key).items():
                self._take(swept, choices(raw, f"{key}.{swept}"), key)
        elif key == "sweep.union":
            self.union = _as_maps(override.value())
        elif key.startswith("sweep."):
            known = [f"sweep.{name}" for name in SWEEP_KEYS]
            raise ConfigError(key, "a key of sweep", "an unknown key", did_you_mean(key, known))
        else:
            self._take(key, _values(override), "")

    def _take(self, key: str, values: list[Any], path: str) -> None:
        if path == "sweep.zip":
            _side(key, path)
        self.once(key)
        if path == "sweep.zip":
            self.zipped[key] = values
        elif key in _GROUPS:
            self.groups[key] = [str(value) for value in values]
        else:
            self.leaves[_swept(key, path)] = values

    def once(self, key: str) -> None:
        """Refuse a key that the command has given already: one of its values would be lost without a word."""
        if key in self.leaves or key in self.zipped or key in self.groups:
            raise ConfigError(key, "a key that is given once", "it twice", "values separated by commas are swept")


def _values(override: Override) -> list[Any]:
    if not override.is_sweep_override():
        return [override.value()]
    if not override.is_discrete_sweep():
        raise ConfigError(override.key_or_group, "choices or a range", str(override.input_line))
    _check_range(override)
    values = [Override._convert_value(value) for value in override.sweep_iterator(Transformer.identity)]  # noqa: SLF001
    if not values:
        raise ConfigError(override.key_or_group, "at least one choice", str(override.input_line))
    return values


def _check_range(override: Override) -> None:
    swept = override.value()
    if not isinstance(swept, RangeSweep):
        return
    said = str(override.input_line)
    if not swept.step or swept.start is None or swept.stop is None:
        raise ConfigError(override.key_or_group, "range(start,stop,step) with a step that is not 0", said)
    if (swept.stop - swept.start) / swept.step > MOST_POINTS:
        raise ConfigError(override.key_or_group, f"at most {MOST_POINTS:,} points in a sweep", said)


def plan(request: Request) -> Iterator[Point]:
    """Yield the points a request asks for, in the order of its product (a point asked for twice comes once).

    Raises
    ------
    ConfigError
        With the path, before any later point is looked at.
    """
    return _points(request, list(_parts(request)))


def plan_further(request: Request, entries: Sequence[Mapping[str, Any]]) -> Iterator[Point]:
    """Yield the points of entries as in `sweep.union` that a function named once the request's own points were done.

    What an entry names stands against all that the experiment and the command line say of the same key; one that names a game
    or a solver begins with that YAML (and what the experiment says of the group), whatever they vary of it.

    Raises
    ------
    ConfigError
        With the path, before any later point is looked at.
    """
    parts = []
    for place, entry in enumerate(entries):

        def others(said: Mapping[str, Any], entry: Mapping[str, Any] = entry) -> dict[str, Any]:
            return {key: one for key, one in said.items() if not _replaced(key, [*entry])}

        free = replace(request, groups=others(request.groups), leaves=others(request.leaves), zipped=others(request.zipped))
        grid, zipped = (others(_as_map(request.sweep.get(name), f"sweep.{name}")) for name in ("grid", "zip"))
        parts.append(_part(free, {**grid, **entry}, zipped, f"sweep.next[{place}]"))
    try:
        yield from _points(request, parts)
    except HydraException as error:  # a group has no such choice
        raise ConfigError("sweep.next", "games and solvers that there are", "another", in_our_words(error, [])) from error


def _points(request: Request, parts: Sequence[_Part]) -> Iterator[Point]:
    skip = bool(request.base.skip_impossible)
    seen: set[str] = set()
    asked = sum(len(games) * len(solvers) * math.prod(map(len, axes)) for games, solvers, axes in parts)
    if asked > MOST_POINTS:
        raise ConfigError("sweep", f"at most {MOST_POINTS:,} points", f"{asked:,}", "several commands may share one out=DIR")
    for games, solvers, axes in parts:
        for game, solver in itertools.product(games, solvers):
            for point in _Pairing(request, game, solver, axes).points(skip_impossible=skip):
                if point.hash not in seen:
                    seen.add(point.hash)
                    yield point


def _parts(request: Request) -> Iterator[_Part]:
    sweep = request.sweep
    grid, zipped = (_as_map(sweep.get(name), f"sweep.{name}") for name in ("grid", "zip"))
    union = request.union if request.union is not None else [*_as_maps(sweep.get("union")), *_first(request)]
    for place, part in enumerate(union or [{}]):
        yield _part(request, {**grid, **part}, zipped, f"sweep.union[{place}]" if union else "sweep.grid")


def _first(request: Request) -> list[dict[str, Any]]:
    """Return the entries that the function `sweep.first` names.

    Raises
    ------
    ConfigError
        If it fails, or names nothing.
    """
    hook = hook_of(request.sweep.get("first"), "sweep.first", tuple(request.base.trust or ()), takes=0)
    if hook is None:
        return []
    try:
        entries = hook.entries()
    except HookFailed as error:
        raise ConfigError("sweep.first", "a function that names points", "one that does not", str(error)) from error
    if not entries:
        raise ConfigError("sweep.first", "at least one entry", "none")
    return entries


def _part(request: Request, asked: Mapping[str, Any], zipped: Mapping[str, Any], path: str) -> _Part:
    """Return the games, the solvers and the axes of one grid, `asked`."""
    typed = [*request.leaves, *request.zipped]
    games, solvers = (_chosen(request, asked, group) for group in _GROUPS)
    free = {_swept(key, path): value for key, value in asked.items() if key not in _GROUPS and not _replaced(key, typed)}
    side = {_side(key, "sweep.zip"): value for key, value in zipped.items() if not _replaced(key, [*typed, *free])}
    own: list[Axis] = [KeyAxis(key, values) for key, values in request.leaves.items()]
    sides = [*zip_axes(side, "sweep.zip"), *zip_axes(request.zipped, "sweep.zip")]
    return games, solvers, [*grid_axes(free, path), *sides, *own]


def _as_map(value: Any, path: str) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise ConfigError(path, "a map of keys to choices", repr(value))
    return {str(key): one for key, one in (value or {}).items()}


def _as_maps(value: Any) -> list[Any]:
    if value is not None and not (isinstance(value, list) and all(isinstance(part, dict) for part in value)):
        raise ConfigError("sweep.union", "a list of maps", repr(value))
    return value or []


def _swept(key: str, path: str) -> str:
    if not _LEAF.fullmatch(key):
        raise ConfigError(f"{path}.{key}", "game, solver, game.*, solver.* or seed", "another key")
    return key


def _side(key: str, path: str) -> str:
    if key in _GROUPS:
        raise ConfigError(f"{path}.{key}", "game.*, solver.* or seed", "a group", "sweep.union puts games and solvers side by side")
    return _swept(key, path)


def _replaced(key: str, by: Sequence[str]) -> bool:
    """Say whether one of these keys is this one, or holds it (`game.p1` holds `game.p1.rock`)."""
    return any(key == other or key.startswith(f"{other}.") for other in by)


def _chosen(request: Request, asked: Mapping[str, Any], group: str) -> list[str | None]:
    if group in request.groups:
        return list(request.groups[group])
    if group in asked:
        names = asked[group] if isinstance(asked[group], list) else [asked[group]]
        return [str(name) for name in names]
    return [None]


# ---- one game choice and one solver choice -----------------------------------------------------------------------------------


class _Pairing:
    """One composed config and the axes that vary it."""

    def __init__(self, request: Request, game: str | None, solver: str | None, axes: list[Axis]) -> None:
        self.request = request
        self.config = request.compose(game, solver)
        self.axes = axes
        chosen = self.config.hydra.runtime.choices
        self.names = {group: chosen.get(group) for group in _GROUPS}
        self.context = Context(trust=tuple(self.config.trust or ()), run_sources=True)
        for group in _GROUPS:
            if not isinstance(self.config.get(group), DictConfig):
                raise ConfigError(group, f"a {group}", "nothing", self._suggest(group))
        self.sides = {group: _Side(self, group) for group in _GROUPS}

    def points(self, *, skip_impossible: bool) -> Iterator[Point]:
        """Yield the points of the product."""
        game, solver = self.sides["game"], self.sides["solver"]
        seeded = [place for place, axis in enumerate(self.axes) if "seed" in keys_of(axis)]
        allowed: dict[tuple[type, type], bool] = {}
        for indices in index_product(self.axes):
            seed = self._seed(self.axes[seeded[-1]][indices[seeded[-1]]]["seed"] if seeded else self.config.seed)
            one, other = game.built(indices, seed), solver.built(indices, seed)
            kinds = type(one.value), type(other.value)
            if kinds not in allowed or hasattr(one.value, "refuses") or hasattr(other.value, "refuses"):  # some are asked each time
                allowed[kinds] = self._may_meet(one.value, other.value, skip_impossible=skip_impossible)
            if allowed[kinds]:
                yield point_of(one, other, seed)

    def _seed(self, raw: Any) -> int:
        number = read_exact(raw) if isinstance(raw, str) else raw if isinstance(raw, int) else None
        if number is None or isinstance(raw, bool) or number.denominator != 1:
            raise ConfigError("seed", "a whole number", repr(raw))
        return int(number)

    def _may_meet(self, game: Any, solver: Any, *, skip_impossible: bool) -> bool:
        reason = refusal(game, solver)
        if reason is None:
            return True
        if skip_impossible:
            return False
        if isinstance(reason, ImpossiblePairing):  # it names the setting at fault and says what would do
            raise reason
        fitting = [name for name in self.request.loader.get_group_options("solver") if self._would_fit(name, game)]
        would = f"these take it: {', '.join(fitting)}" if fitting else "no solver takes this game"
        raise ImpossiblePairing("solver", f"a solver for {self.names['game']}", f"{self.names['solver']}: {reason}", would)

    def _would_fit(self, name: str, game: Any) -> bool:
        """Say whether another solver, as its YAML stands, takes this very game."""
        if name == self.names["solver"]:
            return False
        node = _plain(self.request.plain("solver", name)["solver"])
        try:
            return (
                refusal(game, build({key: 0 if value == _SEED_LINK else value for key, value in node.items()}, name, self.context))
                is None
            )
        except ConfigError:
            return False

    def _classes(self, group: str) -> list[tuple[str, Any]]:
        found = []
        for name in self.request.loader.get_group_options(group):
            loaded = self.request.plain(group, name)
            found.append((name, plan_of(str(loaded[group]["_target_"]), self.context.trust).cls))
        return found

    def _suggest(self, group: str) -> str:
        other = {"game": "solver", "solver": "game"}[group]
        names = self.request.loader.get_group_options(group)
        node = self.config.get(other)
        if isinstance(node, DictConfig):
            mine = plan_of(str(node["_target_"]), self.context.trust).cls
            if group == "solver":
                names = [name for name, cls in self._classes(group) if cls.takes in getattr(mine, "gives", ())]
            else:
                names = [name for name, cls in self._classes(group) if getattr(mine, "takes", None) in cls.gives]
        return f"{group}= one of {', '.join(names)}"


class _Side:
    """The game or the solver of a pairing: builds each combination of its own values once."""

    def __init__(self, pairing: _Pairing, group: str) -> None:
        self.group, self.axes, self.context, self.name = group, pairing.axes, pairing.context, pairing.names[group]
        node = _plain(pairing.config[group])
        self.raw = {key: _resolve(pairing.config, f"{group}.{key}", value) for key, value in node.items()}
        self.plan: Plan = plan_of(str(self.raw.pop("_target_", "")), self.context.trust)
        self.linked = [name for name, value in self.raw.items() if value == _SEED_LINK]
        self.mine = [place for place, axis in enumerate(self.axes) if any(key.startswith(f"{group}.") for key in keys_of(axis))]
        touched = {key.split(".")[1] for place in self.mine for key in keys_of(self.axes[place]) if key.startswith(f"{group}.")}
        skipped = touched.union(self.linked)
        self.base = {name: self._convert(name, value) for name, value in self.raw.items() if name not in skipped}
        self.chosen = self._chosen_by_experiment(pairing)
        free = [axis for place, axis in enumerate(self.axes) if place not in self.mine]
        self.recurs = any(len(axis) > 1 and not (self.linked and "seed" in keys_of(axis)) for axis in free)
        self.cache: dict[tuple[Any, ...], Chosen] = {}
        self.converted: dict[tuple[int, int], dict[str, Any]] = {}

    def built(self, indices: tuple[int, ...], seed: int) -> Chosen:
        """Return the object for this combination of options: the same one if the combination recurs."""
        if not self.recurs:
            return self._build(indices, seed)
        key: tuple[Any, ...] = tuple(indices[place] for place in self.mine)
        if self.linked:
            key = (*key, seed)
        found = self.cache.get(key)
        if found is None:
            found = self.cache[key] = self._build(indices, seed)
        return found

    def _build(self, indices: tuple[int, ...], seed: int) -> Chosen:
        values = dict(self.base)
        parameters = dict(self.chosen) if self.mine else self.chosen  # a million games may share what is the same for all
        linked = set(self.linked)
        for name in self.linked:
            values[name] = self._convert(name, seed)
        whole: dict[str, Any] = {}
        below: list[tuple[str, str, Any]] = []
        for place in self.mine:
            for key, raw in self.axes[place][indices[place]].items():
                group, _, path = key.partition(".")
                if group != self.group:
                    continue
                name, _, rest = path.partition(".")
                linked.discard(name)
                if rest:
                    below.append((name, rest, raw))
                    parameters[key] = raw
                else:
                    whole[name] = raw
                    values[name], parameters[key] = self._option(place, indices[place], name, raw)
        nested: dict[str, Any] = {}
        for name, rest, raw in below:
            node = nested.get(name, copy.deepcopy(whole.get(name, self.raw.get(name))))
            nested[name] = _put(node, rest, raw, f"{self.group}.{name}")
        for name, raw in nested.items():
            values[name] = self._convert(name, raw)
        try:
            value = self.plan.make(values)
        except ConfigError as error:
            if error.path in linked:  # what was written is the seed
                raise type(error)("seed", error.wanted, error.came, error.hint) from None
            raise error.under(self.group) from None
        return Chosen(self.name, value, describe(value), parameters)

    def _option(self, place: int, index: int, name: str, raw: Any) -> tuple[Any, Any]:
        known = self.converted.setdefault((place, index), {})
        if name not in known:
            try:
                value = self._convert(name, raw)
            except ConfigError as error:
                key, values = f"{self.group}.{name}", getattr(self.axes[place], "values", [raw])
                if error.path == key and not error.hint and error.wanted.startswith("a list"):
                    raise ConfigError(key, error.wanted, error.came, list_hint(key, raw, values)) from None
                raise
            shown = raw if isinstance(raw, str) and ("sha256" in str(encode(value))) else encode(value)
            known[name] = (value, shown)
        pair: tuple[Any, Any] = known[name]
        return pair

    def _convert(self, name: str, raw: Any) -> Any:
        try:
            return self.plan.convert(name, raw, self.context)
        except ConfigError as error:
            raise error.under(self.group) from None

    def _chosen_by_experiment(self, pairing: _Pairing) -> dict[str, Any]:
        """Return the values an experiment set: those that differ from the group's own YAML."""
        name = pairing.names[self.group]
        if pairing.config.hydra.runtime.choices.get("experiment") is None or name is None:
            return {}
        default = _plain(pairing.request.plain(self.group, name)[self.group])
        changed = [field for field in self.base if self.raw[field] != default.get(field)]
        return {f"{self.group}.{field}": encode(self.base[field]) for field in changed}


def _plain(node: DictConfig, *, resolve: bool = False) -> dict[str, Any]:
    values = OmegaConf.to_container(node, resolve=resolve)
    return {str(key): value for key, value in values.items()} if isinstance(values, dict) else {}


def _resolve(config: DictConfig, path: str, value: Any) -> Any:
    if value == _SEED_LINK or "${" not in str(value):
        return value
    if _SEED_LINK in str(value):
        raise ConfigError(path, f"{_SEED_LINK} alone, or no link to the seed", repr(value))
    node = OmegaConf.select(config, path)
    return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node


def _put(node: Any, path: str, value: Any, where: str) -> Any:
    """Return the node with the value set at a dotted path below it."""
    name, _, rest = path.partition(".")
    if node is None:
        node = {}
    if isinstance(node, list):
        if not name.isdigit() or int(name) >= len(node):
            raise ConfigError(f"{where}.{name}", f"a place from 0 to {len(node) - 1}", repr(name))
        node[int(name)] = _put(node[int(name)], rest, value, f"{where}.{name}") if rest else value
        return node
    if not isinstance(node, dict):
        raise ConfigError(f"{where}.{name}", f"{where} itself to be set", f"a key below {node!r}", did_you_mean(name, ()))
    node[name] = _put(node.get(name), rest, value, f"{where}.{name}") if rest else value
    return node
