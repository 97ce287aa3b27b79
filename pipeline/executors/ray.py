"""Batches as plain streaming Ray tasks, on this machine's cores or a cluster.

Rules
-----
1. `max_retries=0`: Ray replays a streaming task by item index and so loses rows. Retries are the scheduler's.
2. Tasks, not actors: a task gives its CPU back while it waits for a nested `map`.
3. A form whose class says `built_once` is built by one task and read from the object store by all points of its game.
4. Workers return Arrow through the object store; only the driver writes.
5. On a cluster nodes come and go: what there is is looked up every few seconds. A node that has other versions than the driver is
   refused at the start; one that joins later gets no batches.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import pickle
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from pipeline.errors import RayLost
from pipeline.events import Chunk, Limits, Task
from pipeline.executors import Ended
from pipeline.executors.ray_node import Here, differing, here, name_of, versions
from pipeline.executors.ray_start import answering_distributions, connect, knock, start_local
from pipeline.worker import FormOf, form_here, run_batch
from solvers.errors import ConfigError

__all__ = ["RayExecutor", "RayShared", "RayWorkers", "start_local", "versions"]

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 64
_WORKER_S = 120
_LOOK_S = 3.0
_GONE_S = 9.0  # a head that answers no knock for so long is gone
_ANSWER_S = 5
_NAMED = 8
_FORMS = 8


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


def _stream(packed: bytes, limits: Limits, wanted: str, forms: Mapping[str, Any]) -> Iterator[Here | Chunk]:
    """Solve a batch; `wanted` is what a node of a cluster must have, empty: this is the driver's machine.

    Tasks come packed: where something is missing they could not be read before anybody has looked. `forms` holds, by point, forms
    that are built once for the whole sweep.
    """
    where = here(wanted) if wanted else None
    if where is not None:
        yield where
        if where.unfit:
            return
    tasks: list[Task] = pickle.loads(packed)  # noqa: S301 (from our own driver)
    for chunk in run_batch(tasks, limits, RayWorkers(), _form_of(tasks, forms)):
        if where is None:
            yield chunk
        else:
            yield replace(chunk, finished=tuple(one._replace(node=where.node) for one in chunk.finished))


def _form_of(tasks: Sequence[Task], forms: Mapping[str, Any]) -> FormOf:
    """Return how this batch gets its forms: from the object store where one was asked for, else built here."""
    built = {(task.game, type(task.solver).takes): forms[task.point] for task in tasks if task.point in forms}

    def form_of(game: Any, kind: type) -> Any:
        import ray  # noqa: PLC0415

        reference = built.get((game, kind))
        if reference is not None:
            with contextlib.suppress(ray.exceptions.RayError):  # what is wrong with it is said where it is built
                return _fetch(reference)
        return form_here(game, kind)

    return form_of


def _build(packed: bytes) -> Any:
    game, kind = pickle.loads(packed)  # noqa: S301 (from our own driver)
    return game.form(kind)


@dataclass
class _Running:
    stream: Any
    points: tuple[str, ...]
    node: str | None = None


@dataclass
class _Used:
    cores: int = 0
    points: int = 0


@dataclass
class RayExecutor:
    """Batches on Ray. `address` None: a Ray of our own on this machine, ended with us (or the one this process has already).

    `trust` names packages that go along to a cluster; `say` is told what people should know of it.
    """

    limits: Limits
    cpus: int | None = None
    address: str | None = None
    trust: Sequence[str] = ()
    say: Callable[[str], None] = lambda _: None
    running: dict[int, _Running] = field(default_factory=dict)
    started: bool = False
    slots: int = 1
    where: str = ""
    wanted: str = ""
    unfit: set[str] = field(default_factory=set)
    known: dict[str, int] = field(default_factory=dict)
    there: dict[str, str] = field(default_factory=dict)  # nodes when last looked, by id: their names
    used: dict[str, _Used] = field(default_factory=dict)
    forms: dict[tuple[Any, type], Any] = field(default_factory=dict)  # references of those built last
    heard_of_head: float = 0.0
    look_at: float = 0.0

    def __post_init__(self) -> None:
        import ray  # noqa: PLC0415

        self.started = not ray.is_initialized()
        if self.started and self.address is None:
            start_local(self.cpus)
        elif self.started:
            connect(str(self.address), self.trust)
        if self.address is not None:
            self.wanted = versions(answering_distributions())
        try:
            self._see_nodes()
        except BaseException:
            self.close()
            raise
        options: dict[str, Any] = {"num_cpus": 1, "max_retries": 0, "num_returns": "streaming"}
        self.remote = ray.remote(**options)(_stream)
        self.build = ray.remote(num_cpus=1, max_retries=3)(_build)

    def _see_nodes(self) -> None:
        nodes = _nodes()
        if self.started or not nodes:
            _wait_for_worker("compute" if self.address is None else "compute.address")
            nodes = _nodes()
        if self.address is not None:
            _refuse_others(nodes, self.wanted)
        self._take(nodes)
        self.heard_of_head = time.monotonic()
        self.look_at = self.heard_of_head + _LOOK_S

    def _take(self, nodes: Sequence[_Node]) -> None:
        """Note what nodes there are: how many batches they take, and how that is told."""
        self.known.update((node.name, node.cores) for node in nodes)
        self.there = {node.node_id: node.name for node in nodes}
        fit = [node for node in nodes if node.node_id not in self.unfit]
        cores = sum(node.cores for node in fit)
        self.slots = cores if self.cpus is None else min(cores, self.cpus)
        self.where = f"{_count(self.slots, 'core')} of {_place(self.address, fit)}"

    def _tell_changes(self, before: dict[str, str]) -> None:
        """Say which nodes are gone and which are new since we looked last."""
        gone = sorted(name for node_id, name in before.items() if node_id not in self.there)
        if gone:
            rest = "is gone; its" if len(gone) == 1 else "are gone; their"
            self.say(f"{_some(gone)} {rest} points run again elsewhere")
        new = [name for node_id, name in self.there.items() if node_id not in before and node_id not in self.unfit]
        if new:
            self.say(f"{_some(sorted(f'{name} ({self.known[name]})' for name in new))} joined")

    def submit(self, number: int, tasks: Sequence[Task]) -> None:
        where: dict[str, Any] = {}
        if self.unfit:
            where["label_selector"] = {"ray.io/node-id": f"!in({','.join(sorted(self.unfit))})"}
        forms = {task.point: self._form(task, where) for task in tasks if getattr(type(task.solver).takes, "built_once", False)}
        packed = pickle.dumps(list(tasks), protocol=5)
        stream = self.remote.options(**where).remote(packed, self.limits, self.wanted, forms)
        self.running[number] = _Running(stream, tuple(task.point for task in tasks))

    def _form(self, task: Task, where: dict[str, Any]) -> Any:
        """Return a reference to a form that is built once, by whoever has a core, and read by all."""
        key = task.game, type(task.solver).takes
        reference = self.forms.pop(key, None)
        if reference is None:
            reference = self.build.options(**where).remote(pickle.dumps(key, protocol=5))
        self.forms[key] = reference  # the last
        while len(self.forms) > _FORMS:
            del self.forms[next(iter(self.forms))]
        return reference

    def poll(self, wait_s: float) -> Iterator[tuple[int, Chunk | Ended]]:
        import ray  # noqa: PLC0415

        if self.address is not None and time.monotonic() >= self.look_at:
            self._look()
        numbers = {batch.stream: number for number, batch in self.running.items()}
        if not numbers:
            return
        ready, _ = ray.wait(list(numbers), num_returns=1, timeout=wait_s, fetch_local=False)
        for stream in ready:
            number = numbers[stream]
            said = _next_of(stream)
            if isinstance(said, Here):
                yield from self._placed(number, said)
                continue
            if isinstance(said, Ended):
                del self.running[number]
                if said.node_lost:
                    self.look_at = 0.0
            elif (node := self.running[number].node) is not None:
                self.used[node].points += len(said.finished)
            yield number, said

    def _placed(self, number: int, said: Here) -> Iterator[tuple[int, Chunk | Ended]]:
        """Note where a batch is; if it is not solved there, let its points go elsewhere."""
        batch = self.running[number]
        if said.unfit:
            if said.node_id not in self.unfit:
                self.unfit.add(said.node_id)
                self.look_at = 0.0
                other = f"{differing(said.has, self.wanted)} (the driver: {differing(self.wanted, said.has)})"
                self.say(f"{said.node} joined with {other}: it gets no points")
            yield number, Chunk(handed_back=batch.points)
            return
        batch.node = said.node
        used = self.used.setdefault(said.node, _Used())
        at_once = sum(one.node == said.node for one in self.running.values())  # more than cores where some wait for nested tasks
        used.cores = max(used.cores, min(at_once, self.known.get(said.node, at_once)))

    def _look(self) -> None:
        """Look up what nodes there are.

        Raises
        ------
        RayLost
            If the head is gone, or the last core.
        """
        import ray  # noqa: PLC0415

        now = time.monotonic()
        self.look_at = now + _LOOK_S
        try:
            knock(ray.get_runtime_context().gcs_address, _LOOK_S)
            nodes = _nodes()
        except (OSError, ray.exceptions.RayError) as error:
            another = isinstance(error, ray.exceptions.AuthenticationError)  # it knows nothing of us
            if another or now - self.heard_of_head > _GONE_S:
                raise RayLost(f"the head of the cluster at {self.address} is gone ({_first_line(error)})") from error
            return
        self.heard_of_head = now
        before = self.there
        self._take(nodes)
        if not self.slots:
            raise RayLost(f"the cluster at {self.address} has no core left")
        self._tell_changes(before)

    def kill(self, number: int) -> None:
        import ray  # noqa: PLC0415

        ray.cancel(self.running[number].stream, force=True)

    def cancel(self) -> None:
        import ray  # noqa: PLC0415

        for batch in self.running.values():
            ray.cancel(batch.stream, force=True, recursive=True)
        self.running.clear()

    def close(self) -> None:
        import ray  # noqa: PLC0415

        if self.used:
            nodes = [f"{name} ({_count(one.cores, 'core')}, {_count(one.points, 'point')})" for name, one in self.used.items()]
            self.say(f"used {_count(len(nodes), 'node')}: {_some(sorted(nodes))}")
        if self.started:
            ray.shutdown()
            signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM))  # Ray took it away below Python's own record


def _next_of(stream: Any) -> Here | Chunk | Ended:
    import ray  # noqa: PLC0415

    try:
        said: Here | Chunk = ray.get(next(stream))
    except StopIteration:
        return Ended()
    except ray.exceptions.RayTaskError as error:
        cause = error.cause if isinstance(getattr(error, "cause", None), BaseException) else error
        return Ended(f"{type(cause).__name__}: {_first_line(cause)}")
    except (ray.exceptions.LocalRayletDiedError, ray.exceptions.RaySystemError) as error:
        raise RayLost(f"Ray itself ended: {type(error).__name__}") from error
    except ray.exceptions.RayError as error:
        node_lost = isinstance(error, (ray.exceptions.NodeDiedError, ray.exceptions.ObjectLostError))
        return Ended(f"{type(error).__name__}: {_first_line(error)}", node_lost)
    return said


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else "no reason given"


# ---- nodes -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Node:
    node_id: str
    host: str
    cores: int

    @property
    def name(self) -> str:
        return name_of(self.host, self.node_id)


def _nodes() -> list[_Node]:
    """Return the nodes that are there and have cores.

    Not by `ray.nodes()`: that ends this process if another head has taken the place of ours.

    Raises
    ------
    ray.exceptions.RayError
        If the head does not answer in time, or is another.
    """
    import ray  # noqa: PLC0415
    from ray._private.worker import global_worker  # noqa: PLC0415
    from ray.core.generated.gcs_pb2 import GcsNodeInfo  # noqa: PLC0415

    alive = GcsNodeInfo.GcsNodeState.ALIVE
    known = global_worker.gcs_client.get_all_node_info(timeout=_ANSWER_S, state_filter=alive).values()
    nodes = [_Node(ray.NodeID(one.node_id).hex(), one.node_manager_hostname, int(one.resources_total["CPU"])) for one in known]
    return [node for node in nodes if node.cores]


def _place(address: str | None, nodes: Sequence[_Node]) -> str:
    if address is None:
        return "this machine"
    return f"{_count(len(nodes), 'node')} at {address}: {_some(sorted(f'{node.name} ({node.cores})' for node in nodes))}"


def _some(words: Sequence[str]) -> str:
    more = len(words) - _NAMED
    return ", ".join([*words[:_NAMED], *([f"{more} more"] if more > 0 else [])])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _wait_for_worker(path: str) -> None:
    """Have one worker start before anything is computed; a cluster that grows when asked may need to do so first.

    Raises
    ------
    ConfigError
        If none starts.
    """
    import ray  # noqa: PLC0415

    try:
        ray.get(ray.remote(num_cpus=1, max_retries=0)(here).remote(""), timeout=_WORKER_S)
    except ray.exceptions.RayError as error:
        said = f"{type(error).__name__}: {_first_line(error)}"
        raise ConfigError(path, f"a worker within {_WORKER_S} s", said, "compute=inline works without Ray") from error


def _refuse_others(nodes: Sequence[_Node], wanted: str) -> None:
    """Compare every node's versions with the driver's.

    Raises
    ------
    ConfigError
        If a node has others.
    """
    import ray  # noqa: PLC0415
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415

    ask = ray.remote(num_cpus=0, max_retries=0)(here)
    asked = [
        ask.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node.node_id, soft=False)).remote(wanted) for node in nodes
    ]
    answers, _ = ray.wait(asked, num_returns=len(asked), timeout=_WORKER_S)
    for answer in answers:
        try:
            said: Here = ray.get(answer)
        except ray.exceptions.RayError:
            continue  # it went away, or its first batch will say what is wrong with it
        if said.unfit:
            mine, has = differing(wanted, said.has), differing(said.has, wanted)
            raise ConfigError(
                "compute.address", f"{mine} on every node, as the driver has", f"{has} on {said.node}", "install the same"
            )
