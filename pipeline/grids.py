"""What a sweep asks for, as axes: lists of options that a product runs over.

An option assigns values to one key, or side by side to several (a zip). Ranges are exact text: `start:stop:step`, both ends in.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from solvers.builder import read_exact
from solvers.errors import ConfigError

Option = Mapping[str, Any]
Axis = Sequence[Option]


class KeyAxis(Sequence[Option]):
    """The values of one key; an option is made when it is asked for, so that a million values stay a list."""

    def __init__(self, key: str, values: Sequence[Any]) -> None:
        self.key, self.values = key, values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return {self.key: self.values[place]}


_RANGE = re.compile(r"\s*([^:\s]+)\s*:\s*([^:\s]+)\s*:\s*([^:\s]+)\s*")
_MOST_STEPS = 10_000_000
_LISTED = 4
_PLAIN = re.compile(r"[\w./+-]+")


def choices(value: Any, path: str) -> list[Any]:
    """Return the values a grid entry stands for: a list's entries, an exact range, or the one value.

    Raises
    ------
    ConfigError
        If a range is not exact or never ends, or a list is empty.

    Examples
    --------
    >>> choices("0:1:1/3", "sweep.grid.game.a")
    ['0', '1/3', '2/3', '1']
    >>> choices([1, "x"], "sweep.grid.game.a"), choices("0.77", "sweep.grid.game.code")
    ([1, 'x'], ['0.77'])
    """
    if isinstance(value, list):
        if not value:
            raise ConfigError(path, "at least one choice", "an empty list")
        return value
    match = _RANGE.fullmatch(value) if isinstance(value, str) else None
    return exact_range(*match.groups(), path=path) if match else [value]


def exact_range(start: str, stop: str, step: str, *, path: str) -> list[str]:
    """Return exact text from start to stop, both ends in."""
    low, high, by = (read_exact(text) for text in (start, stop, step))
    if low is None or high is None or by is None:
        raise ConfigError(path, "start:stop:step in exact numbers", repr(f"{start}:{stop}:{step}"), "such as 0:1:1/60")
    if by == 0 or (high - low) / by < 0:
        raise ConfigError(path, "a step that leads from start to stop", f"step {by} from {low} to {high}")
    steps = (high - low) / by
    if steps.denominator != 1 and steps < _MOST_STEPS:
        last = low + int(steps) * by
        raise ConfigError(
            path, "steps that hit both ends", f"step {by} from {low} to {high}", f"{low}:{last}:{by} ends where it does"
        )
    count = int(steps) + 1
    if count > _MOST_STEPS:
        raise ConfigError(path, f"at most {_MOST_STEPS} steps", str(count) if count < _MOST_STEPS**3 else "many more")
    return [str(low + index * by) for index in range(count)]


def grid_axes(grid: Mapping[str, Any], path: str) -> list[Axis]:
    """Return one axis a key."""
    return [KeyAxis(key, choices(raw, f"{path}.{key}")) for key, raw in grid.items()]


def zip_axes(columns: Mapping[str, Any], path: str) -> list[Axis]:
    """Return the one axis on which all keys advance together (none if there are no keys).

    Raises
    ------
    ConfigError
        If the lists differ in length.
    """
    if not columns:
        return []
    lists = {key: choices(raw, f"{path}.{key}") for key, raw in columns.items()}
    lengths = {key: len(values) for key, values in lists.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        raise ConfigError(path, "lists of one length", said)
    return [[dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]]


def keys_of(axis: Axis) -> Iterable[str]:
    """Return the keys an axis assigns."""
    return axis[0].keys()


def index_product(axes: Sequence[Axis]) -> Iterator[tuple[int, ...]]:
    """Yield every combination as option numbers, the last axis fastest."""
    return itertools.product(*(range(len(axis)) for axis in axes))


def list_hint(key: str, raw: Any, values: Sequence[Any]) -> str:
    """Return what to write where a list was wanted and `raw` came, one of the values that the key was given; "" if nobody knows.

    Examples
    --------
    >>> print(list_hint("game.heaps", "5", ["5", "7"]))
    one list: 'game.heaps=[5,7]'; a sweep over lists: 'game.heaps=[5],[7]'
    >>> print(list_hint("game.heaps", "*2", [["5"], "*2"]))
    a list of one: 'game.heaps=["*2"]'
    >>> print(list_hint("game.heaps", "5, 7", ["5, 7"]))
    one list: 'game.heaps=[5,7]'; a sweep over lists: 'game.heaps=[5],[7]'
    """
    if len(values) == 1 and isinstance(raw, str) and "," in raw:
        values = [part for part in map(str.strip, raw.split(",")) if part]
        raw = values[0] if values else raw
    given = values[:_LISTED]
    if not all(_is_word(one) for one in given):
        given = [raw]
    if not _is_word(raw):
        return ""
    words = [str(one) if _PLAIN.fullmatch(str(one)) else f'"{one}"' for one in given]
    if len(words) == 1:
        return f"a list of one: '{key}=[{words[0]}]'"
    lists = ",".join(f"[{word}]" for word in words)
    more = ",..." if len(values) > _LISTED else ""
    return f"one list: '{key}=[{','.join(words)}{more}]'; a sweep over lists: '{key}={lists}{more}'"


def _is_word(value: Any) -> bool:
    """Say whether a value can stand in a list on a command line without further care."""
    return isinstance(value, str | int | float) and not set(str(value)) & set("'\"\\[]{}\n")
