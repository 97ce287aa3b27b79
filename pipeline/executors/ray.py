"""Batches as plain streaming Ray tasks, on this machine's cores or a cluster.

Rules
-----
1. `max_retries=0`: Ray replays a streaming task by item index and so loses rows. Retries are the scheduler's.
2. Tasks, not actors: a task gives its CPU back while it waits for a nested `map`.
3. A local Ray keeps to loopback, and has its token authentication switched off only together with that.
4. Workers return Arrow through the object store; only the driver writes.
5. Workers work in an empty folder: Ray puts the driver's working directory before everything else that they import from, and a
   user's `conf/` or `solvers/` there would be taken for ours.
"""

from __future__ import annotations

import functools
import importlib.metadata
import itertools
import os
import platform
import shlex
import signal
import socket
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pipeline.errors import RayLost
from pipeline.events import Chunk, Limits, Task
from pipeline.executors import Ended
from pipeline.worker import run_batch
from solvers.errors import ConfigError, MinimexError

T = TypeVar("T")
R = TypeVar("R")

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
_AHEAD = 64
_WORKER_S = 120
_KNOCK_S = 10.0


class WrongVersion(MinimexError, RuntimeError):
    """A worker runs other code than the driver."""


def versions() -> str:
    """Return what driver and workers must agree on."""
    return f"Python {platform.python_version()}, minimex {importlib.metadata.version('minimex')}"


@dataclass(frozen=True, slots=True)
class RayShared(Generic[T]):
    """A value in the object store."""

    reference: Any

    def get(self) -> T:
        value: T = _fetch(self.reference)
        return value

    def release(self) -> None:
        """Nothing to do: the store drops it with its last handle."""


@functools.lru_cache(maxsize=8)
def _fetch(reference: Any) -> Any:
    import ray  # noqa: PLC0415

    return ray.get(reference)


@dataclass(frozen=True, slots=True)
class RayWorkers:
    """One big solve on many cores: nested tasks. Pure functions may be retried by Ray."""

    def share(self, value: T) -> RayShared[T]:
        import ray  # noqa: PLC0415

        return RayShared(ray.put(value))

    def map(self, fn: Callable[[T], R], items: Iterable[T], ahead: int | None = None) -> Iterator[R]:
        import ray  # noqa: PLC0415

        call = ray.remote(num_cpus=1, max_retries=3)(_apply)
        shipped = ray.put(fn)
        source = iter(items)
        waiting = deque(call.remote(shipped, item) for item in itertools.islice(source, ahead or _AHEAD))
        while waiting:
            result: R = ray.get(waiting.popleft())
            waiting.extend(call.remote(shipped, item) for item in itertools.islice(source, 1))
            yield result


def _apply(fn: Callable[[T], R], item: T) -> R:
    return fn(item)


def _stream(tasks: Sequence[Task], limits: Limits) -> Iterator[Chunk]:
    if limits.version != versions():
        raise WrongVersion(f"worker on {platform.node()} has {versions()}, the driver {limits.version}")
    yield from run_batch(tasks, limits, RayWorkers())


@dataclass
class RayExecutor:
    """Batches on Ray. `address` None: a Ray of our own on this machine, ended with us (or the one this process has already)."""

    limits: Limits
    cpus: int | None = None
    address: str | None = None
    running: dict[int, Any] = field(default_factory=dict)
    started: bool = False

    def __post_init__(self) -> None:
        import ray  # noqa: PLC0415

        self.started = not ray.is_initialized()
        if self.started and self.address is None:
            start_local(self.cpus)
        elif self.started:
            _connect(str(self.address))
        cores = int(ray.cluster_resources().get("CPU", 1))
        if self.cpus is not None:
            cores = min(cores, self.cpus)
        nodes = sum(1 for node in ray.nodes() if node["Alive"])
        self.slots = cores
        place = "this machine" if self.address is None else f"{_count(nodes, 'node')} at {self.address}"
        self.where = f"{_count(cores, 'core')} of {place}"
        if self.started:
            _check_worker(self.limits)
        options: dict[str, Any] = {"num_cpus": 1, "max_retries": 0, "num_returns": "streaming"}
        self.remote = ray.remote(**options)(_stream)

    def submit(self, number: int, tasks: Sequence[Task]) -> None:
        self.running[number] = self.remote.remote(list(tasks), self.limits)

    def poll(self, wait_s: float) -> Iterator[tuple[int, Chunk | Ended]]:
        import ray  # noqa: PLC0415

        numbers = {stream: number for number, stream in self.running.items()}
        if not numbers:
            return
        ready, _ = ray.wait(list(numbers), num_returns=1, timeout=wait_s, fetch_local=False)
        for stream in ready:
            said = _next_of(stream)
            if isinstance(said, Ended):
                del self.running[numbers[stream]]
            yield numbers[stream], said

    def kill(self, number: int) -> None:
        import ray  # noqa: PLC0415

        ray.cancel(self.running[number], force=True)

    def cancel(self) -> None:
        import ray  # noqa: PLC0415

        for stream in self.running.values():
            ray.cancel(stream, force=True, recursive=True)
        self.running.clear()

    def close(self) -> None:
        import ray  # noqa: PLC0415

        if self.started:
            ray.shutdown()
            signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM))  # Ray took it away below Python's own record


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _check_worker(limits: Limits) -> None:
    """Have one worker start and compare versions before anything is computed.

    Raises
    ------
    WrongVersion
        If it runs other code than the driver.
    ConfigError
        If no worker starts.
    """
    import ray  # noqa: PLC0415

    try:
        came = ray.get(ray.remote(num_cpus=1, max_retries=0)(versions).remote(), timeout=_WORKER_S)
    except ray.exceptions.RayError as error:
        name = type(error).__name__
        raise ConfigError("compute", f"a worker within {_WORKER_S} s", name, "compute=inline works without Ray") from error
    if limits.version and came != limits.version:
        raise WrongVersion(f"workers have {came}, the driver {limits.version}: install the same on all machines")


