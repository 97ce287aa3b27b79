"""Hands Hydra's whole sweep to minimex at once. It lives here because Hydra admits sweepers of `hydra_plugins.*` only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


@dataclass
class MinimexSweeperConf:
    _target_: str = "hydra_plugins.minimex_sweeper.MinimexSweeper"


class MinimexSweeper(Sweeper):
    """Calls the task function once, with Hydra's config loader and the overrides as they were given."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.loader, self.task_function = hydra_context.config_loader, task_function

    def sweep(self, arguments: list[str]) -> Any:
        return self.task_function((self.loader, arguments))


ConfigStore.instance().store(group="hydra/sweeper", name="minimex", node=MinimexSweeperConf, provider="minimex")
