"""`minimex list [games|solvers|experiments]`: what there is, read from the YAML files; which solver takes which game."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

from solvers.builder import plan_of
from solvers.errors import ConfigError, did_you_mean

CONF = Path(__file__).resolve().parents[1] / "conf"
"""Our configs, beside this package in a checkout and in a wheel; never a `conf` that happens to be found first on the path."""

KINDS = {"games": "game", "solvers": "solver", "experiments": "experiment"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One YAML file of a group."""

    name: str
    about: str
    target: str


def entries(group: str) -> Iterator[Entry]:
    """Yield what a config group offers, by name."""
    folder = CONF / group
    for path in sorted(folder.glob("*.yaml")):
        text = path.read_text()
        comments = [line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#")]
        about = next((line for line in comments if not line.startswith("@package")), "")
        node: dict[str, Any] = yaml.safe_load(text) or {}
        yield Entry(path.stem, about, str(node.get("_target_", "")))


def show_list(kind: str | None, console: Console) -> None:
    """Print what there is.

    Raises
    ------
    ConfigError
        If there is no such kind of thing.
    """
    if kind is not None and kind not in KINDS:
        raise ConfigError("list", ", ".join(KINDS), repr(kind), did_you_mean(kind, KINDS))
    for title, group in KINDS.items():
        if kind in (None, title):
            _show_group(title, group, console)
    if kind is None:
        console.print("minimex experiment=NAME runs one; minimex game=NAME solver=NAME solves one point", style="dim")


def _show_group(title: str, group: str, console: Console) -> None:
    table = Table(box=None, pad_edge=False, show_header=False, title=title, title_justify="left", title_style="bold")
    table.add_column(no_wrap=True)
    table.add_column()
    for entry in entries(group):
        table.add_row(f"  {entry.name}", Text(entry.about))
        fits = _fits(group, entry)
        if fits:
            table.add_row("", Text(fits, style="dim"))
    console.print(table)


def _fits(group: str, entry: Entry) -> str:
    if group == "game":
        return "solvers: " + (", ".join(name for name, takes in _takes() if takes in plan_of(entry.target).cls.gives) or "none")  # type: ignore[attr-defined]
    if group == "solver":
        takes: Any = plan_of(entry.target).cls.takes  # type: ignore[attr-defined]
        games = [game.name for game in entries("game") if takes in plan_of(game.target).cls.gives]  # type: ignore[attr-defined]
        return "games: " + (", ".join(games) or "none")
    return ""


def _takes() -> list[tuple[str, type]]:
    return [(entry.name, plan_of(entry.target).cls.takes) for entry in entries("solver")]  # type: ignore[attr-defined]