def _next_of(stream: Any) -> Chunk | Ended:
    import ray  # noqa: PLC0415

    try:
        chunk: Chunk = ray.get(next(stream))
    except StopIteration:
        return Ended()
    except ray.exceptions.RayTaskError as error:
        cause = error.cause if isinstance(getattr(error, "cause", None), BaseException) else error
        if isinstance(cause, WrongVersion):
            raise cause from None
        return Ended(f"{type(cause).__name__}: {cause}")
    except (ray.exceptions.LocalRayletDiedError, ray.exceptions.RaySystemError) as error:
        raise RayLost(f"Ray itself ended: {type(error).__name__}") from error
    except ray.exceptions.RayError as error:
        lines = str(error).strip().splitlines()
        return Ended(f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}")
    return chunk


_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # Ray listens on all interfaces otherwise
_LOCAL = {
    "RAY_AUTH_MODE": "disabled",  # only together with _LOOPBACK
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}


def start_local(cpus: int | None) -> None:
    """Start a Ray of this process's own, on loopback."""
    os.environ.update({**_LOOPBACK, **_LOCAL})
    os.environ.pop("RAY_ADDRESS", None)
    _keep_to_loopback()
    import ray  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as empty:
        ray.init(
            address="local",
            num_cpus=cpus,
            include_dashboard=False,
            configure_logging=False,
            log_to_driver=False,
            _node_ip_address="127.0.0.1",
            _temp_dir=_short_folder(),
            object_store_memory=512 << 20,
            runtime_env={
                "py_executable": shlex.quote(sys.executable),  # Ray gives it to a shell as it is: a space, and no worker starts
                "env_vars": {**_ONE_THREAD, "PYTHONPATH": _package_folders()},
                "working_dir": empty,
            },
        )
    if ray.util.get_node_ip_address() != "127.0.0.1":
        ray.shutdown()
        raise RuntimeError("Ray does not keep to loopback on this machine; compute=inline works without it")


def _keep_to_loopback() -> None:
    """Set what Ray reads when it is imported, which may be long ago."""
    from ray._private import ray_constants  # noqa: PLC0415

    ray_constants.ENABLE_RAY_CLUSTER = False


def _connect(address: str) -> None:
    host, _, port = address.rpartition(":")
    if host in ("127.0.0.1", "localhost"):  # a Ray of this machine that keeps to loopback: Ray would look for it elsewhere
        os.environ.update(_LOOPBACK)
        _keep_to_loopback()
    import ray  # noqa: PLC0415

    try:
        if port.isdigit():  # Ray itself would knock for a quarter of an hour
            socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_S).close()
        with tempfile.TemporaryDirectory() as empty:
            ray.init(
                address=address,
                configure_logging=False,
                log_to_driver=False,
                runtime_env={
                    "env_vars": dict(_ONE_THREAD),
                    "py_modules": [str(path) for path in _packages()],
                    "working_dir": empty,
                },
            )
    except (OSError, ValueError, RuntimeError) as error:
        said = str(error).strip().splitlines()
        raise ConfigError("compute.address", "a Ray cluster", repr(address), said[0] if said else type(error).__name__) from error


def _packages() -> list[Path]:
    import pipeline  # noqa: PLC0415
    import solvers  # noqa: PLC0415

    return [Path(str(package.__file__)).parent for package in (pipeline, solvers)]


def _package_folders() -> str:
    """Return the folder our packages are imported from, so that no folder of a user's shadows them in workers."""
    own = dict.fromkeys(str(path.parent) for path in _packages())
    given = [str(Path(path).absolute()) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return os.pathsep.join([*own, *(path for path in given if path not in own)])


def _short_folder() -> str | None:
    """Return a folder whose socket paths are short enough (107 bytes), None: Ray's own choice."""
    default = Path(tempfile.gettempdir())
    return None if len(str(default)) < 40 else "/tmp/ray"  # noqa: S108, PLR2004
