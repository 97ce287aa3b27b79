"""The tables of heap games as text for other programs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

_LINES = 100_000


def bfile(table: pa.Table) -> Iterator[str]:
    """Yield `nimbers` of one game as a b-file of the OEIS: lines "n a(n)", n counting up by one from the first heap.

    Raises
    ------
    ValueError
        If a heap or a nimber is missing.

    References
    ----------
    The On-Line Encyclopedia of Integer Sequences, oeis.org/SubmitB.html.

    Examples
    --------
    >>> list(bfile(pa.table({"n": [0, 1, 2], "nimber": [0, 1, 2]})))
    ['0 0\\n1 1\\n2 2\\n']
    """
    heaps, nimbers = table["n"], table["nimber"]
    if heaps.null_count or nimbers.null_count or (np.diff(heaps.to_numpy()) != 1).any():
        raise ValueError("a b-file has a line for each n, and here heaps are missing or stand in another order")
    for start in range(0, len(table), _LINES):
        pairs = zip(heaps[start : start + _LINES].to_pylist(), nimbers[start : start + _LINES].to_pylist(), strict=True)
        yield "".join(f"{n} {nimber}\n" for n, nimber in pairs)
