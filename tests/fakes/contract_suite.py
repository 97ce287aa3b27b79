"""What every game and solver must hold to: found by globbing `conf/`, run on the fakes first."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import yaml

from pipeline.checkpoints import pack, unpack
from pipeline.judges import checker
from pipeline.table_exports import exports_of, writer
from solvers.builder import Context, build, plan_of
from solvers.contract import GRADES, Checkpoint, Progress, Result, Stop
from solvers.identity import describe, lineage, lineage_rng, rebuild
from solvers.inline import Held, InlineWorkers, conforming, refusal, solve
from solvers.schema import is_effort, table_info


@dataclass(frozen=True)
class ThreadWorkers:
    """Two workers, so that order and laziness are not what inline happens to give."""

    def share(self, value: Any) -> Held[Any]:
        return Held(value)

    def map(self, fn: Callable[[Any], Any], items: Iterable[Any], ahead: int | None = None) -> Iterator[Any]:
        with ThreadPoolExecutor(2) as pool:
            yield from pool.map(fn, items)


def configured(folder: Path, group: str, trust: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return every object a config folder offers, by name, as its YAML stands."""
    found = {}
    for path in sorted((folder / group).glob("*.yaml")):
        node = yaml.safe_load(path.read_text())
        node = {key: 0 if value == "${seed}" else value for key, value in node.items()}
        found[path.stem] = build(node, group, Context(trust=trust, run_sources=True))
    return found


SMALLER = {"leduc_poker": {"suit_isomorphism": True}, "liars_dice": {"faces": 2}, "goofspiel": {"cards": 3}}
"""At which parameters the laws are tried on games whose configs are large."""


def pairs(folder: Path, trust: tuple[str, ...] = ()) -> Iterator[tuple[str, Any, Any]]:
    """Yield every game with every solver that takes it; a game by another name only once."""
    games = configured(folder, "game", trust)
    for game_name, whole in {name: game for game, name in {game: name for name, game in games.items()}.items()}.items():
        game = replace(whole, **SMALLER.get(game_name, {}))
        for solver_name, solver in configured(folder, "solver", trust).items():
            if refusal(game, solver) is None:
                yield f"{game_name}-{solver_name}", game, solver


def events(game: Any, solver: Any, *, workers: Any = InlineWorkers(), resume: Any = None, seed: int = 0) -> tuple[Any, Any]:  # noqa: B008
    """Return a solve's event generator and its random generator."""
    checkpoint, rng = resume or (None, lineage_rng(lineage(game, solver, seed)))
    form = game.form(type(solver).takes)
    return solver.solve(form, resume=checkpoint, workers=workers, rng=rng), rng


def comparable(result: Result, solver: Any) -> dict[str, pa.Table]:
    """Return a result's tables without effort columns."""
    tables = conforming(result, solver).tables
    return {name: table.select([one.name for one in table.schema if not is_effort(one)]) for name, table in tables.items()}


def finish(stream: Iterator[Any], solver: Any) -> dict[str, pa.Table]:
    """Run to the result and return its comparable tables."""
    results = [event for event in stream if isinstance(event, Result)]
    assert len(results) == 1
    return comparable(results[0], solver)


# ---- the laws ----------------------------------------------------------------------------------------------------------------


def check_values(game: Any, solver: Any) -> None:
    """Both are frozen values: they hash, pickle, and can be built again from their canonical text."""
    for one in (game, solver):
        hash(one)
        assert pickle.loads(pickle.dumps(one)) == one
        context = Context(trust=(type(one).__module__.partition(".")[0],))
        again = rebuild(json.loads(describe(one)), "it", context)
        assert again == one
        assert describe(again) == describe(one)


def check_yaml(path: Path, trust: tuple[str, ...] = ()) -> None:
    """The YAML has a first-line description and spells every field."""
    text = path.read_text()
    assert text.startswith("# "), f"{path} does not say what it is in its first line"
    node = yaml.safe_load(text)
    cls = plan_of(node["_target_"], trust).cls
    spelled = set(node) - {"_target_"}
    assert spelled == {one.name for one in fields(cls)}
    for line in text.splitlines():
        if line and not line.startswith(("#", "_target_", " ")) and "tests" not in path.parts:
            assert "#" in line, f"{path}: no comment on {line!r}"


def check_protocol(game: Any, solver: Any) -> None:
    """One result, last; steps and progress ascend; the schema is the declared one."""
    stream, _ = events(game, solver)
    said = [copy.deepcopy(event) for event in stream]
    assert [isinstance(event, Result) for event in said] == [False] * (len(said) - 1) + [True]
    steps = [event.step for event in said if isinstance(event, Checkpoint)]
    done = [event.done for event in said if isinstance(event, Progress)]
    assert steps == sorted(set(steps))
    assert done == sorted(done)
    conforming(said[-1], solver)
    if type(solver).extent is not None:
        extent = getattr(solver, type(solver).extent)
        assert steps, "a solver with an extent yields a checkpoint at its end"
        assert steps[-1] == extent


def check_determinism(game: Any, solver: Any) -> None:
    """Same tables on one worker and on two, and from `solve`."""
    alone = finish(events(game, solver)[0], solver)
    assert alone == finish(events(game, solver, workers=ThreadWorkers())[0], solver)
    assert alone == comparable(solve(game, solver), solver)


def check_resume(game: Any, solver: Any) -> int:
    """Same tables after a resume at every checkpoint; return how many there were."""
    whole = finish(events(game, solver)[0], solver)
    stream, rng = events(game, solver)
    stored = [pack(event, rng) for event in stream if isinstance(event, Checkpoint)]
    for content in stored:
        assert finish(events(game, solver, resume=unpack(content))[0], solver) == whole
    return len(stored)


