"""Triage: the same periods as the method it stands on, digests that tell sequences apart."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pytest

from solvers import solve
from solvers.errors import ConfigError
from solvers.games.octal import Octal
from solvers.impartial.check import check_sequences
from solvers.impartial.mex_dp import MexDp
from solvers.impartial.sparse_space import SparseSpace
from solvers.impartial.triage import Triage


def told(code, limit=600):
    return solve(Octal(code), Triage(limit)).tables["sequences"].to_pylist()[0]


@pytest.mark.parametrize("code", ["0.77", "0.007", "4.7", "0.0"])
def test_it_tells_what_the_plain_method_finds(code):
    found = solve(Octal(code), Triage(600)).tables
    nimbers = solve(Octal(code), MexDp(600)).tables["nimbers"]["nimber"].to_pylist()
    digest = hashlib.blake2b(b"".join(value.to_bytes(4, "little") for value in nimbers), digest_size=16).hexdigest()
    assert found["sequences"].to_pylist() == [{"code": code, "heaps_done": 600, "digest": digest, "beginning": nimbers[:32]}]
    assert found["periods"] == solve(Octal(code), SparseSpace(600, keep_nimbers=False)).tables["periods"]


def test_161_and_36_agree_to_518_and_differ_at_519():
    assert told("0.161", 518)["digest"] == told("0.36", 518)["digest"]
    assert told("0.161", 519)["digest"] != told("0.36", 519)["digest"]


def test_27_is_26():
    assert told("0.27")["digest"] == told("0.26")["digest"]


def test_few_heaps():
    assert told("0.77", 0)["beginning"] == [0]
    assert told("0.77", 3)["beginning"] == [0, 1, 2, 3]


def test_it_goes_no_further_than_its_checker():
    with pytest.raises(ConfigError, match="solver=sparse_space goes further"):
        Triage(100_001)


def test_a_right_row_is_proved_a_second_one_refuted():
    tables = dict(solve(Octal("0.07"), Triage(600)).tables)
    assert [one.grade for one in check_sequences(Octal("0.07"), tables)] == ["proved"]
    tables["sequences"] = pa.concat_tables([tables["sequences"]] * 2)
    assert next(check_sequences(Octal("0.07"), tables)).grade == "refuted"
