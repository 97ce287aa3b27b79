"""What Hydra, OmegaConf and YAML complain about, in our words: the path, what was wanted, what came, what would do."""

from __future__ import annotations

import dataclasses
import difflib
import re

import yaml
from hydra.errors import MissingConfigException, OverrideParseException

from pipeline.settings import Compute
from pipeline.tracking.where import Tracking
from solvers.errors import ConfigError, did_you_mean, nearest

_NO_KEY = re.compile(r"Could not override '([^']+)'")
_GROUPS = {"compute": Compute, "tracking": Tracking}
_NO_LINK = re.compile(r"Interpolation key '([^']+)' not found")


def in_our_words(error: BaseException, known: list[str]) -> str:
    """Return one line for an error that composing a config raised.

    Parameters
    ----------
    known
        The keys a command may set.
    """
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, name = error.missing_cfg_file.rpartition("/")
        options = list(error.options or ())
        return str(ConfigError(group or "config", f"one of {', '.join(options)}", repr(name), nearest(name, options)))
    if isinstance(error, OverrideParseException):
        return _not_understood(error.override)
    if isinstance(error, yaml.YAMLError):
        return f"a config is no YAML: {' '.join(str(error).split())}"
    if isinstance(error, UnicodeDecodeError):
        return f"a config is not UTF-8 text: {error}"
    text = str(error)
    if match := _NO_KEY.search(text):
        key = match.group(1)
        return str(ConfigError(key, "a key minimex knows", "an unknown key", _nearest(key, known)))
    if match := _NO_LINK.search(text):
        return str(ConfigError("a config", "a link to a key that is there", f"${{{match.group(1)}}}"))
    lines = [line.strip() for line in text.splitlines() if line.strip() and "full_key" not in line and "object_type" not in line]
    if error.__cause__ is not None and str(error.__cause__):
        lines.append(str(error.__cause__).splitlines()[0])
    return "; ".join(dict.fromkeys(lines))


def _nearest(key: str, known: list[str]) -> str:
    """Return a hint that names the nearest known keys; below a group whose keys we know, whole ones of that group."""
    group, _, name = key.partition(".")
    if not name or group not in _GROUPS:
        return did_you_mean(key, known)
    names = [field.name for field in dataclasses.fields(_GROUPS[group])]
    near = difflib.get_close_matches(name, names, n=3)
    whole = [f"{group}.{one}" for one in near or sorted(names)]
    return f"did you mean {' or '.join(whole)}?" if near else f"there are: {', '.join(whole)}"


def _not_understood(override: str) -> str:
    key, equals, value = override.partition("=")
    if not equals:
        return str(ConfigError(key, "key=value", repr(override)))
    hint = "quotes inside quotes keep a value whole: 'key=\"a value\"'"
    return str(ConfigError(key.lstrip("+~"), "a value of Hydra's grammar", value, hint))