def check_extent(game: Any, solver: Any) -> None:
    """A smaller extent's last checkpoint leads to the same tables as a fresh run of the larger one."""
    extent = type(solver).extent
    if extent is None:
        return
    smaller = replace(solver, **{extent: max(1, getattr(solver, extent) * 3 // 10)})
    assert lineage(game, smaller, 0) == lineage(game, solver, 0)
    stream, rng = events(game, smaller)
    content = [pack(event, rng) for event in stream if isinstance(event, Checkpoint)][-1]
    assert unpack(content)[0].step == getattr(smaller, extent)
    assert finish(events(game, solver, resume=unpack(content))[0], solver) == finish(events(game, solver)[0], solver)


def check_stop(game: Any, solver: Any) -> None:
    """Stopped at any of the first yields, a solver says what it has or passes `Stop` on, and ends."""
    for place in range(1, 6):
        stream, _ = events(game, solver)
        for _ in range(place):
            event = next(stream)
            if isinstance(event, Result):
                return
        try:
            result = stream.throw(Stop())
        except (Stop, StopIteration):
            continue
        while not isinstance(result, Result):
            result = next(stream)
        assert not result.complete
        conforming(result, solver)
        assert next(stream, None) is None
        assert judge(game, solver, result.tables) <= {"proved", "recomputed", "sampled", "unchecked"}


def judge(game: Any, solver: Any, tables: Any) -> set[str]:
    """Return the grades that the checkers of a solver's tables give, rows passed over included."""
    grades = set()
    trust = (type(solver).__module__.partition(".")[0],)
    for name, schema in type(solver).tables.items():
        check = table_info(schema).check
        if check is None:
            continue
        rows = set(range(len(tables[name])))
        for verdict in checker(check, trust)(game, tables):
            assert verdict.table in tables
            assert verdict.grade in GRADES
            grades.add(verdict.grade)
            if verdict.row is not None:
                rows -= set(range(verdict.row, verdict.row + verdict.count))
        if rows:
            grades.add("unchecked")
    return grades


def check_certificates(game: Any, solver: Any) -> None:
    """Every row reaches the grade its table claims."""
    tables = solve(game, solver).tables
    grades = judge(game, solver, tables)
    claims = [table_info(schema).claims for schema in type(solver).tables.values() if table_info(schema).claims]
    worst = max((GRADES.index(grade) for grade in grades), default=0)
    assert worst <= max((GRADES.index(claim) for claim in claims if claim), default=0)


def check_exports(game: Any, solver: Any) -> None:
    """What a table offers to write, it writes: text, of what was solved."""
    offered = {name: table_info(schema) for name, schema in type(solver).tables.items() if table_info(schema).exports}
    tables = solve(game, solver).tables if offered else {}
    for name, info in offered.items():
        assert exports_of(info) == info.exports
        for target in info.exports.values():
            assert "".join(writer(target)(tables[name]))


def check_damage(game: Any, solver: Any) -> None:
    """A changed value, an emptied cell and a missing table row are never all right, in any column that is not mere effort."""
    tables = dict(solve(game, solver).tables)
    for name, schema in type(solver).tables.items():
        if table_info(schema).check is None or not len(tables[name]):
            continue
        row = len(tables[name]) // 2
        for one in schema:
            if is_effort(one):
                continue
            old = tables[name][one.name][row].as_py()
            for new in damaged(old, one.type):
                if new == old:  # a list that is null already
                    continue
                harmed = {**tables, name: put(tables[name], row, one.name, new)}
                said = judge(game, solver, harmed)
                assert "refuted" in said, f"{name}.{one.name}[{row}]: {old!r} -> {new!r} passed as {said}"


def damaged(value: Any, kind: pa.DataType) -> list[Any]:
    """Return wrong values of a column's type."""
    if pa.types.is_integer(kind):
        return [None if value is not None else 1, 0 if value is None else value + 1]
    if pa.types.is_floating(kind):
        return [None if value is not None else 1.0, 0.25 if value is None else value + 0.125]
    if pa.types.is_list(kind):
        inner = damaged(value[0] if value else None, kind.value_type)
        return [None, [], [inner[-1], *(value or [])[1:]], [*(value or []), inner[-1]]]
    if pa.types.is_boolean(kind):
        return [None, not value]
    return [None if value is not None else "1", "1/7" if value != "1/7" else "2/7", "nonsense"]


def put(table: pa.Table, row: int, name: str, value: Any) -> pa.Table:
    """Return the table with one cell changed."""
    cells = table[name].to_pylist()
    cells[row] = value
    place = table.schema.get_field_index(name)
    return table.set_column(place, table.schema.field(name), pa.array(cells, table.schema.field(name).type))


def check_batch(game: Any, solver: Any) -> None:
    """`solve_batch` gives what `solve` gives."""
    if not hasattr(solver, "solve_batch"):
        return
    forms = [game.form(type(solver).takes)] * 3
    rngs = [lineage_rng(lineage(game, solver, seed)) for seed in range(3)]
    together = solver.solve_batch(forms, rngs)
    for seed in range(3):
        alone = solve(game, solver, seed).tables
        for name, table in together.tables.items():
            mine = table.filter(np.asarray(table["batch_index"]) == seed).drop_columns(["batch_index"])
            assert mine.to_pylist() == alone[name].to_pylist()
