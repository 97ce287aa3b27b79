"""Ray clusters of real processes: every node has a network namespace, an address, a host name and, if asked, files of its own.

Nothing of it can be reached from outside: the namespaces hang on a bridge that leads nowhere. Needs root and `ip netns`.
"""

from __future__ import annotations

import functools
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import psutil
from conftest_tools import environment

RAY = Path(sys.executable).with_name("ray")
PORT = 6379
_NUMBERS = itertools.count()


@functools.lru_cache
def why_not() -> str | None:
    """Say why there can be no such cluster here, None: there can."""
    if not RAY.exists():
        return f"no {RAY}"
    if shutil.which("ip") is None or shutil.which("unshare") is None:
        return "no `ip` (iproute2) or no `unshare` (util-linux)"
    name = f"mx{os.getpid()}try"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"no network namespaces: {tried.stderr.strip()}"
    inside = subprocess.run(
        ["ip", "netns", "exec", name, "unshare", "-m", "-u", "true"], capture_output=True, text=True, check=False
    )
    subprocess.run(["ip", "netns", "del", name], check=False)
    return f"no mount namespaces: {inside.stderr.strip()}" if inside.returncode else None


class Node:
    """A machine: a network namespace and, once `ray` was called, a raylet in it."""

    def __init__(self, cluster: Cluster, number: int) -> None:
        self.cluster, self.number = cluster, number
        self.space, self.address = f"{cluster.name}n{number}", f"10.77.0.{number}"
        self.host = f"host-{'abcdefghijklmnopqrstuvwxyz'[number - 1]}"
        self.process: subprocess.Popen | None = None

    def plug_in(self) -> None:
        space, port = self.space, f"p{self.number}"
        for command in (
            f"ip netns add {space}",
            f"ip -n {space} link set lo up",
            f"ip -n {space} link add eth0 type veth peer name {port} netns {self.cluster.switch}",
            f"ip -n {space} address add {self.address}/24 dev eth0",
            f"ip -n {space} link set eth0 up",
            f"ip -n {self.cluster.switch} link set {port} master bridge up",
        ):
            subprocess.run(command.split(), check=True)

    def command(self, *words: object, hide: Sequence[Path] = ()) -> list[str]:
        """Return a command as it is run on this machine, which then has nothing of what is in the folders `hide`."""
        emptied = "".join(f"mount -t tmpfs none '{folder}' && " for folder in hide)
        inside = f'{emptied}hostname {self.host} && exec "$@"'
        return ["ip", "netns", "exec", self.space, "unshare", "-m", "-u", "sh", "-c", inside, "sh", *map(str, words)]

    def ray(self, *, cpus: int = 1, hide: Sequence[Path] = (), dashboard: bool = False, **more: str) -> Node:
        """Start a raylet here, the head if it is the first node."""
        head = [f"--address={self.cluster.gcs}"]
        if self.number == 1:
            head = ["--head", f"--port={PORT}", f"--include-dashboard={str(dashboard).lower()}"]
        folder = self.cluster.folder / self.host
        words = [RAY, "start", *head, f"--node-ip-address={self.address}", f"--num-cpus={cpus}"]
        words += ["--object-store-memory=80000000", f"--temp-dir={folder}", "--block"]
        with (self.cluster.folder / f"{self.host}.log").open("a") as log:
            env = self.cluster.environment(**more)
            self.process = subprocess.Popen(self.command(*words, hide=hide), env=env, stdout=log, stderr=log)
        return self

    def processes(self) -> list[psutil.Process]:
        """Return what runs on this machine."""
        said = subprocess.run(["ip", "netns", "pids", self.space], capture_output=True, text=True, check=False).stdout
        found = []
        for pid in said.split():
            with suppress(psutil.Error):
                found.append(psutil.Process(int(pid)))
        return found

    def kill(self, *names: str) -> list[int]:
        """Kill -9 those processes of this machine whose command line has one of the names, all if none is given."""
        killed: list[int] = []
        while fresh := self._kill_once(names):  # one may have started another meanwhile
            killed += fresh
        return killed

    def _kill_once(self, names: tuple[str, ...]) -> list[int]:
        killed = []
        for process in self.processes():
            with suppress(psutil.Error):
                if process.status() != psutil.STATUS_ZOMBIE and (
                    not names or any(name in " ".join(process.cmdline()) for name in names)
                ):
                    process.send_signal(signal.SIGKILL)
                    killed.append(process)
        psutil.wait_procs(killed, timeout=10)
        return [process.pid for process in killed]

    def log(self) -> str:
        return (self.cluster.folder / f"{self.host}.log").read_text()


class Cluster:
    """Machines on one network; a context manager that leaves nothing behind."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.name = f"mx{os.getpid()}x{next(_NUMBERS)}"
        self.switch = f"{self.name}s"
        self.folder = Path(f"/tmp/{self.name}")  # sockets need short paths
        self.gcs = f"10.77.0.1:{PORT}"
        self.variables = {"RAY_AUTH_MODE": "disabled", **variables}
        self.nodes: list[Node] = []
        self.work = folder

    def __enter__(self) -> Self:
        self.folder.mkdir()
        for command in (
            f"ip netns add {self.switch}",
            f"ip -n {self.switch} link add bridge type bridge",
            f"ip -n {self.switch} link set bridge up",
        ):
            subprocess.run(command.split(), check=True)
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.nodes:
            node.kill()
        for node in self.nodes:
            if node.process is not None:
                node.process.wait(30)
            subprocess.run(["ip", "netns", "del", node.space], check=False)
        subprocess.run(["ip", "netns", "del", self.switch], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of raylets: the machine's own, without the tests' folders on Python's path."""
        ours = {"RAY_USAGE_STATS_ENABLED": "0", **self.variables, **more}
        return {**{key: value for key, value in os.environ.items() if key != "PYTHONPATH" and not key.startswith("RAY_")}, **ours}

    def machine(self) -> Node:
        """Add a machine without a raylet."""
        self.nodes.append(Node(self, len(self.nodes) + 1))
        self.nodes[-1].plug_in()
        return self.nodes[-1]

    def start(self, *cpus: int, hide: Sequence[Path] = ()) -> None:
        """Add nodes with so many CPUs each, the first one the head, whose raylet sees all files."""
        self.machine().ray(cpus=cpus[0])
        self.wait_for(1)
        for count in cpus[1:]:
            self.machine().ray(cpus=count, hide=hide)
        self.wait_for(len(cpus))

    def wait_for(self, nodes: int, seconds: float = 60.0) -> None:
        """Wait until so many nodes are in the cluster: all those that have a raylet say so."""
        end = time.monotonic() + seconds
        while sum("Ray runtime started" in node.log() for node in self.nodes if node.process is not None) < nodes:
            logs = "\n".join(node.log() for node in self.nodes if node.process is not None)
            assert time.monotonic() < end, logs
            time.sleep(0.1)

    def minimex(self, *arguments: object, at: int = 0, **more: str) -> subprocess.Popen:
        """Start a command on one of the machines."""
        return self.run(sys.executable, "-P", "-m", "pipeline", *arguments, at=at, **more)

    def run(self, *words: object, at: int = 0, **more: str) -> subprocess.Popen:
        """Start anything on one of the machines."""
        env = environment(**{**self.variables, **more})
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(self.nodes[at].command(*words), cwd=self.work, env=env, **pipes)
