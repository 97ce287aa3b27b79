"""What tests that start processes share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FAKES = Path(__file__).parent
FAKE = ["--config-dir", str(FAKES / "fake_conf"), "trust=[minimex_fakes]", "game=beads", "tracking=off"]


def environment(**more):
    """Return the environment of commands in processes of their own."""
    return {**os.environ, "PYTHONPATH": str(FAKES), "COLUMNS": "200", **more}


def start(*arguments, cwd, **options):
    """Start a command in a process of its own."""
    command = [sys.executable, "-P", "-m", "pipeline", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=cwd, env=environment(), **pipes, **options)
