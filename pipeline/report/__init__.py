"""A sweep as one self-contained HTML page, and an index over a folder of sweeps.

What is shown is chosen by what the tables say about themselves (`solvers.schema.TableInfo`); no game and no method is known here.
The page needs no network, no server and, for all but the pictures, no JavaScript.
"""

from pipeline.report.index import write_index
from pipeline.report.page import write_report

__all__ = ["write_index", "write_report"]
