"""Starting a Ray of our own, or reaching one that runs: addresses, tokens, and the code that goes along.

Rules
-----
1. A local Ray keeps to loopback, and has its token authentication switched off only together with that.
2. Workers work in an empty folder: Ray puts the driver's working directory before everything else that they import from, and a
   user's `conf/` or `solvers/` there would be taken for ours.
3. Workers of a cluster run the code that is sent along: ours, and the packages that are trusted. Their node needs Python, Ray
   and the distributions that solvers import, not minimex.
4. Ray itself would wait for minutes at an address where no Ray answers: we knock first.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import os
import shlex
import socket
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pipeline.environment import ONE_THREAD
from pipeline.executors.ray_node import SETUP_HOOK
from solvers.errors import ConfigError

_KNOCK_S = 5.0
_LONGEST = 300
_TRACEBACK = "Traceback (most recent call last)"
_NO_NODE = "no raylet runs here"
_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # Ray listens on all interfaces otherwise
_LOCAL = {
    "RAY_AUTH_MODE": "disabled",  # only together with _LOOPBACK
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}
_TOKEN_S = 5  # how long to insist on a token that is refused
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # of HTTP/2, with empty SETTINGS
_SETTINGS = 4  # the kind of frame that must come back


# ---- a Ray of our own --------------------------------------------------------------------------------------------------------


def start_local(cpus: int | None) -> None:
    """Start a Ray of this process's own, on loopback."""
    os.environ.update({**_LOOPBACK, **_LOCAL})
    os.environ.pop("RAY_ADDRESS", None)
    _keep_to_loopback()
    import ray  # noqa: PLC0415

    _hush()
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
                "env_vars": {**ONE_THREAD, "PYTHONPATH": _package_folders()},
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


def _hush() -> None:
    """Let Ray not print that workers died: some die because we end them, and all others are rows of the sweep."""
    from ray._private import worker  # noqa: PLC0415

    def listen_error_messages(*_: object) -> None:
        """Listen to nothing."""

    worker.listen_error_messages = listen_error_messages


