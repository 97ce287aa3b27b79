"""`minimex export DIR format=FORMAT`: the games of a sweep's points as files for other programs.

Which formats there are is the games' business: a game's class names them in `exports`, each a function `game -> text`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rich.console import Console

from pipeline.remote import is_uri
from pipeline.store import SweepDir, load, write_text
from solvers.errors import ConfigError, MinimexError, did_you_mean
from solvers.identity import digest, rebuild

_SLICE = 10_000
_SHOWN = 5


@dataclass(frozen=True)
class Exported:
    """A point's game: as text, or why there is none."""

    point: str
    text: str | None
    reason: str = ""


def export(
    folder: str, file_format: str | None, *, point: str | None, to: str | None, console: Console, trust: Sequence[str] = ()
) -> None:
    """Write games to a folder, a file a point that is named by its hash, or one game to the screen.

    Parameters
    ----------
    point
        Only the point whose hash begins like this.
    to
        Where files go; None: the one game there is goes to standard output.

    Raises
    ------
    ConfigError
        If there is no such sweep, format or point, no game has that format, or several games would go to the screen.
    """
    sweep = load(folder)
    formats = _Formats(sweep, trust)
    known = formats.known()
    if file_format is None or file_format not in known:
        hint = did_you_mean(file_format or "", known) if known else "no game of this sweep can be written to a file"
        raise ConfigError("format", "a format of this sweep's games", repr(file_format) if file_format else "nothing", hint)
    chosen = None if point is None else one_point(sweep, point)
    found = (one for one in formats.written(file_format) if chosen in (None, one.point))
    if to is None:
        _to_screen(found)
    else:
        _to_folder(found, to, file_format, console)


class _Formats:
    """The games of a sweep's points, each built again once."""

    def __init__(self, sweep: SweepDir, trust: Sequence[str]) -> None:
        self.sweep = sweep
        self.context = sweep.context(trust)
        self.game = lru_cache(maxsize=64)(self._build)
        self.text = lru_cache(maxsize=64)(self._write)

    def known(self) -> list[str]:
        """Return the formats that any of the games has."""
        return sorted({name for described in self._described() for name in _exports(self.game(described))})

    def written(self, file_format: str) -> Iterator[Exported]:
        """Yield every point's game in this format."""
        for point, described in self._games():
            text, reason = self.text(described, file_format)
            yield Exported(point, text, reason)

    def _games(self) -> Iterator[tuple[str, str]]:
        """Yield each point with the canonical text of its game."""
        for rows in self.sweep.points_in_pieces(_SLICE):
            for point, config in zip(rows["point"].to_pylist(), rows["config"].to_pylist(), strict=True):
                if not isinstance(config, str) or digest(config) != point:  # so a name of a file is a hash, whoever wrote it
                    raise ConfigError("DIR", "points whose content matches their hash", repr(point), "minimex verify says more")
                yield point, json.dumps(json.loads(config)["game"])

    def _described(self) -> Iterator[str]:
        yield from {described: None for _, described in self._games()}

    def _build(self, described: str) -> Any:
        """Return the game, or the error that says why it cannot be built again."""
        try:
            return rebuild(json.loads(described), "game", self.context)
        except MinimexError as error:
            return error

    def _write(self, described: str, file_format: str) -> tuple[str | None, str]:
        game = self.game(described)
        if isinstance(game, MinimexError):
            return None, f"the game cannot be built again: {game}"
        writer = _exports(game).get(file_format)
        if writer is None:
            return None, f"{type(game).__name__} has no format {file_format}"
        try:
            return writer(game), ""
        except MinimexError as error:
            return None, str(error)


def _exports(game: Any) -> Mapping[str, Callable[[Any], str]]:
    found: Mapping[str, Callable[[Any], str]] = getattr(type(game), "exports", {})
    return found


def one_point(sweep: SweepDir, begin: str) -> str:
    """Return the hash of the one point whose hash begins so.

    Raises
    ------
    ConfigError
        If there is none, or there are several.
    """
    hashes = [one for one in sweep.brief["point"].to_pylist() if isinstance(one, str) and one.startswith(begin)]
    if len(hashes) != 1:
        hint = f"minimex show {sweep.root} points to=csv lists them"
        raise ConfigError("point", "the beginning of one point's hash", f"{begin!r}, which {len(hashes)} points have", hint)
    return hashes[0]


def _to_screen(found: Iterator[Exported]) -> None:
    texts: dict[str, None] = {}
    reasons: dict[str, None] = {}
    for one in found:
        if one.text is None:
            reasons[one.reason] = None
        else:
            texts[one.text] = None
        if len(texts) > 1:
            raise ConfigError("to", "a folder, because there are several games", "nothing", "to=FOLDER, or point=HASH for one game")
    if not texts:
        raise ConfigError("format", "one that these games have", "none that has", "; ".join([*reasons][:_SHOWN]))
    sys.stdout.write(next(iter(texts)))


def _to_folder(found: Iterator[Exported], to: str, file_format: str, console: Console) -> None:
    if is_uri(to):
        raise ConfigError("to", "a folder on this machine", repr(to))
    folder = Path(to)
    written, left_out = 0, Counter[str]()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError("to", "a folder that can be written", repr(to), (error.strerror or str(error)).lower()) from error
    for one in found:
        if one.text is None:
            left_out[one.reason] += 1
        else:
            write_text(folder / f"{one.point}.{file_format}", one.text)
            written += 1
    for reason, count in left_out.most_common(_SHOWN):
        console.print(f"{count:,} left out: {reason}", soft_wrap=True)
    console.print(f"{written:,} {file_format} file{'' if written == 1 else 's'} in {folder}, named by their points", soft_wrap=True)
