"""What a command asks for besides its points: where, within which limits, what to do with the results."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from omegaconf import DictConfig, OmegaConf

from pipeline.errors import reason_of
from pipeline.remote import folder_of
from pipeline.tracking.where import Tracking
from solvers.builder import make
from solvers.errors import ConfigError, did_you_mean

T = TypeVar("T")

_PER_CORE = 4  # workers that share a core only get in each other's way


@dataclass(frozen=True, slots=True)
class Compute:
    """The group `compute`: where points run and within which limits."""

    kind: Literal["ray", "cluster", "inline"]
    cpus: int | None = None
    address: str | None = None
    timeout_s: float | None = None
    memory_gb: float | None = None
    attempts: int = 2
    box_s: float = 0.5
    checkpoint_s: float = 5.0
    publish_s: float = 600.0
    patience_s: float = 600.0

    def __post_init__(self) -> None:
        for name in ("cpus", "timeout_s", "memory_gb", "attempts", "box_s", "publish_s"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ConfigError(name, "a number above 0", repr(value))
        cores = os.cpu_count() or 1
        if self.kind == "ray" and self.cpus is not None and self.cpus > _PER_CORE * cores:
            most = f"at most {_PER_CORE * cores} on this machine, {_PER_CORE} times its {cores} core{'s' if cores > 1 else ''}"
            raise ConfigError("cpus", most, repr(self.cpus), "null: all its cores")
        for name in ("checkpoint_s", "patience_s"):
            if getattr(self, name) < 0:
                raise ConfigError(name, "a number of at least 0", repr(getattr(self, name)))
        if self.kind == "cluster" and not self.address:
            raise ConfigError("address", "the address of a Ray cluster", "null", "compute.address=HOST:PORT, or auto")


@dataclass(frozen=True, slots=True)
class Settings:
    """A command without its points. `experiment` is its name, None: ad hoc. `chose_compute`: somebody typed `compute=`."""

    compute: Compute
    tracking: Tracking
    experiment: str | None
    out: str | None
    dry_run: bool
    on_error: Literal["continue", "stop"]
    retry_failed: bool
    skip_impossible: bool
    verify: bool
    quiet: bool
    trust: tuple[str, ...]
    chose_compute: bool = False
    command: str = "minimex"

    def __post_init__(self) -> None:
        if self.out is not None and not self.out.strip():
            raise ConfigError("out", "a folder", "nothing", "out=DIR, or leave it out for outputs/NAME")

    def folder(self, default: str) -> Path:
        """Return the sweep's directory on this machine: of a URI its mirror.

        Raises
        ------
        ConfigError
            If the disk takes no such name, or lets nobody look there.
        """
        folder = folder_of(self.out) if self.out is not None else Path("outputs") / default
        try:
            folder.exists()
        except OSError as error:
            raise ConfigError("out", "a folder that can be written", repr(str(folder)), reason_of(error)) from error
        return folder


PLAIN_KEYS = ("seed", "out", "dry_run", "on_error", "retry_failed", "skip_impossible", "verify", "quiet", "trust")
GROUPS = ("game", "solver", "compute", "tracking", "experiment")
SWEEP_KEYS = ("grid", "zip", "union", "first", "next", "summary", "most_rounds")
_KNOWN = {*PLAIN_KEYS, *GROUPS, "sweep", "hydra"}


def settings_of(config: DictConfig, *, chose_compute: bool, command: str) -> Settings:
    """Read the settings of a composed config.

    Raises
    ------
    ConfigError
        With the path of what does not fit.
    """
    for key in config:
        if key not in _KNOWN:
            raise ConfigError(str(key), "a key minimex knows", "an unknown key", did_you_mean(str(key), _KNOWN - {"hydra"}))
    plain: dict[str, Any] = {name: _container(config[name]) for name in PLAIN_KEYS if name != "seed"}
    return make(
        Settings,
        compute=_part(Compute, "compute", _container(config.compute)),
        tracking=_part(Tracking, "tracking", _container(config.tracking)),
        experiment=config.hydra.runtime.choices.get("experiment"),
        chose_compute=chose_compute,
        command=command,
        **plain,
    )


def _container(node: Any) -> Any:
    return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node


def _part(cls: type[T], path: str, node: Mapping[str, Any]) -> T:
    try:
        return make(cls, **node)
    except ConfigError as error:
        raise error.under(path) from None