def _package_folders() -> str:
    """Return the folder our packages are imported from, so that no folder of a user's shadows them in workers."""
    own = dict.fromkeys(str(path.parent) for path in own_packages())
    given = [str(Path(path).absolute()) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return os.pathsep.join([*own, *(path for path in given if path not in own)])


def _short_folder() -> str | None:
    """Return a folder whose socket paths are short enough (107 bytes), None: Ray's own choice."""
    default = Path(tempfile.gettempdir())
    return None if len(str(default)) < 40 else "/tmp/ray"  # noqa: S108, PLR2004


# ---- a cluster that runs -----------------------------------------------------------------------------------------------------


def connect(address: str, trust: Sequence[str] = ()) -> None:
    """Become a driver of the cluster at an address (HOST:PORT of its head, or `auto`).

    Raises
    ------
    ConfigError
        If there is none, or it does not take us.
    """
    place = os.environ.get("RAY_ADDRESS") or address if address == "auto" else address
    found = place == "auto"
    if found:
        place = _found_here()
    if "://" in place:
        raise ConfigError("compute.address", "HOST:PORT of a Ray cluster's head", repr(place), "6379 is its usual port")
    host, _, port = place.rpartition(":")
    if host in ("127.0.0.1", "localhost"):  # a Ray of this machine that keeps to loopback: Ray would look for it elsewhere
        os.environ.update(_LOOPBACK)
        _keep_to_loopback()
    os.environ["RAY_OVERRIDE_JOB_RUNTIME_ENV"] = "1"  # in a Ray job: ours goes on top of the job's own
    import ray  # noqa: PLC0415
    from ray._private import ray_constants, services  # noqa: PLC0415

    _hush()
    ray_constants.NUM_REDIS_GET_RETRIES = _TOKEN_S
    try:
        if port.isdigit():
            knock(place)
            if not services.find_node_ids():  # Ray would look for a minute
                raise ConnectionError(_NO_NODE)
        with tempfile.TemporaryDirectory() as empty:
            ray.init(
                address=place,
                configure_logging=False,
                log_to_driver=False,
                runtime_env={
                    "env_vars": ONE_THREAD,
                    "py_modules": [str(path) for path in (*own_packages(), *trusted_code(trust))],
                    "excludes": ["__pycache__"],
                    "working_dir": empty,
                    "worker_process_setup_hook": SETUP_HOOK,
                },
            )
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        hint = _what_would_do(error, place)
        if found:
            hint = f"{hint} at {place}, which `auto` found; compute.address=HOST:PORT names another"
        raise ConfigError("compute.address", "a Ray cluster", "'auto'" if found else repr(place), hint) from error


def _found_here() -> str:
    """Return the address of the cluster that this machine belongs to.

    Raises
    ------
    ConfigError
        If there is none: what Ray remembers of one that has ended does not count.
    """
    from ray._private import services  # noqa: PLC0415

    try:
        place: str = services.canonicalize_bootstrap_address_or_die("auto")
        knock(place)
    except (OSError, ValueError) as error:
        hint = "none runs on this machine: ray start --head, or compute.address=HOST:PORT"
        raise ConfigError("compute.address", "a Ray cluster", "'auto'", hint) from error
    return place


def _what_would_do(error: Exception, place: str) -> str:
    text = str(error.__cause__ or error)
    if _TRACEBACK in text:  # Ray pastes one into its message: its last line says what it was
        text = text.strip().splitlines()[-1]
    said = " ".join(text.split()) or type(error).__name__
    lower = said.lower()
    if "token" in lower or "unauthenticated" in lower or "authentication" in lower:
        ways = "RAY_AUTH_TOKEN=..., RAY_AUTH_TOKEN_PATH=FILE or ~/.ray/auth_token"
        return f"it wants its token: RAY_AUTH_MODE=token and one of {ways}"
    if "no node info found" in lower or said == _NO_NODE:
        return f"this machine is none of its nodes: `ray start --address={place} --num-cpus=0` makes it one that computes nothing"
    return said[:_LONGEST]


def knock(address: str, seconds: float = _KNOCK_S) -> None:
    """See whether a gRPC server, which a Ray head is, answers at HOST:PORT.

    Raises
    ------
    OSError
        If none does.
    """
    host, _, port = address.rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), timeout=seconds) as connection:
        if os.environ.get("RAY_USE_TLS", "0") == "1":
            return
        connection.sendall(_PREFACE)
        head = b""
        try:
            while len(head) < len(_PREFACE[-9:]):
                more = connection.recv(9 - len(head))
                if not more:
                    break
                head += more
        except TimeoutError:
            raise TimeoutError(f"it takes calls but has not answered in {seconds:.0f} s") from None
    if len(head) < len(_PREFACE[-9:]) or head[3] != _SETTINGS:
        raise ConnectionError("something answers there, but no Ray head")


# ---- the code that goes along ------------------------------------------------------------------------------------------------


def own_packages() -> list[Path]:
    """Return the folders of our packages that workers import."""
    import pipeline  # noqa: PLC0415
    import solvers  # noqa: PLC0415

    return [Path(str(package.__file__)).parent for package in (pipeline, solvers)]


def trusted_code(trust: Sequence[str]) -> list[Path]:
    """Return the folders and files of the packages and modules named, without our own and Python's."""
    found: dict[Path, None] = {}
    for name in dict.fromkeys(name.partition(".")[0] for name in trust):
        if name in sys.stdlib_module_names or name in ("pipeline", "solvers"):
            continue
        spec = None
        with suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(name)
        if spec is None:
            continue
        if spec.submodule_search_locations is not None:
            found.update((Path(place), None) for place in spec.submodule_search_locations)
        elif spec.origin is not None and spec.origin.endswith(".py"):
            found[Path(spec.origin)] = None
    return list(found)


def answering_distributions() -> tuple[str, ...]:
    """Return the distributions whose version can change an answer: all that `solvers` imports."""
    imported: set[str] = set()
    for path in own_packages()[1].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                imported.update(name.name.partition(".")[0] for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    owners: dict[str, Any] = dict(importlib.metadata.packages_distributions())
    foreign = imported - sys.stdlib_module_names - {"pipeline", "solvers"}
    return tuple(sorted({owner for name in foreign for owner in owners.get(name, ())}))
