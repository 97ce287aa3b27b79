"""Functions that a config names, `solvers.<family>.<module>:<function>`: those that plan further points and those that sum up.

A name stands alone or in a map with keyword arguments: `{function: solvers.x.y:z, most: 3}`. Only functions of `solvers.*` are
called, others with `trust=[package]`. A directory can name summaries only (`minimex verify` calls them again).
"""

from __future__ import annotations

import importlib
import inspect
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solvers.contract import Summary
from solvers.errors import ConfigError, MinimexError, UntrustedCode, did_you_mean

_NAME = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+):([A-Za-z_]\w*)")
_WANTED = "a function, such as solvers.FAMILY.MODULE:FUNCTION"
_ENTRIES = "a list of maps as in sweep.union, such as {game.code: ['0.77'], solver.heap_limit: 1000}"


class HookFailed(MinimexError, RuntimeError):
    """A function that a config names raised something, or returned what is no answer."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A function by its name, and the keyword arguments it is called with. `path` is the config key that names it."""

    path: str
    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, Any]

    def call(self, *given: Any) -> Any:
        """Return what the function says.

        Raises
        ------
        HookFailed
            If it raises anything.
        """
        try:
            return self.function(*given, **self.arguments)
        except Exception as error:
            raise HookFailed(f"{self.path}: {self.name} failed: {type(error).__name__}: {error}{_place(error)}") from error

    def entries(self, *given: Any) -> list[dict[str, Any]]:
        """Return what the function says, if that is a list of maps as in `sweep.union`.

        Raises
        ------
        HookFailed
            If it raises anything, or says something else.
        """
        found = self.call(*given)
        if not isinstance(found, Sequence) or isinstance(found, str):
            raise HookFailed(f"{self.path}: {self.name} returned {_shown(found)}; wanted was {_ENTRIES}")
        for place, entry in enumerate(found):
            if not isinstance(entry, Mapping) or not entry or not all(isinstance(key, str) for key in entry):
                raise HookFailed(f"{self.path}: {self.name}, entry {place}: {_shown(entry)}; wanted was {_ENTRIES}")
        return [dict(entry) for entry in found]


def hook_of(node: Any, path: str, trust: Sequence[str], takes: int) -> Hook | None:
    """Return the function that a config node names; None: it names none.

    Parameters
    ----------
    takes
        How many positional arguments it will be given.

    Raises
    ------
    ConfigError, UntrustedCode
        If there is no such function, it is not ours and not trusted, or it takes no such arguments.
    """
    if node is None:
        return None
    arguments = {str(key): value for key, value in node.items()} if isinstance(node, Mapping) else {"function": node}
    name = arguments.pop("function", None)
    found = _NAME.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        raise ConfigError(path, f"{_WANTED}, alone or as {{function: ..., argument: ...}}", repr(node))
    function = _function(found[1], found[2], path, trust)
    try:
        inspect.signature(function).bind(*[None] * takes, **arguments)
    except TypeError as error:
        known = [one.name for one in inspect.signature(function).parameters.values()][takes:]
        unknown = next((key for key in arguments if key not in known), "")
        hint = did_you_mean(unknown, known) if unknown else f"it takes {', '.join(known) or 'none'}"
        raise ConfigError(path, f"arguments that {name} takes", str(error), hint) from error
    return Hook(path, str(name), function, arguments)


def summary_of(node: Any, path: str, trust: Sequence[str]) -> Hook | None:
    """Return the summary that a config node names (see `solvers.contract.summarises`); None: it names none.

    Raises
    ------
    ConfigError, UntrustedCode
        As `hook_of`; and if the function is no summary.
    """
    hook = hook_of(node, path, trust, takes=2)
    if hook is not None and not isinstance(hook.function, Summary):
        raise ConfigError(path, "a function marked with solvers.contract.summarises", hook.name, "which says what its tables are")
    return hook


def _function(module: str, name: str, path: str, trust: Sequence[str]) -> Callable[..., Any]:
    package = module.partition(".")[0]
    if package != "solvers" and package not in trust:
        raise UntrustedCode(path, "a function in solvers.*", repr(f"{module}:{name}"), f"trust=[{package}] admits it")
    try:
        there = importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(path, _WANTED, repr(f"{module}:{name}"), str(error)) from error
    function = getattr(there, name, None)
    if not callable(function) or _home(function) != module:
        own = [key for key, one in vars(there).items() if callable(one) and _home(one) == module and not key.startswith("_")]
        raise ConfigError(path, f"a function of {module}", repr(name), did_you_mean(name, own))
    found: Callable[..., Any] = function
    return found


def _home(function: Any) -> str:
    return str(getattr(inspect.unwrap(function), "__module__", ""))


def _place(error: BaseException) -> str:
    """Say where in the function's own module something went wrong."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if len(frames) > 1 else ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."  # noqa: PLR2004 (a line)
