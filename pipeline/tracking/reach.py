"""Reaching MLflow: quietly, within seconds or not at all, and what went wrong in a few words."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipeline.environment import environment
from pipeline.tracking.where import Tracking, without_password
from solvers.errors import MinimexError

_QUICK = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "4", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}
_PATIENT = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "30", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1"}
_SILENT = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true"}
_LOCKED_S = 5.0
_CREATING_S = 60.0
_NAME = 250
_SHORT = 120
_FAILURES = (  # what urllib3, SQLite and MLflow say in some lines, and what it means; `{}` is what the brackets caught
    (r"NameResolutionError", "no such host"),
    (r"NewConnectionError.*\[Errno \d+\] ([A-Z][\w ]+)", "{}"),
    (r"(?:Read|Connect)TimeoutError", "no answer in time"),
    (r"SSLError", "no secure connection; is it http:// rather than https://?"),
    (r"RemoteDisconnected|ProtocolError", "it hung up"),
    (r"too many (\d{3}) error", "it answers with error {}"),
    (r"error code (\d{3}) !=", "it answers with error {}"),
    (r"not in a valid JSON format", "what answers there is no MLflow server"),
    (r"database is locked", "another process holds the database locked"),
)


def failures() -> tuple[type[Exception], ...]:
    """Return what may be raised while MLflow is told something: its own errors, the database's, the disk's, the sweep's.

    Raises
    ------
    ImportError
        Without MLflow.
    """
    from mlflow.exceptions import MlflowException  # noqa: PLC0415
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    return (MlflowException, SQLAlchemyError, sqlite3.Error, MinimexError, pa.ArrowException, OSError, ImportError)


def in_few_words(error: Exception) -> str:
    """Return what kind of failure this is."""
    text = str(error).strip() or type(error).__name__
    for pattern, meaning in _FAILURES:
        if found := re.search(pattern, text):
            return meaning.format(*found.groups()).lower() if found.groups() else meaning
    line = without_password(text.splitlines()[0])
    return line if len(line) <= _SHORT else line[: _SHORT - 3] + "..."


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Keep MLflow from phoning home and from talking; put everything back."""
    loggers = [logging.getLogger(name) for name in ("mlflow", "alembic", "sqlalchemy.engine", "urllib3.connectionpool")]
    with environment(_SILENT):
        with contextlib.suppress(ImportError):
            import mlflow  # noqa: F401, PLC0415 (its import sets levels)
        levels = [one.level for one in loggers]
        for one in loggers:
            one.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for one, level in zip(loggers, levels, strict=True):
                one.setLevel(level)


def quick() -> contextlib.AbstractContextManager[None]:
    """Give a server seconds to answer: is it there at all?"""
    return environment(_QUICK)


def patient() -> contextlib.AbstractContextManager[None]:
    """Give a server that was there half a minute for each answer, twice."""
    return environment(_PATIENT)


def open_store(settings: Tracking, store_folder: Path, experiment: str | None) -> tuple[Any, str]:
    """Return a client and the id of the experiment ("ad hoc" if None), which exists from now on.

    Raises
    ------
    Exception
        One of `failures`, after some seconds: it cannot be reached.
    """
    from mlflow import MlflowClient  # noqa: PLC0415

    name = (experiment or "ad hoc")[:_NAME]
    if settings.kind == "server":
        client = MlflowClient(settings.uri)
        return client, _experiment(client, name, None)
    database = settings.database(store_folder)
    database.parent.mkdir(parents=True, exist_ok=True)
    with _alone(database.parent / ".mlflow.lock"):  # two processes that create the tables at once spoil them
        _knock(database)
        client = MlflowClient(settings.address(store_folder))
        return client, _experiment(client, name, database.parent / "mlartifacts" / re.sub(r"[^\w.-]", "_", name))


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    end = time.monotonic() + _CREATING_S
    with path.open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TimeoutError(f"another process has been opening it for {_CREATING_S:.0f} s") from None
                time.sleep(0.05)
        yield


def _knock(database: Path) -> None:
    """Write nothing, but be able to: MLflow itself would try a locked database again for minutes."""
    with contextlib.closing(sqlite3.connect(database, timeout=_LOCKED_S, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")


def _experiment(client: Any, name: str, artifacts: Path | None) -> str:
    from mlflow.exceptions import MlflowException  # noqa: PLC0415

    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return str(client.create_experiment(name, artifacts.as_uri() if artifacts else None))
        except MlflowException:  # somebody else may just have created it
            found = client.get_experiment_by_name(name)
            if found is None:
                raise
    if found.lifecycle_stage == "deleted":
        client.restore_experiment(found.experiment_id)
    return str(found.experiment_id)
