"""`minimex list [games|solvers|experiments]`: what there is, read from the YAML files; which solver takes which game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

from solvers.builder import build
from solvers.errors import ConfigError, did_you_mean
from solvers.inline import refusal

CONF = Path(__file__).resolve().parents[1] / "conf"
"""Our configs, beside this package in a checkout and in a wheel; never a `conf` that happens to be found first on the path."""

KINDS = ("games", "solvers", "experiments")


@dataclass(frozen=True, slots=True)
class Entry:
    """One YAML file of a group."""

    name: str
    about: str
    node: Mapping[str, Any]

    def built(self) -> Any:
        """Return the game or solver as its YAML stands."""
        return build({key: 0 if value == "${seed}" else value for key, value in self.node.items()}, self.name)


def entries(group: str) -> Iterator[Entry]:
    """Yield what a config group offers, by name."""
    folder = CONF / group
    for path in sorted(folder.glob("*.yaml")):
        text = path.read_text()
        comments = [line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#")]
        about = next((line for line in comments if not line.startswith("@package")), "")
        yield Entry(path.stem, about, yaml.safe_load(text) or {})


def fitting() -> dict[str, tuple[str, ...]]:
    """Return for each solver the games it takes, both as their YAML stands."""
    games = {entry.name: entry.built() for entry in entries("game")}
    solvers = {entry.name: entry.built() for entry in entries("solver")}
    return {
        name: tuple(other for other, game in games.items() if refusal(game, solver) is None) for name, solver in solvers.items()
    }


def show_list(kind: str | None, console: Console) -> None:
    """Print what there is.

    Raises
    ------
    ConfigError
        If there is no such kind of thing.
    """
    if kind is not None and kind not in KINDS:
        raise ConfigError("list", ", ".join(KINDS), repr(kind), did_you_mean(kind, KINDS))
    if kind in (None, "games"):
        _show("games", entries("game"), console)
    if kind == "games":
        for name, games in fitting().items():
            console.print(f"{name} takes {', '.join(games) or 'none of them'}", style="dim", soft_wrap=False)
    if kind in (None, "solvers"):
        _show_solvers(console)
    if kind in (None, "experiments"):
        _show("experiments", entries("experiment"), console)
    if kind is None:
        console.print("minimex experiment=NAME runs one; minimex game=NAME solver=NAME solves one point", style="dim")


def _show_solvers(console: Console) -> None:
    """Print solvers, those together that take the same games."""
    groups: dict[tuple[str, ...], list[Entry]] = {}
    fits = fitting()
    for entry in entries("solver"):
        groups.setdefault(fits[entry.name], []).append(entry)
    for games, together in sorted(groups.items(), key=lambda pair: -len(pair[0])):
        _show(f"solvers for {', '.join(games) or 'no game as it stands'}", iter(together), console)


def _show(title: str, shown: Iterator[Entry], console: Console) -> None:
    table = Table(box=None, pad_edge=False, show_header=False, title=title, title_justify="left", title_style="bold")
    table.add_column(no_wrap=True)
    table.add_column()
    for entry in shown:
        table.add_row(f"  {entry.name}", Text(entry.about))
    console.print(table)
