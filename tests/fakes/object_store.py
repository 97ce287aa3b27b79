"""An S3 server of our own on loopback (moto's), reached through a wire that can be cut."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass

from pyarrow import fs

SERVER = """
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("%s:%d" % server.get_host_and_port(), flush=True)
input()
"""


@contextlib.contextmanager
def s3_server(**environment):
    """Start a server in a process of its own; give its address."""
    command, silent = [sys.executable, "-P", "-W", "ignore", "-c", SERVER], subprocess.DEVNULL
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": silent, "text": True}
    process = subprocess.Popen(command, env=os.environ | environment, **pipes)
    try:
        yield process.stdout.readline().strip()
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.communicate("\n")


class Wire:
    """Carries bytes between commands and a server, while it is not cut."""

    def __init__(self, address):
        host, _, port = address.partition(":")
        self.target = (host, int(port))
        self.open = set()
        self.cut = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]  # noqa: UP031
        threading.Thread(target=self._accept, daemon=True).start()

    def down(self):
        self.cut = True
        for one in list(self.open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def up(self):
        self.cut = False

    def close(self):
        self.down()
        self.listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.cut:
                near.close()
                continue
            far = socket.create_connection(self.target)
            self.open |= {near, far}
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, source, target):
        with contextlib.suppress(OSError):
            while block := source.recv(1 << 16):
                target.sendall(block)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            self.open.discard(one)
            one.close()


@dataclass
class Bucket:
    """What lies in the server, looked at past the wire."""

    address: str
    wire: Wire

    @property
    def files(self):
        return fs.S3FileSystem(
            access_key="key", secret_key="secret", endpoint_override=self.address, scheme="http", region="us-east-1"
        )

    def read(self, path):
        with self.files.open_input_stream(path) as source:
            return source.read()

    def names(self, prefix):
        found = self.files.get_file_info(fs.FileSelector(prefix, recursive=True, allow_not_found=True))
        return [one.path for one in found if one.type == fs.FileType.File]

    def manifest(self, prefix):
        try:
            return json.loads(self.read(f"{prefix}/manifest.json"))
        except FileNotFoundError:
            return None

    def points(self, prefix):
        """Return how many points the current snapshot has."""
        import pyarrow.parquet as pq

        said = self.manifest(prefix)
        stored = said and said["snapshot"]["files"].get("points.parquet")
        return pq.read_table(f"{prefix}/{stored['at']}", filesystem=self.files).num_rows if stored else 0
