"""Checkpoints on disk: `checkpoints/<lineage>/<step>.npz`, the arrays and the pickled generator, nothing executable.

The generator is pickled whole (its bit generator's state alone forgets how many children were spawned) and read back by an
unpickler that knows numpy's generators and nothing else, so a foreign directory cannot run code here.
"""

from __future__ import annotations

import io
import pickle
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.events import Saved
from pipeline.store import replaced, sync_folder
from solvers.contract import Checkpoint

_RNG = "rng pickle"


_KNOWN = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.numeric", "_frombuffer"),
    ("numpy.random._pickle", "__generator_ctor"),
    ("numpy.random._pickle", "__bit_generator_ctor"),
    ("numpy.random._mt19937", "MT19937"),
    ("numpy.random._pcg64", "PCG64"),
    ("numpy.random._pcg64", "PCG64DXSM"),
    ("numpy.random._philox", "Philox"),
    ("numpy.random._sfc64", "SFC64"),
    ("numpy.random.bit_generator", "SeedSequence"),
    ("numpy.random.bit_generator", "__pyx_unpickle_SeedSequence"),
}
"""All that numpy's generators are made of, each by its full name: a pickle's names may have dots, and what numpy's modules import
reaches far (`numpy.random.mtrand`, `np.os.system`)."""


class _GeneratorUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"a checkpoint may not hold a {module}.{name}")
        return super().find_class(module, name)


def pack(checkpoint: Checkpoint, rng: np.random.Generator) -> bytes:
    """Return the content of a checkpoint file: copies of the arrays and the generator as they are now."""
    content = io.BytesIO()
    generator = np.frombuffer(pickle.dumps(rng), dtype=np.uint8)
    arrays = {f"a:{name}": np.asarray(array) for name, array in checkpoint.arrays.items()}
    everything: dict[str, Any] = {_RNG: generator, "step": np.int64(checkpoint.step), **arrays}
    np.savez(content, allow_pickle=False, **everything)
    return content.getvalue()


def unpack(content: bytes) -> tuple[Checkpoint, np.random.Generator]:
    """Read what `pack` wrote.

    Raises
    ------
    ValueError
        If the content is damaged.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {name[2:]: stored[name] for name in stored.files if name.startswith("a:")}
            rng = _GeneratorUnpickler(io.BytesIO(stored[_RNG].tobytes())).load()
            step = int(stored["step"])
    except (KeyError, OSError, EOFError, pickle.UnpicklingError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"damaged checkpoint: {error}") from error
    if not isinstance(rng, np.random.Generator):
        raise ValueError("damaged checkpoint: no generator in it")  # noqa: TRY004
    return Checkpoint(step, arrays), rng


class CheckpointStore:
    """The checkpoints of a sweep, and those of its siblings to go on from."""

    def __init__(self, root: Path, siblings: Iterable[Path] = ()) -> None:
        self.folder = root / "checkpoints"
        self.known: dict[str, dict[int, Path]] = {}
        for folder in [*(sibling / "checkpoints" for sibling in siblings), self.folder]:
            for path in folder.glob("*/*.npz"):
                if path.stem.isdigit():
                    self.known.setdefault(path.parent.name, {})[int(path.stem)] = path

    def longest(self, lineage: str, at_most: int | None) -> bytes | None:
        """Return the content of the longest checkpoint of a lineage that does not reach beyond `at_most`; None if there is none.

        A damaged one is passed over.
        """
        for step, path in sorted(self.known.get(lineage, {}).items(), reverse=True):
            if at_most is not None and step > at_most:
                continue
            try:
                content = path.read_bytes()
                unpack(content)
            except (OSError, ValueError):
                continue
            return content
        return None

    def save(self, saved: Saved) -> None:
        """Store a checkpoint, durable when this returns; shorter ones of its lineage in this sweep are dropped."""
        folder = self.folder / saved.lineage
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{saved.step}.npz"
        with replaced(path) as file:
            file.write(saved.content)
        sync_folder(folder)
        own = self.known.setdefault(saved.lineage, {})
        own[saved.step] = path
        for step in [step for step, other in own.items() if step < saved.step and other.parent == folder]:
            own.pop(step).unlink(missing_ok=True)

    def drop(self, lineage: str) -> None:
        """Forget a lineage's checkpoints in this sweep: nothing can go on from them."""
        for step, path in list(self.known.get(lineage, {}).items()):
            if path.parent.parent == self.folder:
                path.unlink(missing_ok=True)
                self.known[lineage].pop(step)
