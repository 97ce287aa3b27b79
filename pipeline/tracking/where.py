"""Where runs are recorded: what a user may ask for, and the command that shows it."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from solvers.errors import ConfigError

UI_PAGE = "/#/experiments?workflowType=machine_learning"
"""Where MLflow's UI shows experiments and runs (by itself it opens on pages about language models)."""

_BESIDE = "mlflow.db"


@dataclass(frozen=True, slots=True)
class Tracking:
    """Where runs are recorded.

    Attributes
    ----------
    kind
        `sqlite`: a database beside the sweeps; `server`: an MLflow server; `off`: nowhere.
    uri
        The server's address, or another database (`sqlite:////data/mlflow.db`); None: beside the sweeps.
    child_runs
        A sweep of at most so many points gets a child run for each.
    """

    kind: Literal["sqlite", "server", "off"] = "sqlite"
    uri: str | None = None
    child_runs: int = 50

    def __post_init__(self) -> None:
        if self.child_runs < 0:
            raise ConfigError("child_runs", "0 or more", repr(self.child_runs))
        if self.kind == "server" and not (self.uri or "").startswith(("http://", "https://")):
            came = repr(without_password(self.uri)) if self.uri else "null"
            raise ConfigError("uri", "the address of an MLflow server", came, "tracking.uri=http://host:5000")
        if self.kind == "sqlite" and self.uri is not None and not self.uri.startswith("sqlite:///"):
            raise ConfigError("uri", "sqlite:/// and a path", repr(without_password(self.uri)), "for a server, tracking=server")

    @property
    def store(self) -> str:
        """How manifest.json names the store: its address without a password; the database beside the sweeps moves with them."""
        if self.uri is None:
            return _BESIDE
        if self.kind == "sqlite":
            return f"sqlite:///{Path(self.uri.removeprefix('sqlite:///')).absolute()}"
        return without_password(self.uri).rstrip("/")

    def database(self, store_folder: Path) -> Path:
        """Return the database's file; `store_folder` is the folder of sweeps."""
        given = (self.uri or "").removeprefix("sqlite:///")
        return Path(given or store_folder / _BESIDE).absolute()

    def address(self, store_folder: Path) -> str:
        """Return the store's address as MLflow takes it."""
        return str(self.uri) if self.kind == "server" else f"sqlite:///{self.database(store_folder)}"

    def shown(self, store_folder: Path) -> str:
        """Return the store's address for people."""
        return self.store if self.uri is not None else str(self.database(store_folder))


def without_password(text: str) -> str:
    """Return an address without the name and password in it."""
    return re.sub(r"//[^/@\s]*@", "//", text)


def ui_command(settings: Tracking, store_folder: Path) -> str:
    """Return the command line that opens MLflow's UI on this store, quoted for a shell; of a server its page; "" if off.

    The UI is then at http://127.0.0.1:5000, best entered at `UI_PAGE`.
    """
    if settings.kind == "off":
        return ""
    if settings.kind == "server":
        return settings.store + UI_PAGE
    beside = Path(sys.executable).parent / "mlflow"
    found = shutil.which("mlflow")
    program = str(beside) if beside.exists() and found != str(beside) else "mlflow"
    words = [program, "ui", "--backend-store-uri", settings.address(store_folder), "--workers", "1", "--port", "5000"]
    return f"MLFLOW_DISABLE_TELEMETRY=true {shlex.join(words)}"


def ui_lines(settings: Tracking, store_folder: Path) -> list[str]:
    """Return what a command says at its end of how to see its run; nothing if tracking is off."""
    lines = [f"MLflow   {ui_command(settings, store_folder)}"] if settings.kind != "off" else []
    return [*lines, f"         and open http://127.0.0.1:5000{UI_PAGE}"] if settings.kind == "sqlite" else lines
