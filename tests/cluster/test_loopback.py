"""A local Ray is nobody's business but ours: nothing listens beyond loopback."""

from __future__ import annotations

import ipaddress

import psutil
import pytest


@pytest.mark.usefixtures("ray")
def test_nothing_listens_beyond_loopback(fake):
    assert fake("solver=trivial", "seed=range(0,20)", "compute=ray").status == 0
    listening = []
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            listening += [one.laddr.ip for one in process.net_connections(kind="inet") if one.status == psutil.CONN_LISTEN]
        except psutil.NoSuchProcess:
            continue
    assert len(listening) > 3, "Ray's own servers"
    addresses = {ipaddress.ip_address(ip) for ip in listening}
    assert all((getattr(one, "ipv4_mapped", None) or one).is_loopback for one in addresses), addresses
